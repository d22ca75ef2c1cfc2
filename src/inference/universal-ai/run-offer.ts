// One run of one engine: checks the output against the schema of the task, publishes its binary results, computes its cost, and reports
// the outcome.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { CallLimits } from "../../access/call-limits.ts";
import type { Caller } from "../../access/caller.ts";
import type { Task } from "../../contract/tasks.ts";
import type { BinaryResult, Engine, EngineStep, TaskCall, TaskResult } from "../../engines/engine.ts";
import { GatewayError } from "../../errors.ts";
import { type Json, SchemaDocument } from "../../lib/json-schema/schema.ts";
import { fitsSchema } from "../../lib/json-schema/schema-check.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";
import { setAt } from "../../lib/set-at.ts";
import { CallerLeft } from "../../providers/call.ts";
import { estimateTask } from "../estimate.ts";
import { type AttemptReport, toOutcome } from "../report.ts";
import { chargeForTask } from "./unit-price.ts";

// Checking this many items takes about 8 ms.
const itemsAtOnce = 1_000;

export interface TaskOffer {
  readonly engine: Engine;
  readonly model: string | null;
}

export interface OfferRun {
  readonly task: Task;
  readonly offer: TaskOffer;
  readonly call: Omit<TaskCall, "model">;
  readonly caller: Caller;
  readonly callLimits: CallLimits;
  /** An object that stands for the request, which limits count once. */
  readonly request: object;
  /** Stores the bytes and returns their signed address. */
  readonly publish: (result: BinaryResult) => Promise<string>;
  readonly report: (attempt: AttemptReport) => void;
}

export interface TaskOutcome {
  readonly output: JsonObject;
  readonly original: unknown;
  readonly cost: number | null;
  readonly costReason: string | null;
  readonly provider: string;
  readonly model: string | null;
  /** How long the engine ran. */
  readonly milliseconds: number;
}

type PendingStep = Exclude<EngineStep, { readonly result: TaskResult }>;

/** Runs the engine to its end. */
export async function runOffer(run: OfferRun): Promise<TaskOutcome> {
  const outcome = await runEngine(run, async (engine, call) => ({ result: await engine.run(call) }));
  if ("checkpoint" in outcome) throw new TypeError("a whole run does not end with a step");
  return outcome;
}

/** Runs one step of an engine whose work continues elsewhere, or any other engine to its end. */
export async function runOfferStep(run: OfferRun, checkpoint: Json | null): Promise<TaskOutcome | PendingStep> {
  return await runEngine(run, async (engine, call) =>
    engine.runStep === undefined ? { result: await engine.run(call) } : await engine.runStep(call, checkpoint),
  );
}

async function runEngine(
  run: OfferRun,
  start: (engine: Engine, call: TaskCall) => Promise<EngineStep>,
): Promise<TaskOutcome | PendingStep> {
  const { task, publish } = run;
  const { engine, model } = run.offer;
  const { provider } = engine;
  refuseUnavailable(engine);
  const demand = () => estimateTask(task, run.offer, run.call);
  const reservation = await run.callLimits.reserve(run.caller, nameOf(run.offer), demand, run.request);
  const startedAt = performance.now();
  try {
    const step = await start(engine, { ...run.call, model });
    if (!("result" in step)) {
      reservation.release();
      return step;
    }
    const { result } = step;
    const milliseconds = performance.now() - startedAt;
    const output = await withBinaries(result, task, engine, publish);
    const { cost, reason, pico } = chargeForTask(task, provider, model, result);
    reservation.settle({ tokens: null, pico });
    report(run, startedAt, "completed", cost);
    return { output, original: result.original ?? null, cost, costReason: reason, provider, model, milliseconds };
  } catch (error) {
    reservation.settle({ tokens: 0, pico: 0 });
    report(run, startedAt, toOutcome(abortReason(run.call.signal) ?? error), null);
    throw error;
  }
}

function nameOf({ engine: { task, provider }, model }: TaskOffer): string {
  return model === null ? `${task}/${provider}` : `${task}/${provider}/${model}`;
}

/** Nothing was sent, so this is not reported. */
export function refuseUnavailable({ unavailableReason }: Engine): void {
  if (unavailableReason !== null) throw new GatewayError("provider_not_configured", unavailableReason);
}

function report(run: OfferRun, startedAt: number, outcome: AttemptReport["outcome"], cost: number | null): void {
  const { engine, model } = run.offer;
  run.report({
    requestId: run.call.requestId,
    keyId: run.caller.keyId,
    provider: engine.provider,
    model: model === null ? engine.task : `${engine.task}/${model}`,
    isStream: false,
    durationMs: performance.now() - startedAt,
    usage: null,
    cost,
    outcome,
  });
}

/** The output as the caller receives it. It is checked before its bytes are published. */
async function withBinaries(
  { output, binaries = [] }: TaskResult,
  task: Task,
  engine: Engine,
  publish: OfferRun["publish"],
): Promise<JsonObject> {
  const whole = binaries.length === 0 ? output : structuredClone(output);
  for (const { base64Path, urlPath, bytes } of binaries) {
    if (base64Path !== null) setAt(whole, base64Path, Buffer.from(bytes).toString("base64"));
    setAt(whole, urlPath, "https://address.invalid/");
  }
  if (!(await fitsInParts(whole, task.outputSchema)))
    throw new GatewayError(
      "provider_bad_response",
      `The provider '${engine.provider}' answered with something that is not the output of ${task.name}.`,
    );
  for (const binary of binaries) setAt(whole, binary.urlPath, await publish(binary));
  return whole;
}

/** Checks long lists in parts, so that other requests are served in between: 60,000 items take half a second. */
async function fitsInParts(output: JsonObject, outputSchema: Task["outputSchema"]): Promise<boolean> {
  const long = Object.entries(output).filter((member): member is [string, unknown[]] => {
    return Array.isArray(member[1]) && member[1].length > itemsAtOnce;
  });
  const firstParts = Object.fromEntries(long.map(([name, list]) => [name, list.slice(0, itemsAtOnce)]));
  const fits = (value: JsonObject) => {
    const document = new SchemaDocument(outputSchema, "unlimited");
    return fitsSchema(value as Json, document.root, document);
  };
  if (!fits({ ...output, ...firstParts })) return false;
  for (const [name, list] of long) {
    for (let start = itemsAtOnce; start < list.length; start += itemsAtOnce) {
      await nextTurn();
      if (!fits({ ...output, ...firstParts, [name]: list.slice(start, start + itemsAtOnce) })) return false;
    }
  }
  return true;
}

/** Why the run was ended early, when that is known. */
function abortReason({ aborted, reason }: AbortSignal): unknown {
  return aborted && (reason instanceof GatewayError || reason instanceof CallerLeft) ? reason : null;
}
