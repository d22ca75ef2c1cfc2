// Engines of the tasks that providers perform through APIs of their own.

import { GatewayError } from "../../errors.ts";
import type { Charge } from "../../lib/charge.ts";
import type { Log } from "../../log.ts";
import type { Provider } from "../../providers/configure.ts";
import type { Deployment } from "../../providers/deployment.ts";
import { type FileLimits, type ProviderTask, refuseInput, type TaskCall } from "../../providers/task.ts";
import { type CollectionResult, type Engine, notSetUp, type TaskResult } from "../engine.ts";
import { mapValues } from "../local/map-values.ts";
import { abandonStep, readCheckpoint, runStep, runToEnd, type TaskRun } from "./run-task.ts";
import type { SendOptions } from "./send-request.ts";

export interface VendorOptions extends Omit<SendOptions, "provider" | "deployment" | "task" | "hasStarted"> {
  readonly providers: Iterable<Provider>;
  readonly log: Log;
  /** The cost of tokens of a provider's model. Absent: tasks are charged by units. */
  readonly priceTokens?: (provider: Provider, model: string, usage: unknown) => Charge;
}

export function createVendorEngines(options: VendorOptions): readonly Engine[] {
  return [...options.providers].flatMap((provider) => createEngines(provider, options));
}

function createEngines(provider: Provider, options: VendorOptions): Engine[] {
  const { row, name } = provider;
  const deployments = createDeploymentTurns(provider);
  return (row.tasks ?? []).map((task) => {
    // Read for each call: the credentials of a provider may change while the gateway runs.
    const readTaskSettings = () => {
      const { settings, missing } = readSettings(provider, task);
      return { settings, missing: provider.missingTaskSetting ?? missing };
    };
    const toRun = (call: TaskCall, deployment: Deployment | undefined, performed = task): TaskRun => {
      const { settings, missing } = readTaskSettings();
      if (missing !== null)
        throw notConfigured(`The provider '${name}' is not set up: set ${missing}, or declare it in switchyard.yaml.`);
      if (deployment === undefined) throw notConfigured(`No deployment of the provider '${name}' serves this model.`);
      const state = { lastRequest: null, hasStarted: false };
      return { ...options, provider, deployment, task: performed, call: { ...call, settings }, ...state };
    };
    const start = (call: TaskCall, performed = task): TaskRun => {
      const run = toRun(call, findNamed(provider, call) ?? deployments(call.model)[0], performed);
      refuseFiles(call, task.files);
      return run;
    };
    return {
      provider: name,
      aliases: row.aliases ?? [],
      task: task.task,
      toModelName: provider.dialect?.toModelName,
      models: task.models ?? [],
      acceptsAnyModel: task.acceptsAnyModel ?? false,
      ...chooseDefault(provider, task),
      get unavailableReason() {
        const { missing } = readTaskSettings();
        return missing === null ? null : notSetUp(name, missing);
      },
      unsupportedMembers: task.unsupported ?? [],
      unsupportedFor: (input) => task.unsupportedFor?.(input) ?? [],
      ...(task.isIdempotent && { isIdempotent: true }),
      deployments,
      ...(task.tokenModel !== undefined && { tokenModel: task.tokenModel }),
      run: async (call) => withCharge(await runToEnd(start(call)), { provider, task, call, options }),
      ...(task.collections !== undefined && {
        collections: mapValues(task.collections, (operation) => async (call: TaskCall) => {
          const { task: name, docs, service } = task;
          const performed: ProviderTask = { task: name, docs, ...(service && { service }), ...operation };
          // Its output is not that of the task, but what the operation returns.
          return (await runToEnd(start(call, performed))) as CollectionResult;
        }),
      }),
      ...(task.next !== undefined && {
        runStep: async (call, stored) => {
          const checkpoint = stored === null ? null : readCheckpoint(stored);
          const run = checkpoint === null ? start(call) : toRun(call, findDeployment(provider, checkpoint.deployment));
          return await runStep(run, checkpoint);
        },
      }),
      ...(task.next !== undefined &&
        task.cleanUpRequests !== undefined && {
          abandonStep: async (call, stored) => {
            const checkpoint = readCheckpoint(stored);
            await abandonStep(toRun(call, findDeployment(provider, checkpoint.deployment)), checkpoint);
          },
        }),
    } satisfies Engine;
  });
}

/** The operator's choice, if it is a model of this task and not one of the chat models that may perform the task as well. */
function chooseDefault({ row, defaultModels }: Provider, task: ProviderTask) {
  const { models = [], acceptsAnyModel = false, defaultModel, defaultModelFor } = task;
  const declared = defaultModels[task.task];
  const isChatModel = row.chat?.models?.some(({ id }) => id === declared) ?? false;
  if (declared !== undefined && (models.includes(declared) || (acceptsAnyModel && !isChatModel)))
    return { defaultModel: declared };
  return {
    ...(defaultModel && { defaultModel }),
    ...(defaultModelFor && { defaultModelFor: (input: TaskCall["input"]) => defaultModelFor(input) }),
  };
}

interface Performed {
  readonly provider: Provider;
  readonly task: ProviderTask;
  readonly call: TaskCall;
  readonly options: VendorOptions;
}

/** Adds the cost of the tokens, where the provider bills those. */
function withCharge(result: TaskResult, { provider, task, call, options }: Performed): TaskResult {
  if (task.tokenModel === undefined || result.usage === undefined || options.priceTokens === undefined) return result;
  return { ...result, charge: options.priceTokens(provider, call.model ?? task.tokenModel, result.usage) };
}

/** The deployment that the call names, if it names one. */
export function findNamed({ taskDeployments }: Provider, { deployment }: TaskCall): Deployment | undefined {
  return deployment === undefined ? undefined : taskDeployments.find(({ name }) => name === deployment);
}

/** Lists the deployments that serve a model, in round-robin order. */
export function createDeploymentTurns(provider: Provider): (model: string | null) => readonly Deployment[] {
  let turn = 0;
  return (model) => {
    const serves = ({ models }: Deployment) => models === null || model === null || models.has(model);
    const serving = provider.taskDeployments.filter(serves);
    const first = turn++ % Math.max(1, serving.length);
    return [...serving.slice(first), ...serving.slice(0, first)];
  };
}

/** The settings that one task requires beyond those that all tasks of the provider require, and the first that is not set. */
function readSettings({ readSetting }: Provider, { requiredSettings = {} }: ProviderTask) {
  const values = Object.entries(requiredSettings).map(
    ([name, setting]) => [name, setting, readSetting(setting)] as const,
  );
  return {
    settings: Object.fromEntries(values.flatMap(([name, , value]) => (value === null ? [] : [[name, value]]))),
    missing: values.find(([, , value]) => value === null)?.[1] ?? null,
  };
}

/** The deployment that started the work. The key of a single deployment may have been replaced since, which changes its id. */
function findDeployment({ name, taskDeployments }: Provider, id: string): Deployment {
  const [first, ...others] = taskDeployments;
  const found = taskDeployments.find((one) => one.id === id) ?? (others.length === 0 ? first : undefined);
  if (found !== undefined) return found;
  throw notConfigured(`The deployment of the provider '${name}' that performs this task is no longer configured.`);
}

function refuseFiles({ files }: TaskCall, { maxBytes = Number.POSITIVE_INFINITY, mediaTypes }: FileLimits = {}): void {
  for (const [member, { mediaType, size }] of Object.entries(files)) {
    const isAccepted = (type: string) => type === mediaType || (type.endsWith("/") && mediaType.startsWith(type));
    if (mediaTypes !== undefined && !mediaTypes.some(isAccepted)) {
      const message = `This provider takes ${mediaTypes.join(", ")}, and this is ${mediaType}`;
      refuseInput(member, message, "unsupported_media_type");
    }
    if (size > maxBytes)
      refuseInput(member, `This provider takes files of at most ${maxBytes} bytes`, "file_too_large");
  }
}

function notConfigured(why: string): GatewayError {
  return new GatewayError("provider_not_configured", why);
}
