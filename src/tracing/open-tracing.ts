// Decides whether traces are exported, and loads the SDK only then: without a collector it costs neither memory nor time.

import type { Tracing } from "./span.ts";
import type { TracingOptions, TracingSettings } from "./tracing-settings.ts";

/** Null: traces are not exported. */
export async function openTracing(settings: TracingSettings, options: TracingOptions): Promise<Tracing | null> {
  const url = findAddress(settings);
  if (url === null || settings.otelSdkDisabled) return null;
  const { startTracing } = await import("./sdk.ts");
  return await startTracing({ ...settings, url }, options);
}

/** The address that receives traces: as it is written, or below the address for all signals. */
function findAddress({ otelExporterOtlpEndpoint, otelExporterOtlpTracesEndpoint }: TracingSettings): string | null {
  if (otelExporterOtlpTracesEndpoint !== null) return otelExporterOtlpTracesEndpoint;
  return otelExporterOtlpEndpoint === null ? null : `${otelExporterOtlpEndpoint.replace(/\/+$/, "")}/v1/traces`;
}
