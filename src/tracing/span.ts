// A span as the gateway sees it. Code that makes spans depends on this file alone: the SDK is loaded only where traces are exported.

import type { ContentRules } from "./content.ts";

export type SpanKind = "server" | "client" | "consumer" | "internal";
export type AttributeValue = string | number | boolean | readonly string[];
/** Undefined members are left out. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

export interface SpanStart {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  /** In the milliseconds of `performance.now()`; absent: now. */
  readonly startedAt?: number;
}

/** The host of a URL as `server.address`, where an IPv6 address has no brackets. */
export function toServerAddress({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

/** The context of a span in the form of W3C Trace Context, https://www.w3.org/TR/trace-context/ */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string;
}

export interface Span {
  /** False: the trace is not sampled. The span has a context, and is not exported. */
  readonly isRecorded: boolean;
  /** Names this span as the parent. */
  readonly headers: TraceHeaders;
  /** Null: prompts and answers are not recorded. */
  readonly content: ContentRules | null;
  child(start: SpanStart): Span;
  set(attributes: Attributes): void;
  /** `error`: the code of the failure; null when there was none. */
  end(error: string | null): void;
  /** Header lines that pass the context on to this provider; empty for a provider that does not receive it. */
  linesFor(provider: string): string;
}

export interface Tracing {
  /** `parent`: the context that the caller sent, or that was stored with a job. */
  start(start: SpanStart, parent: TraceHeaders | null): Span;
  /** The context of a request, if contexts of callers are continued. */
  readCaller(headers: Headers): TraceHeaders | null;
  /** Exports what is left, within a few seconds. */
  close(): Promise<void>;
}
