// The context of a request to a provider, whatever its format, and the dependencies that all of these requests share.

import type { CallLimits } from "../access/call-limits.ts";
import type { Caller } from "../access/caller.ts";
import type { JsonScan } from "../lib/json-scan.ts";
import type { Ticker } from "../lib/ticker.ts";
import type { Clocks, Connection } from "../providers/call.ts";
import type { Provider } from "../providers/configure.ts";
import type { HttpClient } from "../providers/http-client.ts";
import type { CandidateLoop } from "./candidate-loop.ts";
import type { Pricing } from "./pricing.ts";
import type { AttemptReport } from "./report.ts";
import type { Trace } from "./trace.ts";

export interface RequestContext {
  readonly caller: Caller;
  readonly connection: Connection;
  readonly requestId: string;
  readonly trace: Trace;
  /** The caller requested the `switchyard` member. */
  readonly wantsMetadata: boolean;
  /** The body as its schema returns it, of a request that has one. */
  readonly request?: unknown;
  /** The task that an engine performs with this call to a model; absent for a request of a caller. */
  readonly work?: { readonly task: string; readonly jobId: string | null };
}

/** Reads the `switchyard` member at the end of a stream; null: the caller did not request it. */
export function toMetadataReader({
  wantsMetadata,
  trace,
  requestId,
}: Pick<RequestContext, "wantsMetadata" | "trace" | "requestId">): (() => Record<string, unknown>) | null {
  return wantsMetadata ? () => trace.toMetadata(requestId) : null;
}

/** A request whose body is JSON. */
export interface JsonRequest<Body> extends RequestContext {
  /** The body as its schema returns it. */
  readonly request: Body;
  /** The body as it was received. */
  readonly text: string;
  readonly scan: JsonScan;
}

export interface CallDependencies {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly candidateLoop: CandidateLoop;
  readonly pricing: Pricing;
  readonly callLimits: CallLimits;
  /** The output tokens that are reserved for a call that sets no limit itself. */
  readonly outputTokensToReserve: number;
  readonly clocks: Clocks;
  readonly ticker: Ticker;
  readonly http: HttpClient;
  /** Fires when the time for a graceful shutdown is over. */
  readonly shutdownSignal: AbortSignal;
  /** Throws a 503 while no further calls can be recorded. Called before a provider is. */
  readonly checkLedger: () => void;
  /** Called exactly once for every attempt that was sent to a provider. */
  readonly report: (attempt: AttemptReport) => void;
}
