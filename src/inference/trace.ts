// What happened to one request on its way: times for Server-Timing, and what was decided, for callers who ask.

import type { EngineAttempt } from "../engines/engine.ts";
import type { ErrorCode } from "../errors.ts";

export type AttemptNote = EngineAttempt;
export type AttemptReason = AttemptNote["reason"];

export class Trace {
  readonly startedAt: number;
  /** Milliseconds that the process lagged behind when the request came. */
  readonly queueMs: number;
  /** When each step was over, in the milliseconds of `performance.now()`; 0 where it was not taken. */
  authorizedAt = 0;
  readAt = 0;
  routedAt = 0;
  /** Of the last attempt. */
  sentAt = 0;
  connectedAt = 0;
  firstByteAt = 0;
  /** Of the route, for the log. */
  path = "";
  attempts: AttemptNote[] = [];
  /** Parameters that the provider's format has no place for. */
  dropped: readonly string[] = [];
  /** Offers that were passed over, and why. */
  skipped: { readonly provider: string; readonly model: string; readonly why: string }[] = [];
  isSticky = false;

  constructor(startedAt: number, queueMs: number) {
    this.startedAt = startedAt;
    this.queueMs = queueMs;
  }

  /** The last attempt had begun to answer, and did not end well. */
  broke(failure: ErrorCode): void {
    const last = this.attempts.at(-1);
    if (last === undefined) return;
    last.failure = failure;
    last.endedAt = performance.now();
  }

  /** The Server-Timing header: durations in milliseconds of the steps that were taken. */
  toServerTiming(now: number): string {
    return (
      `queue;dur=${toHundredths(this.queueMs)}` +
      toStep(", auth;dur=", this.startedAt, this.authorizedAt) +
      toStep(", read;dur=", this.authorizedAt, this.readAt) +
      toStep(", route;dur=", this.readAt, this.routedAt) +
      toStep(", connect;dur=", this.sentAt, this.connectedAt) +
      toStep(", provider;dur=", this.sentAt, this.firstByteAt) +
      toStep(", transform;dur=", this.firstByteAt, this.firstByteAt > 0 ? now : 0) +
      toStep(", total;dur=", this.startedAt, now)
    );
  }

  /** The `switchyard` member. */
  toMetadata(requestId: string): Record<string, unknown> {
    return {
      request_id: requestId,
      attempts: this.attempts.map(({ provider, model, deployment, reason, startedAt, failure, endedAt }) => ({
        provider,
        model,
        deployment,
        reason,
        outcome: failure ?? "answered",
        milliseconds: Math.round((endedAt ?? performance.now()) - startedAt),
      })),
      skipped: this.skipped,
      session_sticky: this.isSticky,
      dropped_parameters: this.dropped,
    };
  }
}

/** Empty for a step that was not taken. What was taken in an earlier attempt lies before the beginning of this one. */
function toStep(start: string, from: number, to: number): string {
  return to >= from && from > 0 ? start + toHundredths(to - from) : "";
}

// To write a fraction takes longer than most steps do: those of up to ten milliseconds are there already.
const written: readonly string[] = Array.from({ length: 1_000 }, (_, index) => String(index / 100));

function toHundredths(milliseconds: number): string {
  const hundredths = Math.round(milliseconds * 100);
  return written[hundredths] ?? String(hundredths / 100);
}
