// One task, now: the engine is found, the input checked, its files fetched, the engine run, its output checked.

import { type Caller, ownerOf } from "../../access/caller.ts";
import { fitsPattern } from "../../catalogue/model-name.ts";
import { findTask, type Task, tasks } from "../../contract/tasks.ts";
import type { UniversalAiRequest } from "../../contract/universal-ai.ts";
import type { BinaryResult, Engine, EngineFile } from "../../engines/engine.ts";
import { type ErrorCode, GatewayError, throwProblems } from "../../errors.ts";
import { suggest } from "../../lib/find-nearest.ts";
import { CallerLeft, type Connection } from "../../providers/call.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { fallbackCodes } from "../candidate-loop.ts";
import type { AliasTarget } from "../offers.ts";
import type { AttemptReport } from "../report.ts";
import type { AttemptNote, Trace } from "../trace.ts";
import { refuseUnavailable, runOffer, type TaskOffer } from "./run-offer.ts";
import { createTaskAliases, type TaskAliases } from "./task-aliases.ts";
import { checkFiles, type FileFetching, readFiles, type TaskFilesOptions } from "./task-files.ts";
import { findFiles, TaskInputs } from "./task-input.ts";

export interface TaskInput {
  readonly request: UniversalAiRequest;
  readonly caller: Caller;
  readonly connection: Connection;
  readonly requestId: string;
  readonly trace: Trace;
  readonly wantsMetadata: boolean;
  /** Where the gateway is reached, for addresses of binary results. */
  readonly baseUrl: string;
  /** Files that came with the request itself, by the member of the input that would name them. Absent: the input names them. */
  readonly files?: Readonly<Record<string, EngineFile>>;
  /** Takes a binary result that needs no address; what it returns stands in the address's place. */
  readonly takeBinary?: (result: BinaryResult) => string;
  /** Whoever asks waits, also for a task that is otherwise a job. */
  readonly runsJobs?: true;
}

export interface UniversalAi {
  /** Throws unless the request can be run: everything that can be told without running it. */
  check(request: UniversalAiRequest, caller: Caller, mode: "now" | "job"): Plan;
  run(input: TaskInput): Promise<JsonObject>;
  /** Throws a ValidationError for files that cannot be had, as far as that can be told without fetching them. */
  checkFiles(plan: Plan, owner: string): Promise<void>;
  /** The files that the input names. Throws a ValidationError for those that cannot be had. */
  openFiles(plan: Plan, fetching: FileFetching): Promise<Record<string, EngineFile>>;
  readonly engines: readonly Engine[];
  /** For names that are resolved before anything is asked for by them. */
  readonly aliases: TaskAliases;
}

/** What was asked for, as far as it can be told from the request alone. */
export interface Plan {
  readonly task: Task;
  readonly input: JsonObject;
  readonly offers: readonly TaskOffer[];
}

export interface UniversalAiDependencies {
  readonly engines: readonly Engine[];
  /** Names of the operator's, and what they stand for. */
  readonly aliases?: ReadonlyMap<string, readonly AliasTarget[]>;
  readonly files: TaskFilesOptions;
  /** A signed address at which the bytes can be had for a while. */
  readonly publish: (result: BinaryResult, owner: string, baseUrl: string) => Promise<string>;
  readonly totalTimeoutMs: number;
  readonly shutdownSignal: AbortSignal;
  readonly report: (attempt: AttemptReport) => void;
}

const sandboxName = "sandbox";

/** After these failures another engine may do better: also when this one is not set up. */
export const engineFallbackCodes: ReadonlySet<ErrorCode> = new Set([...fallbackCodes, "provider_not_configured"]);

export function createUniversalAi(dependencies: UniversalAiDependencies): UniversalAi {
  const { engines, publish, totalTimeoutMs, shutdownSignal, report } = dependencies;
  const byName = groupByName(engines);
  const inputs = new TaskInputs();

  function check(request: UniversalAiRequest, caller: Caller, mode: "now" | "job"): Plan {
    const names = [request.model, ...(request.fallbacks ?? [])];
    const task = findTaskOf(request.model);
    if (mode === "now" && task.mode === "async")
      throw new GatewayError(
        "async_only",
        `'${request.model}' runs as a job: send it to POST /v3/universal-ai/async.`,
        {
          param: "model",
        },
      );
    refuseFallbacks(task, request.fallbacks ?? []);
    const input = inputs.check(task, request.input);
    for (const name of names) refuseForbidden(name, caller);
    const offers = caller.kind === "sandbox" ? [sandboxOffer(task)] : names.map((name) => findOffer(name, task));
    const [first] = offers;
    // Told at once, before anything is fetched or kept for it.
    if (first !== undefined && offers.every(({ engine }) => engine.unavailableReason !== null))
      refuseUnavailable(first.engine);
    return { task, input, offers };
  }

  function findOffer(name: string, { feature, subfeature }: Task): TaskOffer {
    const [, , provider = "", ...rest] = name.split("/");
    const task = `${feature}/${subfeature}`;
    const serving = byName.get(`${task}/${provider}`);
    if (serving === undefined) {
      const names = engines.filter((engine) => engine.task === task).map((engine) => engine.provider);
      const nearest = suggest(provider, names) || ".";
      throw new GatewayError(
        "provider_not_found",
        `No provider '${provider}' serves ${task} here${nearest} GET /v3/info/${task} lists the providers that do.`,
        { param: "model" },
      );
    }
    const model = rest.length === 0 ? null : rest.join("/");
    const engine = chooseEngine(serving, model);
    if (engine === undefined) {
      const known = serving.flatMap(({ models }) => models);
      const hint = known.length === 0 ? "; name the provider alone" : suggest(model ?? "", known);
      throw new GatewayError("model_not_found", `'${provider}' has no model '${model}' for ${task}${hint}`, {
        param: "model",
      });
    }
    return { engine, model: model ?? engine.defaultModel ?? null };
  }

  function sandboxOffer({ feature, subfeature }: Task): TaskOffer {
    const [engine] = byName.get(`${feature}/${subfeature}/${sandboxName}`) ?? [];
    if (engine === undefined) throw new GatewayError("provider_not_found", "The sandbox does not serve this task.");
    return { engine, model: null };
  }

  async function run(input: TaskInput): Promise<JsonObject> {
    const { request, caller, trace, connection } = input;
    const plan = check(request, caller, input.runsJobs === true ? "job" : "now");
    trace.routedAt = performance.now();
    const deadline = trace.startedAt + totalTimeoutMs;
    const limits = startLimits(connection, shutdownSignal, deadline);
    try {
      const fetching = {
        owner: ownerOf(caller),
        signal: limits.signal,
        timeoutMs: Math.max(1, deadline - performance.now()),
      };
      const files = input.files ?? (await openFiles(plan, fetching));
      return await tryOffers(input, plan, {
        dropped: trace.dropped,
        files,
        signal: limits.signal,
        deadline,
        endedBy: limits.failure,
      });
    } catch (error) {
      throw limits.failure() ?? error;
    } finally {
      limits.clear();
    }
  }

  async function openFiles({ task, input, offers }: Plan, fetching: FileFetching): Promise<Record<string, EngineFile>> {
    if (producesFiles(task)) await dependencies.files.refuseFull?.(fetching.owner);
    const fetchesAddresses = offers.some(({ engine }) => engine.ignoresFiles !== true);
    return await readFiles(task, findFiles(task, input), dependencies.files, { ...fetching, fetchesAddresses });
  }

  function checkFilesOf({ task, input }: Plan, owner: string): Promise<void> {
    return checkFiles(findFiles(task, input), dependencies.files, owner);
  }

  interface Running {
    /** Parameters that were dropped before the task was planned. */
    readonly dropped: readonly string[];
    readonly files: Readonly<Record<string, EngineFile>>;
    readonly signal: AbortSignal;
    readonly deadline: number;
    /** Why the run was ended early, or null. */
    readonly endedBy: () => Error | null;
  }

  async function tryOffers(input: TaskInput, plan: Plan, running: Running): Promise<JsonObject> {
    let failure: GatewayError | null = null;
    for (const offer of plan.offers) {
      try {
        return await runEngine(input, plan, offer, running);
      } catch (error) {
        if (running.signal.aborted || !(error instanceof GatewayError && engineFallbackCodes.has(error.code)))
          throw error;
        failure = offer.engine.isRepeatable ? error : withoutRetry(error);
      }
    }
    throw failure ?? new GatewayError("provider_not_found", "Nobody serves this task.");
  }

  async function runEngine(input: TaskInput, plan: Plan, offer: TaskOffer, running: Running): Promise<JsonObject> {
    const { request, trace, requestId, caller } = input;
    const { task } = plan;
    refuseUnavailable(offer.engine);
    trace.dropped = [...running.dropped, ...findUnused(request.input, offer.engine)];
    const startedAt = performance.now();
    trace.sentAt = startedAt;
    const note: AttemptNote = {
      provider: offer.engine.provider,
      model: offer.model ?? offer.engine.task,
      deployment: offer.engine.provider,
      reason: offer === plan.offers[0] ? "first" : "fallback",
      startedAt,
      failure: null,
      endedAt: null,
    };
    trace.attempts.push(note);
    let hasSent = false;
    // The note of the task stands for the first send; each further one is an attempt of its own.
    const noteAttempt = (attempt: AttemptNote) => {
      if (hasSent) trace.attempts.push(attempt);
      hasSent = true;
    };
    const done = await runOffer({
      task,
      offer,
      call: {
        input: plan.input,
        files: running.files,
        providerParams: request.provider_params ?? {},
        signal: running.signal,
        deadline: running.deadline,
        requestId,
        owner: ownerOf(caller),
        noteAttempt,
      },
      keyId: caller.keyId,
      publish: async (binary) => input.takeBinary?.(binary) ?? (await publish(binary, ownerOf(caller), input.baseUrl)),
      report(attempt) {
        note.endedAt = performance.now();
        note.failure = attempt.outcome === "completed" ? null : attempt.outcome;
        report({ ...attempt, path: trace.path });
      },
      endedBy: running.endedBy,
    });
    trace.firstByteAt = startedAt + done.milliseconds;
    return {
      status: "success",
      cost: done.cost,
      ...(done.costReason === null ? {} : { cost_reason: done.costReason }),
      provider: done.provider,
      model: done.model,
      feature: task.feature,
      subfeature: task.subfeature,
      output: done.output,
      provider_time: Math.round(done.milliseconds) / 1_000,
      ...(request.show_original_response === true ? { original_response: done.original } : {}),
      ...(input.wantsMetadata ? { switchyard: trace.toMetadata(requestId) } : {}),
    };
  }

  const aliases = createTaskAliases(dependencies.aliases ?? new Map());
  return { check, run, checkFiles: checkFilesOf, openFiles, engines, aliases };
}

/** What the caller gave and the provider has no parameter for; null and an empty text ask for nothing. */
function findUnused(input: JsonObject, { unusedMembers = [] }: Engine): string[] {
  const given = unusedMembers.filter((name) => ![undefined, null, ""].includes(input[name] as never));
  return given.map((name) => `input.${name}`);
}

const fileTasks = new WeakMap<Task, boolean>();

/** Whether results of the task are stored as files, at addresses. */
function producesFiles(task: Task): boolean {
  const known = fileTasks.get(task);
  if (known !== undefined) return known;
  const found = JSON.stringify(task.outputSchema).includes("_resource_url");
  fileTasks.set(task, found);
  return found;
}

/** A client's automatic retry would do, and pay for, a task twice that a provider may have executed. */
function withoutRetry(error: GatewayError): GatewayError {
  const { code, message, details } = error;
  if (!details.mayHaveExecuted) return error;
  return new GatewayError(code, message, { ...details, shouldRetry: false, cause: error.cause });
}

/** By `<task>/<provider>`. Behind a name's own engines come those of providers that have it as another name. */
function groupByName(engines: readonly Engine[]): ReadonlyMap<string, readonly Engine[]> {
  const byName = Map.groupBy(engines, ({ task, provider }) => `${task}/${provider}`);
  for (const engine of engines)
    for (const name of engine.alsoNamed ?? []) {
      const key = `${engine.task}/${name}`;
      byName.set(key, [...(byName.get(key) ?? []), engine]);
    }
  return byName;
}

/** A provider may do a task in two ways, its own and by one of its chat models: the model's name decides, else the first. */
function chooseEngine(serving: readonly Engine[], model: string | null): Engine | undefined {
  if (model === null) return serving.find(({ unavailableReason }) => unavailableReason === null) ?? serving[0];
  return (
    serving.find(({ models }) => models.includes(model)) ?? serving.find(({ takesOtherModels }) => takesOtherModels)
  );
}

function findTaskOf(name: string): Task {
  const [feature = "", subfeature = ""] = name.split("/");
  const features = tasks.map((task) => task.feature);
  if (!features.includes(feature))
    throw new GatewayError(
      "feature_not_found",
      `There is no feature '${feature}'${suggest(feature, features) || "."} GET /v3/info lists the features.`,
      { param: "model" },
    );
  const task = findTask(feature, subfeature);
  if (task !== undefined) return task;
  const known = tasks.filter((one) => one.feature === feature).map((one) => one.subfeature);
  throw new GatewayError(
    "subfeature_not_found",
    `'${feature}' has no subfeature '${subfeature}'${suggest(subfeature, known) || "."} GET /v3/info/${feature}?include=unconfigured lists the subfeatures.`,
    { param: "model" },
  );
}

function refuseFallbacks({ feature, subfeature, allowsFallbacks }: Task, fallbacks: readonly string[]): void {
  if (fallbacks.length === 0) return;
  const problems = fallbacks.flatMap((name, index) =>
    name.startsWith(`${feature}/${subfeature}/`)
      ? []
      : [
          {
            loc: ["body", "fallbacks", index],
            msg: `Input should be a model of ${feature}/${subfeature}`,
            type: "value_error",
          },
        ],
  );
  if (!allowsFallbacks)
    problems.push({ loc: ["body", "fallbacks"] as never, msg: "This task allows no fallbacks", type: "value_error" });
  throwProblems(problems);
}

function refuseForbidden(name: string, caller: Caller): void {
  if (caller.allowedModels === null || fitsPattern(name, caller.allowedModels)) return;
  throw new GatewayError("model_not_allowed", `This key may not use the model '${name}'.`, { param: "model" });
}

/** One signal for everything that ends a run early, and which of them it was. */
function startLimits(connection: Connection, shutdownSignal: AbortSignal, deadline: number) {
  const controller = new AbortController();
  let why: "left" | "time" | "ending" | null = null;
  const end = (reason: typeof why) => () => {
    why ??= reason;
    controller.abort();
  };
  const [left, time, down] = [end("left"), end("time"), end("ending")];
  const timer = setTimeout(time, Math.max(0, deadline - performance.now()));
  connection.signal.addEventListener("abort", left, { once: true });
  shutdownSignal.addEventListener("abort", down, { once: true });
  if (connection.signal.aborted) left();
  return {
    signal: controller.signal,
    failure(): Error | null {
      if (why === "left") return new CallerLeft();
      if (why === "time") return new GatewayError("provider_timeout", "The task did not finish in time.");
      return why === "ending" ? new GatewayError("draining", "The gateway went down before the task was done.") : null;
    },
    clear() {
      clearTimeout(timer);
      connection.signal.removeEventListener("abort", left);
      shutdownSignal.removeEventListener("abort", down);
    },
  };
}
