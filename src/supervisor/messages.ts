// The messages between the supervisor and the processes that it starts.

import type { GatewayIdentity } from "../access/rate-shares.ts";
import type { CounterFile } from "../access/shared-counters.ts";
import type { ConfigSnapshot } from "../config.ts";
import type { GatewayStatus } from "../contract/health.ts";
import type { HandoverAddress, HandoverMessage, HandoverReport } from "../lib/handover.ts";
import type { MetricsMessage, MetricsReport } from "../metrics/metrics-link.ts";

export type ProcessKind = "serving" | "worker";
export type ProcessCounts = Readonly<Record<ProcessKind, number>>;

/** The first message to a process. */
export interface StartMessage {
  readonly config: ConfigSnapshot;
  /** The path of the socket on which the engine process listens. */
  readonly engineSocket: string;
  /** The counters that the processes share. Null for the engine process, and when all slots are taken: the process then counts alone. */
  readonly counters: CounterFile | null;
  /** Identifies this gateway to others on the same database. */
  readonly gateway: GatewayIdentity;
  /** Only serving processes use it. */
  readonly handover: HandoverAddress;
}

/** From the supervisor to a process. */
export type ProcessMessage =
  | StartMessage
  /** The process may listen, or take jobs. */
  | "serve"
  | MetricsMessage
  | HandoverMessage
  /** The answer to `wants-status` with the same id. */
  | { readonly status: GatewayStatus; readonly id: number };

/** From a process to the supervisor. */
export type ProcessReport =
  | MetricsReport
  | HandoverReport
  | { readonly state: "wants-status"; readonly id: number }
  /** A worker process takes no further jobs. */
  | { readonly state: "stopping" }
  /** The process is set up, and waits for `serve`. */
  | { readonly state: "prepared" }
  | { readonly state: "ready"; readonly summary?: StartSummary | undefined }
  | ({ readonly state: "failed" } & StartFailure)
  /** Asks for the engine process, which is started on demand, because many gateways never need it. */
  | { readonly state: "needs-engines" };

/** What the operator is told when the gateway has started. */
export interface StartSummary {
  /** The names of the configured providers. */
  readonly providers: readonly string[];
  /** The paths of the pages for people, such as `/dashboard`. */
  readonly pages: readonly string[];
}

export interface StartFailure {
  readonly message: string;
  /** A setting is wrong. */
  readonly isConfiguration: boolean;
  /** Another attempt may succeed: the store did not answer in time, or the system refused or killed the process. */
  readonly isTemporary?: boolean;
}
