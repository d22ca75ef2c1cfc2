// Percentiles of latencies, from the histograms of each hour.

import type { LatencyRequest } from "../contract/latency.ts";
import { findPercentile } from "../lib/percentile.ts";
import { hourMs } from "../lib/time-units.ts";
import { type LatencyStep, latencyBounds } from "../storage/latencies.ts";
import type { Storage } from "../storage/storage.ts";
import { requireTimeZone, toIso, toReportPeriod } from "./report-period.ts";

export type LatencyReports = ReturnType<typeof createLatencyReports>;

export function createLatencyReports(store: Storage["latencies"], now: () => number = Date.now) {
  return {
    /** For JSON.stringify. */
    async report(request: LatencyRequest) {
      const { from, to } = toReportPeriod(request, requireTimeZone(request.time_zone), now());
      const { team: teams, provider: providers, model: models } = request;
      const stepMs = request.step_hours * hourMs;
      const steps = await store.list({ from, to, stepMs, teams, providers, models });
      return {
        from: toIso(from),
        to: toIso(to),
        steps: steps.map((step) => ({ from: toIso(step.from), ...toFigures([step]) })),
        total: toFigures(steps),
      };
    },
  };
}

function toFigures(steps: readonly LatencyStep[]) {
  return {
    latency: toPercentiles(steps.map(({ calls }) => calls)),
    first_token: toPercentiles(steps.map(({ streams }) => streams)),
  };
}

function toPercentiles(histograms: readonly (readonly number[])[]) {
  const counts = Array.from({ length: latencyBounds.length + 1 }, (_, index) =>
    histograms.reduce((sum, histogram) => sum + (histogram[index] ?? 0), 0),
  );
  const at = (share: number) => {
    const value = findPercentile(latencyBounds, counts, share);
    return value === null ? null : Math.round(value);
  };
  return { count: counts.reduce((sum, count) => sum + count, 0), p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
