// One run of one engine: checks the output against the schema of the task, publishes its binary results, computes its cost, and reports
// the outcome.

import type { Demand } from "../../access/call-limits.ts";
import type { Caller } from "../../access/caller.ts";
import { fitsOutputInParts } from "../../contract/fits-output.ts";
import type { Task } from "../../contract/tasks.ts";
import type { BinaryResult, Engine, EngineStep, TaskCall, TaskResult } from "../../engines/engine.ts";
import { GatewayError } from "../../errors.ts";
import type { Json } from "../../lib/json-schema/schema.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";
import { setAt } from "../../lib/set-at.ts";
import { estimateTask } from "../estimate.ts";
import type { Trace } from "../trace.ts";
import { type AccountedRun, accountRun, type RunAccounting } from "./account-run.ts";
import { chargeForTask } from "./unit-price.ts";

export interface TaskOffer {
  readonly engine: Engine;
  readonly model: string | null;
}

export interface OfferRun extends RunAccounting {
  readonly task: Task;
  readonly offer: TaskOffer;
  readonly call: Omit<TaskCall, "model" | "ticket">;
  readonly caller: Caller;
  readonly trace: Trace;
  /** Stores the bytes and returns their signed address. */
  readonly publish: (result: BinaryResult) => Promise<string>;
  /** Of work that continues: what its start was expected to cost. */
  readonly estimatedPico?: number | null;
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

type PendingStep = Exclude<EngineStep, { readonly result: TaskResult }> & {
  /** What the work may cost at most, in pico-dollars; null when that is unknown. */
  readonly estimatedPico: number | null;
};

/** Runs the engine to its end. */
export async function runOffer(run: OfferRun): Promise<TaskOutcome> {
  const outcome = await runEngine(run, async (engine, call) => ({ result: await engine.run(call) }));
  if ("checkpoint" in outcome) throw new TypeError("a whole run does not end with a step");
  return outcome;
}

/** Runs one step of an engine whose work continues elsewhere, or any other engine to its end. */
export async function runOfferStep(run: OfferRun, checkpoint: Json | null): Promise<TaskOutcome | PendingStep> {
  return await runEngine(
    run,
    async (engine, call) =>
      engine.runStep === undefined ? { result: await engine.run(call) } : await engine.runStep(call, checkpoint),
    checkpoint !== null,
  );
}

/** Lets the engine delete the files of work that no step continues. The calls cost nothing, so they get no line of the ledger. */
export async function abandonOfferStep(run: OfferRun, checkpoint: Json): Promise<void> {
  const { engine, model } = run.offer;
  if (engine.abandonStep === undefined) return;
  refuseUnavailable(engine);
  await accountRun(toAccount(run, true), async (ticket) => {
    ticket.isPending = true;
    await engine.abandonStep?.({ ...run.call, model, ticket }, checkpoint);
  });
}

async function runEngine(
  run: OfferRun,
  start: (engine: Engine, call: TaskCall) => Promise<EngineStep>,
  isContinued = false,
): Promise<TaskOutcome | PendingStep> {
  const { task, publish, call } = run;
  const { engine, model } = run.offer;
  const { provider } = engine;
  refuseUnavailable(engine);
  const account = toAccount(run, isContinued);
  return await accountRun(account, async (ticket) => {
    const startedAt = performance.now();
    const step = await start(engine, { ...call, model, ticket });
    if (!("result" in step)) {
      ticket.isPending = true;
      return { ...step, estimatedPico: account.demand().pico };
    }
    const { result } = step;
    const milliseconds = performance.now() - startedAt;
    const charge = chargeForTask(task, provider, model, result);
    ticket.charge = charge;
    ticket.output = result.output;
    const output = await withBinaries(result, task, engine, publish);
    const { cost, reason: costReason } = charge;
    return { output, original: result.original ?? null, cost, costReason, provider, model, milliseconds };
  });
}

function toAccount(run: OfferRun, isContinued: boolean) {
  const { task, call, offer, estimatedPico } = run;
  const { engine, model } = offer;
  return {
    ...{ callLimits: run.callLimits, checkLedger: run.checkLedger, report: run.report },
    ...{ caller: run.caller, trace: run.trace, requestId: call.requestId, signal: call.signal },
    ...{ task: engine.task, provider: engine.provider, model },
    ...{ deployment: call.deployment ?? null, jobId: call.jobId ?? null },
    address: findAddress(offer, call.deployment),
    input: call.input,
    reportsCalls: engine.isPaidByToken === true,
    demand: (): Demand =>
      estimatedPico === undefined
        ? estimateTask(task, offer, call)
        : // The files of the start, on which an estimate depends, are not opened again.
          { inputTokens: 0, outputTokens: 0, pico: estimatedPico },
    isContinued,
  } satisfies AccountedRun;
}

/** For the trace. */
function findAddress({ engine, model }: TaskOffer, deployment: string | undefined): string | null {
  const deployments = engine.deployments?.(model) ?? [];
  return (deployments.find(({ name }) => name === deployment) ?? deployments[0])?.baseUrl ?? null;
}

/** Nothing was sent, so this is not reported. */
export function refuseUnavailable({ unavailableReason }: Engine): void {
  if (unavailableReason !== null) throw new GatewayError("provider_not_configured", unavailableReason);
}

/** The output as the caller receives it. It is checked before its bytes are published. */
async function withBinaries(
  { output, binaries = [], isChecked = false }: TaskResult,
  task: Task,
  engine: Engine,
  publish: OfferRun["publish"],
): Promise<JsonObject> {
  const whole = binaries.length === 0 ? output : structuredClone(output);
  for (const { base64Path, urlPath, bytes } of binaries) {
    if (base64Path !== null) setAt(whole, base64Path, Buffer.from(bytes).toString("base64"));
    setAt(whole, urlPath, "https://address.invalid/");
  }
  if (!isChecked && !(await fitsOutputInParts(whole, task)))
    throw new GatewayError(
      "provider_bad_response",
      `The provider '${engine.provider}' answered with something that is not the output of ${task.name}.`,
    );
  for (const binary of binaries) setAt(whole, binary.urlPath, await publish(binary));
  return whole;
}
