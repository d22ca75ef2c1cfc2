// Requests and errors of each provider, from the usage reports.

import type { Provider, ProviderDetail, UsageReport } from "../../api/types.ts";
import { emptySums, isError, type Sums } from "../../lib/usage.ts";

export type FiguresByProvider = ReadonlyMap<string, Sums>;

export function toFigures(report: UsageReport | undefined): FiguresByProvider {
  const figures = new Map<string, Sums>();
  for (const row of report?.rows ?? []) {
    if (row.provider === null || row.provider === undefined) continue;
    const sums = figures.get(row.provider) ?? emptySums();
    sums.lines += row.lines;
    if (isError(row.outcome)) sums.errors += row.lines;
    sums.cost += row.cost ?? 0;
    sums.latency_ms += (row.average_latency_ms ?? 0) * row.lines;
    figures.set(row.provider, sums);
  }
  return figures;
}

export type HealthLevel = "good" | "warning" | "bad" | "none";

export interface Health {
  readonly level: HealthLevel;
  readonly text: string;
}

/** What the circuit breakers of the provider say, and where they say nothing, its last calls. */
export function healthOf(provider: Provider | ProviderDetail, lastHour: Sums | undefined): Health {
  const { configured, healthy, missing_setting, deployments } = provider;
  if (!configured) return { level: "none", text: missing_setting === null ? "Not set up" : `Needs ${missing_setting}` };
  const states = deployments.flatMap(({ offers }) => offers.map(({ state }) => state));
  const open = states.filter((state) => state !== "closed").length;
  if (open > 0 && open === states.length) return { level: "bad", text: "Circuit open" };
  if (open > 0) return { level: "bad", text: `${open} of ${states.length} circuits open` };
  // Each process has circuits of its own.
  if ("open_circuits" in provider && (provider.open_circuits ?? 0) > 0)
    return { level: "bad", text: "Circuit open elsewhere" };
  const share = lastHour === undefined || lastHour.lines === 0 ? 0 : lastHour.errors / lastHour.lines;
  if (share >= failingShare) return { level: "warning", text: "Failing calls" };
  return healthy === null && (lastHour?.lines ?? 0) === 0
    ? { level: "none", text: "No recent calls" }
    : { level: "good", text: "Healthy" };
}

const failingShare = 0.1;

const sources: ReadonlyMap<string, string> = new Map([
  ["store", "Stored here"],
  ["file", "switchyard.yaml"],
  ["environment", "Environment"],
  ["default", "Default"],
]);

export function sourceText(kind: string | null): string {
  return kind === null ? "None" : (sources.get(kind) ?? kind);
}
