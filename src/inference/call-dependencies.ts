// What every call of a provider needs of the house around it.

import type { Ticker } from "../lib/ticker.ts";
import type { Clocks } from "../providers/call.ts";
import type { HttpClient } from "../providers/http-client.ts";
import type { AttemptReport } from "./report.ts";

export interface CallDependencies {
  readonly clocks: Clocks;
  readonly ticker: Ticker;
  readonly http: HttpClient;
  /** Fires when the gateway goes down and can wait no longer. */
  readonly shutdownSignal: AbortSignal;
  /** Told once of every attempt that reached a provider. */
  readonly report: (attempt: AttemptReport) => void;
}
