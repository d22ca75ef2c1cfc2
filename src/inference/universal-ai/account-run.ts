// Accounts for one run of an engine: it passes the limits before it starts, and is settled and written to the ledger exactly once when it ends.

import { type CallLimits, type Demand, noReservation } from "../../access/call-limits.ts";
import type { Caller } from "../../access/caller.ts";
import { type ErrorCode, GatewayError, ValidationError } from "../../errors.ts";
import { type Charge, unknownUsage } from "../../lib/charge.ts";
import { CallerLeft } from "../../providers/call.ts";
import { CallTicket } from "../../providers/call-ticket.ts";
import type { Span } from "../../tracing/span.ts";
import { AttemptSpan } from "../attempt-span.ts";
import { type AttemptReport, chargeOfFailure, toOutcome } from "../report.ts";
import type { Trace } from "../trace.ts";

/** The gateway's part in every run. */
export interface RunAccounting {
  readonly callLimits: CallLimits;
  readonly checkLedger: () => void;
  readonly report: (attempt: AttemptReport) => void;
}

export interface AccountedRun extends RunAccounting {
  readonly caller: Caller;
  readonly trace: Trace;
  readonly requestId: string;
  readonly jobId: string | null;
  readonly task: string;
  readonly provider: string;
  readonly model: string | null;
  readonly deployment: string | null;
  /** Where the engine sends its calls; absent for one without deployments. */
  readonly address?: string | null;
  readonly signal: AbortSignal;
  /** The engine performs the task with calls to models, which are accounted for one by one. */
  readonly reportsCalls: boolean;
  /** For the trace, if contents are recorded. */
  readonly input?: unknown;
  /** The run continues work that an earlier one began at the provider. */
  readonly isContinued?: boolean;
  /** What the run may use at most; absent: it is not known. */
  readonly demand?: () => Demand;
}

/** The ticket of a run: for whom it calls providers, and what it costs. */
export class RunTicket extends CallTicket {
  readonly run: AccountedRun;
  /** Set as soon as the provider has answered: what follows may fail, and does not change what is owed. */
  charge: Charge | null = null;
  /** For the trace, if contents are recorded; without bytes. */
  output: unknown;
  /** The work continues elsewhere: a later run is reported. */
  isPending = false;

  constructor(run: AccountedRun) {
    super();
    this.run = run;
  }
}

/** Ends of continued work for which the gateway is the reason: the provider may go on with the work, and bill it. */
const givenUp: ReadonlySet<AttemptReport["outcome"]> = new Set<ErrorCode>([
  "provider_timeout",
  "provider_not_configured",
]);

/** After these errors nothing was executed, unless a request was sent before. The request is refused, and has no line of a call. */
const beforeCall: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "overloaded",
  "rate_limit_exceeded",
  "insufficient_credits",
  "budget_exceeded",
  "price_unknown",
  "collection_not_found",
  "file_not_found",
  "model_not_found",
  "payload_too_large",
  "provider_not_configured",
  "dependency_unavailable",
]);

export async function accountRun<Result>(
  run: AccountedRun,
  work: (ticket: RunTicket) => Promise<Result>,
): Promise<Result> {
  run.checkLedger();
  const demand = run.demand ?? unknownDemand;
  const reservation = run.reportsCalls
    ? noReservation
    : run.isContinued
      ? run.callLimits.charge(run.caller, nameOf(run))
      : await run.callLimits.reserve(run.caller, nameOf(run), demand, run.trace.root);
  const ticket = new RunTicket(run);
  ticket.attempt = run.trace.attempts.at(-1) ?? null;
  // Calls to models have spans of their own.
  const span = run.trace.span === null || run.reportsCalls ? null : startSpan(run.trace.span, run);
  if (span !== null) ticket.headerLines = span.linesFor(run.provider);
  const startedAt = performance.now();

  function end(outcome: AttemptReport["outcome"]): void {
    const charge = ticket.charge ?? (run.isContinued && givenUp.has(outcome) ? unknownUsage : null);
    const isUnbilled = charge === null && outcome !== "completed" && outcome !== "caller_left";
    const { pico } = charge ?? chargeOfFailure(outcome);
    // Continued work has reserved nothing that could be counted if its cost is unknown.
    const countedPico = pico ?? (run.isContinued ? demand().pico : null);
    const settled = reservation.settle({ tokens: isUnbilled ? 0 : null, pico: isUnbilled ? 0 : countedPico });
    if (run.reportsCalls) return;
    const { caller, requestId, jobId, task, provider, model, deployment, trace } = run;
    trace.addReport({
      ...{ provider, outcome, isStream: false, inputTokens: undefined, outputTokens: undefined },
      model: model === null ? task : `${task}/${model}`,
      cost: isUnbilled ? 0 : (charge?.cost ?? null),
    });
    const report: AttemptReport = {
      ...{ caller, requestId, jobId, task, provider, model, deployment, outcome, charge, settled },
      endpoint: trace.endpoint,
      attempt: trace.countCall(),
      attemptReason: trace.attemptReason,
      hasRequestLine: trace.root.hasRequestLine,
      isStream: false,
      durationMs: performance.now() - startedAt,
      firstTokenMs: null,
      usage: null,
      ...(run.isContinued && !isUnbilled && { line: toWorkLine(run) }),
    };
    run.report(report);
    if (ticket.output !== undefined) span?.noteTaskOutput(ticket.output);
    span?.end(report);
  }

  try {
    const result = await work(ticket);
    if (ticket.isPending) {
      reservation.postpone();
      span?.endPending();
    } else end("completed");
    return result;
  } catch (error) {
    const outcome = toOutcome(abortReason(run.signal) ?? error);
    const isGivenUp = run.isContinued && givenUp.has(outcome);
    if (run.isContinued && !isGivenUp && (run.signal.aborted || outcome === "draining")) {
      // The work goes on at the provider: a later run is reported, or the end of a cancelled job.
      reservation.postpone();
      span?.endPending();
    } else if (!isGivenUp && isRefusal(error) && !ticket.isUsed && ticket.charge === null) {
      reservation.release();
      span?.cancel(outcome);
    } else end(outcome);
    throw error;
  }
}

function startSpan(parent: Span, run: AccountedRun): AttemptSpan {
  const { task, provider, model, deployment, jobId, requestId, caller, address = null, input } = run;
  return new AttemptSpan(parent, {
    operation: task,
    provider,
    model,
    address,
    isStream: false,
    taskInput: input,
    attributes: {
      "switchyard.request.id": requestId,
      "switchyard.key.id": caller.keyId,
      "switchyard.provider": provider,
      "switchyard.deployment": deployment ?? undefined,
      "switchyard.task": task,
      "switchyard.job.id": jobId ?? undefined,
    },
  });
}

function isRefusal(error: unknown): boolean {
  return error instanceof ValidationError || (error instanceof GatewayError && beforeCall.has(error.code));
}

const unknownDemand = (): Demand => ({ inputTokens: 0, outputTokens: 0, pico: null });

/** The line of work that continues at a provider. However the work ends, and whichever process reports it, it is counted once. */
export function toWorkLine(run: Pick<AccountedRun, "jobId" | "task" | "provider" | "model">) {
  return { id: toLineId(`${run.jobId} ${nameOf(run)}`), time: Date.now() };
}

export function toLineId(text: string): string {
  const hex = Bun.SHA256.hash(text, "hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

export function nameOf({ task, provider, model }: Pick<AccountedRun, "task" | "provider" | "model">): string {
  return model === null ? `${task}/${provider}` : `${task}/${provider}/${model}`;
}

/** Why the run was ended early, when that is known. */
function abortReason({ aborted, reason }: AbortSignal): unknown {
  return aborted && (reason instanceof GatewayError || reason instanceof CallerLeft) ? reason : null;
}
