// One task, now: the engine is found, the input checked, its files fetched, the engine run, its output checked.

import type { Caller } from "../../access/caller.ts";
import { fitsPattern } from "../../catalogue/model-name.ts";
import { findTask, type Task, tasks } from "../../contract/tasks.ts";
import type { UniversalAiRequest } from "../../contract/universal-ai.ts";
import type { BinaryResult, Engine, EngineAnswer, EngineFile } from "../../engines/engine.ts";
import { type ErrorCode, GatewayError, ValidationError } from "../../errors.ts";
import { type Json, SchemaDocument } from "../../lib/json-schema/schema.ts";
import { fitsSchema } from "../../lib/json-schema/schema-check.ts";
import { CallerLeft, type Connection } from "../../providers/call.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { fallbackCodes } from "../attempts.ts";
import type { AttemptReport } from "../report.ts";
import { ownerOf } from "../responses/response-call.ts";
import type { Trace } from "../trace.ts";
import { readFiles, type TaskFilesOptions } from "./task-files.ts";
import { findFiles, TaskInputs } from "./task-input.ts";
import { chargeForTask } from "./unit-price.ts";

export interface TaskInput {
  readonly request: UniversalAiRequest;
  readonly caller: Caller;
  readonly connection: Connection;
  readonly requestId: string;
  readonly trace: Trace;
  readonly wantsMetadata: boolean;
  /** Where the gateway is reached, for addresses of binary results. */
  readonly baseUrl: string;
}

export interface UniversalAi {
  /** Throws unless the request can be run: everything that can be told without running it. */
  check(request: UniversalAiRequest, caller: Caller, mode: "now" | "job"): Plan;
  run(input: TaskInput): Promise<JsonObject>;
  readonly engines: readonly Engine[];
}

/** What was asked for, as far as it can be told from the request alone. */
export interface Plan {
  readonly task: Task;
  readonly input: JsonObject;
  readonly offers: readonly TaskOffer[];
}

export interface TaskOffer {
  readonly engine: Engine;
  readonly model: string | null;
}

export interface UniversalAiDependencies {
  readonly engines: readonly Engine[];
  readonly files: TaskFilesOptions;
  /** A signed address at which the bytes can be had for a while. */
  readonly publish: (result: BinaryResult, owner: string, baseUrl: string) => Promise<string>;
  readonly totalTimeoutMs: number;
  readonly ending: AbortSignal;
  readonly report: (attempt: AttemptReport) => void;
}

const sandboxName = "sandbox";

/** After these failures another engine may do better: also when this one is not set up, or has too much to do. */
const engineFallbackCodes: ReadonlySet<ErrorCode> = new Set([
  ...fallbackCodes,
  "overloaded",
  "provider_not_configured",
]);

export function createUniversalAi(dependencies: UniversalAiDependencies): UniversalAi {
  const { engines, publish, totalTimeoutMs, ending, report } = dependencies;
  const byName = Map.groupBy(engines, (engine) => `${engine.task}/${engine.provider}`);
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
    return { task, input, offers };
  }

  function findOffer(name: string, { feature, subfeature }: Task): TaskOffer {
    const [, , provider = "", ...rest] = name.split("/");
    const serving = byName.get(`${feature}/${subfeature}/${provider}`);
    if (serving === undefined)
      throw new GatewayError(
        "provider_not_found",
        `No provider '${provider}' serves ${feature}/${subfeature} here. GET /v3/info/${feature}/${subfeature} lists those that do.`,
        { param: "model" },
      );
    const model = rest.length === 0 ? null : rest.join("/");
    const engine = chooseEngine(serving, model);
    if (engine === undefined)
      throw new GatewayError("model_not_found", `'${provider}' has no model '${model}' for ${feature}/${subfeature}.`, {
        param: "model",
      });
    return { engine, model };
  }

  function sandboxOffer({ feature, subfeature }: Task): TaskOffer {
    const [engine] = byName.get(`${feature}/${subfeature}/${sandboxName}`) ?? [];
    if (engine === undefined) throw new GatewayError("provider_not_found", "The sandbox does not serve this task.");
    return { engine, model: null };
  }

  async function run(input: TaskInput): Promise<JsonObject> {
    const { request, caller, trace, connection } = input;
    const plan = check(request, caller, "now");
    trace.routedAt = performance.now();
    const deadline = trace.startedAt + totalTimeoutMs;
    const limits = startLimits(connection, ending, deadline);
    try {
      const files = await readFiles(plan.task, findFiles(plan.task, plan.input), dependencies.files, {
        owner: ownerOf(caller),
        signal: limits.signal,
        timeoutMs: Math.max(1, deadline - performance.now()),
      });
      return await tryOffers(input, plan, { files, signal: limits.signal, deadline, endedBy: limits.failure });
    } catch (error) {
      throw limits.failure() ?? error;
    } finally {
      limits.clear();
    }
  }

  interface Running {
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
        failure = error;
      }
    }
    throw failure ?? new GatewayError("provider_not_found", "Nobody serves this task.");
  }

  async function runEngine(input: TaskInput, plan: Plan, offer: TaskOffer, running: Running): Promise<JsonObject> {
    const { engine, model } = offer;
    const { request, trace, requestId, caller } = input;
    const { task } = plan;
    if (engine.missing !== null) throw new GatewayError("provider_not_configured", engine.missing);
    const startedAt = performance.now();
    trace.sentAt = startedAt;
    const note = trace.attempts.push({
      provider: engine.provider,
      model: model ?? engine.task,
      deployment: engine.provider,
      reason: offer === plan.offers[0] ? "first" : "fallback",
      startedAt,
      failure: null,
      endedAt: null,
    });
    const tell = (outcome: AttemptReport["outcome"], cost: number | null) => {
      const attempt = trace.attempts[note - 1];
      if (attempt !== undefined) {
        attempt.endedAt = performance.now();
        attempt.failure = outcome === "completed" ? null : outcome;
      }
      report({
        requestId,
        keyId: caller.keyId,
        provider: engine.provider,
        model: model === null ? engine.task : `${engine.task}/${model}`,
        isStream: false,
        durationMs: performance.now() - startedAt,
        usage: null,
        cost,
        outcome,
      });
    };
    try {
      const answer = await engine.run({
        model,
        input: plan.input,
        files: running.files,
        providerParams: request.provider_params ?? {},
        signal: running.signal,
        deadline: running.deadline,
        requestId,
      });
      trace.firstByteAt = performance.now();
      const output = await withBinaries(answer, ownerOf(caller), input.baseUrl);
      refuseWrongOutput(task, engine, output);
      const { cost, reason } = chargeForTask(task, engine.provider, model, answer);
      tell("completed", cost);
      return {
        status: "success",
        cost,
        ...(reason === null ? {} : { cost_reason: reason }),
        provider: engine.provider,
        model,
        feature: task.feature,
        subfeature: task.subfeature,
        output,
        provider_time: Math.round(trace.firstByteAt - startedAt) / 1_000,
        ...(request.show_original_response === true ? { original_response: answer.original } : {}),
        ...(input.wantsMetadata ? { switchyard: trace.toMetadata(requestId) } : {}),
      };
    } catch (error) {
      tell(outcomeOf(running.endedBy() ?? error), null);
      throw error;
    }
  }

  async function withBinaries(
    { output, binaries = [] }: EngineAnswer,
    owner: string,
    baseUrl: string,
  ): Promise<JsonObject> {
    if (binaries.length === 0) return output;
    const whole = structuredClone(output) as Record<string, unknown>;
    for (const binary of binaries) {
      if (binary.base64Path !== null) setAt(whole, binary.base64Path, Buffer.from(binary.bytes).toString("base64"));
      setAt(whole, binary.urlPath, await publish(binary, owner, baseUrl));
    }
    return whole;
  }

  return { check, run, engines };
}

function outcomeOf(error: unknown): AttemptReport["outcome"] {
  if (error instanceof GatewayError) return error.code;
  if (error instanceof ValidationError) return "invalid_request";
  return error instanceof CallerLeft ? "caller_left" : "internal_error";
}

/** A provider may do a task in two ways, its own and by one of its chat models: the model's name decides, else the first. */
function chooseEngine(serving: readonly Engine[], model: string | null): Engine | undefined {
  if (model === null) return serving[0];
  return (
    serving.find(({ models }) => models.includes(model)) ?? serving.find(({ takesOtherModels }) => takesOtherModels)
  );
}

function findTaskOf(name: string): Task {
  const [feature = "", subfeature = ""] = name.split("/");
  if (!tasks.some((task) => task.feature === feature))
    throw new GatewayError("feature_not_found", `There is no feature '${feature}'.`, { param: "model" });
  const task = findTask(feature, subfeature);
  if (task !== undefined) return task;
  throw new GatewayError("subfeature_not_found", `'${feature}' has no subfeature '${subfeature}'.`, { param: "model" });
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
  const [first, ...others] = problems;
  if (first !== undefined) throw new ValidationError([first, ...others]);
}

function refuseForbidden(name: string, caller: Caller): void {
  if (caller.allowedModels === null || fitsPattern(name, caller.allowedModels)) return;
  throw new GatewayError("model_not_allowed", `This key may not use the model '${name}'.`, { param: "model" });
}

function refuseWrongOutput(
  { outputSchema, feature, subfeature }: Task,
  { provider }: Engine,
  output: JsonObject,
): void {
  const document = new SchemaDocument(outputSchema, Number.POSITIVE_INFINITY);
  if (fitsSchema(output as Json, document.root, document)) return;
  throw new GatewayError(
    "provider_bad_response",
    `The provider '${provider}' answered with something that is not the output of ${feature}/${subfeature}.`,
  );
}

function setAt(target: Record<string, unknown>, path: readonly (string | number)[], value: unknown): void {
  let place: Record<string | number, unknown> = target;
  for (const step of path.slice(0, -1)) place = place[step] as Record<string | number, unknown>;
  const last = path.at(-1);
  if (last !== undefined) place[last] = value;
}

/** One signal for everything that ends a run early, and which of them it was. */
function startLimits(connection: Connection, ending: AbortSignal, deadline: number) {
  const controller = new AbortController();
  let why: "left" | "time" | "ending" | null = null;
  const end = (reason: typeof why) => () => {
    why ??= reason;
    controller.abort();
  };
  const [left, time, down] = [end("left"), end("time"), end("ending")];
  const timer = setTimeout(time, Math.max(0, deadline - performance.now()));
  connection.signal.addEventListener("abort", left, { once: true });
  ending.addEventListener("abort", down, { once: true });
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
      ending.removeEventListener("abort", down);
    },
  };
}
