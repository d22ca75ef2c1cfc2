// What the export of traces depends on.

import type { Log } from "../log.ts";
import type { Metrics } from "../metrics/metrics.ts";

/** The settings that OpenTelemetry defines, and ours. */
export interface TracingSettings {
  readonly otelSdkDisabled: boolean;
  readonly otelExporterOtlpEndpoint: string | null;
  readonly otelExporterOtlpTracesEndpoint: string | null;
  readonly otelExporterOtlpHeaders: string | null;
  readonly otelExporterOtlpProtocol: "http/protobuf" | "http/json";
  readonly otelExporterOtlpTimeout: number;
  readonly otelServiceName: string;
  readonly otelResourceAttributes: string | null;
  readonly otelTracesSampler: SamplerName;
  readonly otelTracesSamplerArg: string | null;
  readonly otelBspScheduleDelay: number;
  readonly otelBspMaxQueueSize: number;
  readonly otelBspMaxExportBatchSize: number;
  readonly traceCallers: boolean;
  readonly traceProviders: readonly string[];
  readonly traceContent: boolean;
  readonly traceContentCharacters: number;
  readonly traceRedact: string | null;
}

export type SamplerName =
  | "always_on"
  | "always_off"
  | "traceidratio"
  | "parentbased_always_on"
  | "parentbased_always_off"
  | "parentbased_traceidratio";

export interface TracingOptions {
  readonly version: string;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "addGauges">;
}
