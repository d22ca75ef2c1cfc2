// The report of an attempt that has ended, and its line in the ledger.

import type { Settled } from "../access/call-limits.ts";
import type { Caller } from "../access/caller.ts";
import { type ErrorCode, errorCatalogue, GatewayError, ValidationError } from "../errors.ts";
import { type Charge, toUnknownCharge, unknownUsage } from "../lib/charge.ts";
import { CallerLeft } from "../providers/call.ts";
import type { LedgerLine } from "../storage/ledger-line.ts";
import { countCached, countInput, countOutput, readAllParts, type TokenParts } from "../usage/tokens.ts";
import { mergeTags } from "./tag-caller.ts";
import type { AttemptNote, Trace } from "./trace.ts";

export interface AttemptReport {
  readonly requestId: string;
  readonly caller: Pick<Caller, "keyId" | "team" | "tags">;
  /** The path of the route; for jobs, the one by which they were submitted. */
  readonly endpoint: string;
  readonly provider: string;
  /** Null for a task without a choice of models. */
  readonly model: string | null;
  readonly task: string | null;
  readonly jobId: string | null;
  /** Null for an engine without deployments. */
  readonly deployment: string | null;
  /** 1 for the first attempt of the request. */
  readonly attempt: number;
  readonly attemptReason: AttemptNote["reason"];
  readonly isStream: boolean;
  readonly durationMs: number;
  /** Only of a stream: the time until its first content. */
  readonly firstTokenMs: number | null;
  /** As the provider reported it; null when it did not. */
  readonly usage: unknown;
  /** Null when the provider reported no usage. */
  readonly charge: Charge | null;
  readonly settled: Settled;
  readonly outcome: "completed" | FailedOutcome;
  /** Why the attempt failed, for the log. */
  readonly reason?: string | undefined;
  /** The line of its request in the log states what the attempt did. */
  readonly hasRequestLine?: boolean;
  /** A request that generates nothing, such as one that retrieves an earlier response. */
  readonly isFree?: boolean;
  /** Of an attempt that may be reported more than once, because its process was interrupted. */
  readonly line?: Pick<LedgerLine, "id" | "time">;
}

type FailedOutcome = "caller_left" | ErrorCode;

export function toOutcome(error: unknown): FailedOutcome {
  if (error instanceof GatewayError) return error.code;
  if (error instanceof ValidationError) return "invalid_request";
  return error instanceof CallerLeft ? "caller_left" : "internal_error";
}

/** The same counts as in the ledger. */
export function readUsage(usage: unknown): { inputTokens: number; outputTokens: number } | null {
  const parts = usage === null ? null : readAllParts(usage);
  return parts === null ? null : { inputTokens: countInput(parts), outputTokens: countOutput(parts) };
}

// As proxies note it when the client has closed the connection.
const callerLeftStatus = 499;
const maxModelLength = 256;

/** Members that are undefined are left out of the line. */
export function toLedgerLine(report: AttemptReport): LedgerLine {
  const { caller, outcome, charge, settled, durationMs } = report;
  const parts = report.usage === null ? null : readAllParts(report.usage);
  const { pico, version, reason, basis } = charge ?? chargeOfFailure(outcome);
  const isUsage = basis !== null && !("units" in basis);
  return {
    id: report.line?.id ?? Bun.randomUUIDv7(),
    once: report.line === undefined ? undefined : 1,
    time: report.line?.time ?? Math.round(Date.now() - durationMs),
    request_id: report.requestId,
    key_id: caller.keyId,
    team: caller.team ?? undefined,
    tags: caller.tags,
    endpoint: report.endpoint,
    provider: report.provider,
    model: report.model?.slice(0, maxModelLength),
    task: report.task ?? undefined,
    deployment: report.deployment ?? undefined,
    attempt: report.attempt,
    outcome,
    status: statusOf(outcome),
    input_tokens: parts === null ? undefined : countInput(parts),
    output_tokens: parts === null ? undefined : countOutput(parts),
    cached_tokens: parts === null ? undefined : countCached(parts),
    reasoning_tokens: parts?.reasoning,
    tokens: parts === null ? undefined : withoutZeros(parts),
    units: basis !== null && "units" in basis ? (basis.units as LedgerLine["units"]) : undefined,
    price_version: version ?? undefined,
    cost_pico: pico ?? undefined,
    cost_reason: reason ?? undefined,
    counted_pico: settled.countedPico,
    accounts: settled.accounts.length === 0 ? undefined : settled.accounts,
    latency_ms: Math.round(durationMs),
    first_token_ms: report.firstTokenMs === null ? undefined : Math.round(report.firstTokenMs),
    is_stream: report.isStream ? 1 : 0,
    is_cached: parts !== null && countCached(parts) > 0 ? 1 : 0,
    job_id: report.jobId ?? undefined,
    count: 1,
    usage: isUsage ? basis : undefined,
  };
}

/** A provider may have generated until the caller left; a request that failed is usually not billed. */
export function chargeOfFailure(outcome: AttemptReport["outcome"]): Charge {
  return outcome === "caller_left" || outcome === "completed" ? unknownUsage : notAnswered;
}

const notAnswered = toUnknownCharge("not_answered");

function statusOf(outcome: AttemptReport["outcome"]): number {
  if (outcome === "completed") return 200;
  return outcome === "caller_left" ? callerLeftStatus : errorCatalogue[outcome].status;
}

function withoutZeros(parts: TokenParts): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name in parts) {
    const count = parts[name as keyof TokenParts];
    if (count > 0) counts[name] = count;
  }
  return counts;
}

/** The line of a request that was refused before a provider was called. */
export interface Refusal {
  readonly requestId: string;
  readonly caller: AttemptReport["caller"] | null;
  readonly endpoint: string;
  readonly status: number;
  readonly outcome: string;
  readonly reason: string;
  readonly durationMs: number;
  /** The candidate that was about to be called, if one was chosen. */
  readonly target: { readonly provider: string; readonly model: string } | null;
}

const maxReasonLength = 300;

interface RefusedRequest extends Pick<Refusal, "requestId" | "caller"> {
  readonly trace: Trace;
}

export function toRefusal(error: unknown, { requestId, caller, trace }: RefusedRequest): Refusal {
  const outcome = toOutcome(error);
  return {
    requestId,
    caller: caller === null || trace.tags === null ? caller : { ...caller, tags: mergeTags(caller.tags, trace.tags) },
    endpoint: trace.endpoint,
    status: statusOf(outcome),
    outcome,
    reason: describeError(error),
    durationMs: performance.now() - trace.startedAt,
    target: trace.attempts.at(-1) ?? null,
  };
}

/** An unexpected error is described in the log only. */
function describeError(error: unknown): string {
  if (error instanceof GatewayError) return error.message;
  if (!(error instanceof ValidationError)) return "";
  const [{ loc, msg }] = error.problems;
  return `${loc.join(".")}: ${msg}`;
}

export function toRefusalLine(refusal: Refusal): LedgerLine {
  const { caller, target, durationMs } = refusal;
  return {
    id: Bun.randomUUIDv7(),
    time: Math.round(Date.now() - durationMs),
    request_id: refusal.requestId,
    key_id: caller?.keyId,
    team: caller?.team ?? undefined,
    tags: caller?.tags ?? {},
    endpoint: refusal.endpoint,
    provider: target?.provider,
    model: target?.model.slice(0, maxModelLength),
    attempt: 0,
    outcome: refusal.outcome,
    status: refusal.status,
    counted_pico: 0,
    latency_ms: Math.round(durationMs),
    is_stream: 0,
    is_cached: 0,
    count: 1,
    reason: refusal.reason.slice(0, maxReasonLength),
  };
}
