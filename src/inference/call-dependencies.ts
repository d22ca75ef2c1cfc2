// Shared dependencies of every provider call.

import type { Ticker } from "../lib/ticker.ts";
import type { Clocks } from "../providers/call.ts";
import type { HttpClient } from "../providers/http-client.ts";
import type { CandidateLoop } from "./candidate-loop.ts";
import type { Pricing } from "./pricing.ts";
import type { AttemptReport } from "./report.ts";

export interface CallDependencies {
  readonly candidateLoop: CandidateLoop;
  readonly pricing: Pricing;
  readonly clocks: Clocks;
  readonly ticker: Ticker;
  readonly http: HttpClient;
  /** Fires when the time for a graceful shutdown is over. */
  readonly shutdownSignal: AbortSignal;
  /** Called exactly once for every attempt that was sent to a provider. */
  readonly report: (attempt: AttemptReport) => void;
}
