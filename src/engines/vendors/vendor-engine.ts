// Engines of the tasks that vendors perform through APIs of their own.

import type { Egress } from "../../egress/egress.ts";
import { GatewayError } from "../../errors.ts";
import type { Ticker } from "../../lib/ticker.ts";
import type { Log } from "../../log.ts";
import type { Clocks } from "../../providers/call.ts";
import type { Provider } from "../../providers/configure.ts";
import type { Deployment } from "../../providers/deployment.ts";
import type { HttpClient } from "../../providers/http-client.ts";
import { type FileLimits, type ProviderTask, refuseInput, type TaskCall } from "../../providers/task.ts";
import type { Engine } from "../engine.ts";
import { deploymentOfKept, type Running, runAtOnce, runInSteps } from "./run-task.ts";

export interface VendorOptions {
  readonly providers: Iterable<Provider>;
  readonly http: HttpClient;
  /** For results that a vendor stores elsewhere. */
  readonly egress?: Egress;
  readonly ticker: Ticker;
  readonly clocks: Clocks;
  /** Fires when the gateway shuts down and can wait no longer. */
  readonly shutdownSignal: AbortSignal;
  readonly log: Log;
}

export function createVendorEngines(options: VendorOptions): readonly Engine[] {
  return [...options.providers].flatMap((provider) => createEngines(provider, options));
}

function createEngines(provider: Provider, options: VendorOptions): Engine[] {
  const { row, name, missingTaskSetting } = provider;
  const deployments = createDeploymentTurns(provider);
  const chooseDeployment = (call: TaskCall): Deployment => {
    const chosen = findNamed(provider, call) ?? deployments(call.model)[0];
    if (chosen === undefined) throw notConfigured(name, missingTaskSetting);
    return chosen;
  };
  return (row.tasks ?? []).map((task) => {
    const needs = readNeeds(provider, task);
    const missing = missingTaskSetting ?? needs.missing;
    const toRunning = (plain: TaskCall, deployment: Deployment): Running => {
      if (missing !== null) throw notConfigured(name, missing);
      return { ...options, provider, deployment, task, call: { ...plain, settings: needs.values } };
    };
    return {
      provider: name,
      aliases: row.aliases ?? [],
      task: task.task,
      models: task.models ?? [],
      acceptsAnyModel: task.acceptsAnyModel ?? false,
      unavailableReason: missing === null ? null : `The provider '${name}' is not set up: set ${missing}.`,
      ...(task.unsupported !== undefined && { unsupportedMembers: task.unsupported }),
      ...(task.unsupportedFor !== undefined && { unsupportedFor: task.unsupportedFor }),
      ...(task.isIdempotent && { isIdempotent: true }),
      deployments,
      async run(call) {
        const running = toRunning(call, chooseDeployment(call));
        checkFiles(call, task.files);
        return runAtOnce(running);
      },
      ...(task.next !== undefined && {
        async runStep(call, kept) {
          const deployment = kept === null ? chooseDeployment(call) : findDeployment(provider, deploymentOfKept(kept));
          const running = toRunning(call, deployment);
          if (kept === null) checkFiles(call, task.files);
          return runInSteps(running, kept);
        },
      }),
    } satisfies Engine;
  });
}

/** The deployment that the call names, if it names one. */
export function findNamed({ taskDeployments }: Provider, { deployment }: TaskCall): Deployment | undefined {
  return deployment === undefined ? undefined : taskDeployments.find(({ name }) => name === deployment);
}

/** The deployments that serve a model. Each call begins with the one after that of the call before. */
export function createDeploymentTurns({ taskDeployments }: Provider): (model: string | null) => readonly Deployment[] {
  let turn = 0;
  return (model) => {
    const serving = taskDeployments.filter(({ models }) => models === null || model === null || models.has(model));
    const first = turn++ % Math.max(1, serving.length);
    return [...serving.slice(first), ...serving.slice(0, first)];
  };
}

interface Needs {
  readonly values: Readonly<Record<string, string>>;
  /** The first setting that is not set, or null. */
  readonly missing: string | null;
}

/** The settings that one task needs beyond those that all tasks of the vendor need. */
function readNeeds({ readSetting }: Provider, { requiredSettings = {} }: ProviderTask): Needs {
  const values: Record<string, string> = {};
  let missing: string | null = null;
  for (const [name, setting] of Object.entries(requiredSettings)) {
    const value = readSetting(setting);
    if (value === null) missing ??= setting;
    else values[name] = value;
  }
  return { values, missing };
}

/** The deployment that began the work. A vendor with one deployment may have been given another key since. */
function findDeployment({ name, taskDeployments }: Provider, id: string): Deployment {
  const [first, ...others] = taskDeployments;
  const found = taskDeployments.find((one) => one.id === id) ?? (others.length === 0 ? first : undefined);
  if (found !== undefined) return found;
  const why = `The deployment of the provider '${name}' that performs this task is no longer configured.`;
  throw new GatewayError("provider_not_configured", why);
}

function checkFiles({ files }: TaskCall, limits: FileLimits | undefined): void {
  if (limits === undefined) return;
  const { maxBytes = Number.POSITIVE_INFINITY, mediaTypes } = limits;
  for (const [member, { mediaType, size }] of Object.entries(files)) {
    if (
      mediaTypes !== undefined &&
      !mediaTypes.some((one) => one === mediaType || (one.endsWith("/") && mediaType.startsWith(one)))
    )
      refuseInput(
        member,
        `This provider takes ${mediaTypes.join(", ")}, and this is ${mediaType}`,
        "unsupported_media_type",
      );
    if (size > maxBytes)
      refuseInput(member, `This provider takes files of at most ${maxBytes} bytes`, "file_too_large");
  }
}

function notConfigured(name: string, setting: string | null): GatewayError {
  const why =
    setting === null
      ? `No deployment of the provider '${name}' serves this model.`
      : `The provider '${name}' is not set up: set ${setting}, or declare it in switchyard.yaml.`;
  return new GatewayError("provider_not_configured", why);
}
