// What the supervisor and the processes that it starts send each other.

import type { GatewayIdentity } from "../access/rate-shares.ts";
import type { CounterFile } from "../access/shared-counters.ts";
import type { ConfigSnapshot } from "../config.ts";
import type { GatewayStatus } from "../contract/health.ts";
import type { HandoverMessage, HandoverPlace, HandoverReport } from "../lib/handover.ts";
import type { MetricsMessage, MetricsReport } from "../metrics/metrics-link.ts";

export type ProcessKind = "serving" | "worker";
export type ProcessCounts = Readonly<Record<ProcessKind, number>>;

/** The first message to a process. */
export interface ProcessOrder {
  readonly config: ConfigSnapshot;
  /** Where the engine process listens. */
  readonly engineSocket: string;
  /** The counters that all processes share; null when there is no room for this process. */
  readonly counters: CounterFile | null;
  /** How other gateways on the same database know this one. */
  readonly gateway: GatewayIdentity;
  /** For a serving process. */
  readonly handover: HandoverPlace;
}

/** What a process receives from its supervisor, the order first. `serve`: it may listen, or take jobs. */
export type ProcessMessage =
  | ProcessOrder
  | "serve"
  | MetricsMessage
  | HandoverMessage
  | { readonly status: GatewayStatus; readonly id: number };

/** What a process reports to its supervisor. */
export type ProcessReport =
  | MetricsReport
  | HandoverReport
  | { readonly state: "wants-status"; readonly id: number }
  /** A worker process takes no further jobs. */
  | { readonly state: "stopping" }
  /** The process is complete and waits for permission to listen or to take jobs. */
  | { readonly state: "prepared" }
  | { readonly state: "ready"; readonly summary?: StartSummary | undefined }
  | ({ readonly state: "failed" } & StartFailure)
  /** The engine process does not run. It is started on demand, because many gateways never need it. */
  | { readonly state: "needs-engines" };

/** What the operator is told about a start. */
export interface StartSummary {
  /** The names of the configured providers. */
  readonly providers: readonly string[];
  /** The paths of the pages for people. */
  readonly pages: readonly string[];
}

export interface StartFailure {
  readonly message: string;
  /** A setting is wrong. */
  readonly isConfiguration: boolean;
  /** Another attempt may succeed, because the store did not answer in time. */
  readonly isTemporary?: boolean;
}
