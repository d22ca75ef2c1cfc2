// Rates and percentiles of what happened between two readings of the live counters.

import { findPercentile } from "../../../lib/percentile.ts";
import type { LedgerLine, LiveFigures } from "../../api/types.ts";

export interface RatePoint {
  /** Epoch milliseconds. */
  readonly time: number;
  readonly requestsPerSecond: number;
  readonly errorsPerSecond: number;
}

export interface LivePoint extends RatePoint {
  readonly tokensPerSecond: number;
  readonly usdPerMinute: number;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly firstToken50: number | null;
  readonly firstToken95: number | null;
}

/** Null when a process was restarted in between, or no time has passed. */
export function toPoint(before: LiveFigures, now: LiveFigures): LivePoint | null {
  const time = Date.parse(now.time);
  const seconds = (time - Date.parse(before.time)) / 1_000;
  if (seconds <= 0 || now.requests < before.requests || now.attempts < before.attempts) return null;
  const latency = subtract(now.latency, before.latency);
  const firstToken = subtract(now.first_token, before.first_token);
  if (latency === null || firstToken === null) return null;
  const percentile = (counts: readonly number[], share: number) => findPercentile(now.latency.bounds_ms, counts, share);
  const tokens = (figures: LiveFigures) => figures.input_tokens + figures.output_tokens;
  return {
    time,
    requestsPerSecond: (now.requests - before.requests) / seconds,
    errorsPerSecond: Math.max(0, now.errors - before.errors) / seconds,
    tokensPerSecond: Math.max(0, tokens(now) - tokens(before)) / seconds,
    usdPerMinute: (Math.max(0, now.cost - before.cost) / seconds) * 60,
    p50: percentile(latency, 0.5),
    p95: percentile(latency, 0.95),
    p99: percentile(latency, 0.99),
    firstToken50: percentile(firstToken, 0.5),
    firstToken95: percentile(firstToken, 0.95),
  };
}

type Histogram = LiveFigures["latency"];

/** A histogram without values has no bounds. */
function subtract(now: Histogram, before: Histogram): number[] | null {
  const counts = now.counts.map((count, index) => count - (before.counts[index] ?? 0));
  return counts.some((count) => count < 0) ? null : counts;
}

export interface History {
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  /** The newest lines of the ledger in this time, newest first. */
  readonly lines: readonly Pick<LedgerLine, "time" | "request_id" | "outcome" | "count">[];
  /** Whether there are older lines in this time, which were not read. */
  readonly hasMore: boolean;
  /** Of all lines in this time. */
  readonly totals: { readonly lines: number; readonly errors: number };
}

const stepMs = 10_000;
const goodOutcomes: ReadonlySet<string> = new Set(["completed", "caller_left"]);

/** The rates before the first reading, by ten seconds. Where there are too many lines to read them, the mean of that time. */
export function toHistory({ from, to, lines, hasMore, totals }: History): RatePoint[] {
  const oldest = lines.at(-1);
  const readFrom = hasMore && oldest !== undefined ? Date.parse(oldest.time) : from;
  const steps = Array.from({ length: Math.floor((to - from) / stepMs) }, () => ({ requests: 0, errors: 0 }));
  const seen = new Set<string>();
  const read = { lines: 0, errors: 0 };
  for (const { time, request_id, outcome, count } of lines) {
    const isError = !goodOutcomes.has(outcome);
    read.lines += count;
    if (isError) read.errors += count;
    const step = steps[steps.length - 1 - Math.floor((to - Date.parse(time)) / stepMs)];
    // The newest line of a request tells how it ended.
    if (step === undefined || seen.has(request_id)) continue;
    seen.add(request_id);
    step.requests += count;
    if (isError) step.errors += count;
  }
  const unreadSeconds = Math.max(1, (readFrom - from) / 1_000);
  const mean = {
    requestsPerSecond: Math.max(0, totals.lines - read.lines) / unreadSeconds,
    errorsPerSecond: Math.max(0, totals.errors - read.errors) / unreadSeconds,
  };
  return steps.map(({ requests, errors }, index) => {
    const time = to - (steps.length - 1 - index) * stepMs;
    if (hasMore && time - stepMs < readFrom) return { time, ...mean };
    const seconds = stepMs / 1_000;
    return { time, requestsPerSecond: requests / seconds, errorsPerSecond: errors / seconds };
  });
}
