// Rates and percentiles of what happened between two readings of the live counters.

import { findPercentile } from "../../../lib/percentile.ts";
import type { LiveFigures } from "../../api/types.ts";

export interface LivePoint {
  /** Epoch milliseconds. */
  readonly time: number;
  readonly requestsPerSecond: number;
  readonly errorsPerSecond: number;
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
