// Percentiles of latencies, from the histograms of each hour.

import type { LatencyRequest } from "../contract/latency.ts";
import { findPercentile } from "../lib/percentile.ts";
import { dayMs, hourMs } from "../lib/time-units.ts";
import type { TimeZone } from "../lib/time-zone.ts";
import { type LatencyQuery, type LatencyStep, latencyBounds } from "../storage/latencies.ts";
import type { Storage } from "../storage/storage.ts";
import { type Period, requireTimeZone, toIso, toReportPeriod } from "./report-period.ts";

export type LatencyReports = ReturnType<typeof createLatencyReports>;

type Filters = Pick<LatencyQuery, "teams" | "providers" | "models">;

/** The hours of a long report are read in parts, between which the store answers other operations. */
const partMs = 30 * dayMs;

export function createLatencyReports(store: Storage["latencies"], now: () => number = Date.now) {
  async function listDays({ from, to }: Period, zone: TimeZone, filters: Filters): Promise<LatencyStep[]> {
    const byDay = new Map<number, LatencyStep>();
    for (let start = from; start < to; start += partMs) {
      const part = { from: start, to: Math.min(start + partMs, to), stepMs: hourMs };
      for (const { from: hour, calls, streams } of await store.list({ ...part, ...filters })) {
        const day = zone.dayAt(hour);
        const sums = byDay.get(day) ?? { from: Math.max(from, zone.startOf(day)), calls: [], streams: [] };
        byDay.set(day, { ...sums, calls: addCounts(sums.calls, calls), streams: addCounts(sums.streams, streams) });
      }
    }
    return [...byDay.values()];
  }

  return {
    /** For JSON.stringify. */
    async report(request: LatencyRequest) {
      const zone = requireTimeZone(request.time_zone);
      const { from, to } = toReportPeriod(request, zone, now());
      const filters: Filters = { teams: request.team, providers: request.provider, models: request.model };
      const steps =
        request.step === "day"
          ? await listDays({ from, to }, zone, filters)
          : await store.list({ from, to, stepMs: request.step_hours * hourMs, ...filters });
      return {
        from: toIso(from),
        to: toIso(to),
        steps: steps.map((step) => ({ from: toIso(step.from), ...toFigures([step]) })),
        total: toFigures(steps),
      };
    },
  };
}

function addCounts(sums: readonly number[], counts: readonly number[]): number[] {
  return counts.map((count, index) => count + (sums[index] ?? 0));
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
