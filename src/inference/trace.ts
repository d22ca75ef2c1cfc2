// The record of one request: times for Server-Timing, and decisions for callers that request metadata.

import type { Tags } from "../contract/tags.ts";
import type { Downloads } from "../egress/download-budget.ts";
import type { AttemptRecord } from "../engines/engine.ts";
import type { ErrorCode } from "../errors.ts";
import type { Span } from "../tracing/span.ts";

export type AttemptNote = AttemptRecord;

export interface NamedTarget {
  readonly provider: { readonly name: string };
  readonly deployment: { readonly name: string };
  readonly model: string;
}

/** What calls to providers have reported, for the log line of their request. Unknown tokens are undefined, an unknown cost is null. */
export interface ReportedCalls {
  readonly provider: string;
  readonly model: string;
  readonly isStream: boolean;
  readonly outcome: string;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cost: number | null;
}

export class Trace {
  readonly startedAt: number;
  /** Event-loop lag of the process when the request arrived. */
  readonly queueMs: number;
  /** The end of each step in the milliseconds of `performance.now()`; 0 for a step that was not taken. */
  authorizedAt = 0;
  readAt = 0;
  routedAt = 0;
  /** These three belong to the last attempt. */
  sentAt = 0;
  connectedAt = 0;
  firstByteAt = 0;
  /** The path of the route, for the log. */
  path = "";
  /** Some of them were refused before anything was sent. */
  attempts: AttemptNote[] = [];
  /** Parameters that the provider's format cannot express. */
  dropped: readonly string[] = [];
  /** Candidates that were not tried, and why. */
  skipped: { readonly provider: string; readonly model: string; readonly why: string }[] = [];
  isSticky = false;
  /** The tags of the request, beside those of its key; null when it has none. */
  tags: Tags | null = null;
  /** The request has a line of its own in the log. Jobs and messages of WebSockets have none. */
  hasRequestLine = false;
  /** Of all calls together; provider, model and outcome are those of the last one. */
  reported: ReportedCalls | null = null;
  /** How many attempts of the request have been reported. */
  calls = 0;
  /** The parent of the spans of further work; null when traces are not exported. */
  span: Span | null;
  /** The files that the request has fetched from addresses; null when it names none. */
  #downloads: Downloads | null = null;
  /** The trace of the request that this one is a part of. */
  readonly root: Trace;

  constructor(startedAt: number, queueMs: number, root?: Trace) {
    this.startedAt = startedAt;
    this.queueMs = queueMs;
    this.root = root ?? this;
    this.span = root === undefined ? null : root.span;
  }

  /** The downloads of the whole request; `end` has to be called later. */
  openDownloads(open: () => Downloads): Downloads {
    const { root } = this;
    root.#downloads ??= open();
    return root.#downloads;
  }

  get hasDownloads(): boolean {
    return this.#downloads !== null;
  }

  /** The request has ended, so what it has fetched is no longer held. */
  end(): void {
    this.#downloads?.[Symbol.dispose]();
    this.#downloads = null;
  }

  /** The number of the attempt that is reported. */
  countCall(): number {
    return ++this.root.calls;
  }

  addReport(call: ReportedCalls): void {
    const { root } = this;
    const before = root.reported;
    root.reported =
      before === null
        ? call
        : {
            ...call,
            inputTokens: addKnown(before.inputTokens, call.inputTokens),
            outputTokens: addKnown(before.outputTokens, call.outputTokens),
            cost: before.cost === null || call.cost === null ? null : before.cost + call.cost,
          };
  }

  /** Why the last attempt was made. */
  get attemptReason(): AttemptNote["reason"] {
    return this.attempts.at(-1)?.reason ?? "first";
  }

  /** The path of the route that the request came by. */
  get endpoint(): string {
    return this.root.path;
  }

  begin({ provider, deployment, model }: NamedTarget, reason: AttemptNote["reason"]): AttemptNote {
    const note: AttemptNote = {
      provider: provider.name,
      model,
      deployment: deployment.name,
      reason,
      startedAt: performance.now(),
      wasSent: false,
      failure: null,
      endedAt: null,
    };
    this.attempts.push(note);
    return note;
  }

  /** How many attempts were sent to a provider. Those that still run are among them, in contrast to `calls`. */
  countSent(): number {
    let sent = 0;
    for (const { wasSent } of this.attempts) if (wasSent) sent++;
    return sent;
  }

  /** The last attempt began to stream its answer and failed before the end. */
  broke(failure: ErrorCode): void {
    const last = this.attempts.at(-1);
    if (last === undefined) return;
    last.failure = failure;
    last.endedAt = performance.now();
  }

  /** The Server-Timing header: the duration of each step that was taken, in milliseconds. */
  toServerTiming(now: number): string {
    return (
      `queue;dur=${toHundredths(this.queueMs)}` +
      toStep(", auth;dur=", this.startedAt, this.authorizedAt) +
      toStep(", read;dur=", this.authorizedAt, this.readAt) +
      toStep(", route;dur=", this.readAt, this.routedAt) +
      toStep(", connect;dur=", this.sentAt, this.connectedAt) +
      toStep(", provider;dur=", this.sentAt, this.firstByteAt) +
      toStep(", transform;dur=", this.firstByteAt, now) +
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

function addKnown(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : one + other;
}

/** Empty for a step that was not taken. A step of an earlier attempt ended before this one began. */
function toStep(start: string, from: number, to: number): string {
  return to >= from && from > 0 ? start + toHundredths(to - from) : "";
}

// Formatting a fraction takes longer than most steps: those of up to ten milliseconds are prepared.
const formatted: readonly string[] = Array.from({ length: 1_000 }, (_, index) => String(index / 100));

function toHundredths(milliseconds: number): string {
  const hundredths = Math.round(milliseconds * 100);
  return formatted[hundredths] ?? String(hundredths / 100);
}
