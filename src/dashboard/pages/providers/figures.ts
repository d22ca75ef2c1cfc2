// Requests and errors of each provider, from the usage reports.

import type { Provider, ProviderDetail, UsageReport } from "../../api/types.ts";
import { noValue } from "../../lib/format.ts";
import { addCost, emptySums, isError, type Sums } from "../../lib/usage.ts";

export type FiguresByProvider = ReadonlyMap<string, Sums>;

/** Null without a report: then nothing is known, which is not the same as no calls. */
export function toFigures(report: UsageReport | undefined): FiguresByProvider | null {
  if (report === undefined) return null;
  const figures = new Map<string, Sums>();
  for (const row of report.rows) {
    if (row.provider === null || row.provider === undefined) continue;
    const sums = figures.get(row.provider) ?? emptySums();
    sums.lines += row.lines;
    if (isError(row.outcome)) sums.errors += row.lines;
    sums.cost = addCost(sums.cost, row.cost);
    sums.latency_ms += (row.average_latency_ms ?? 0) * row.lines;
    figures.set(row.provider, sums);
  }
  return figures;
}

/** A provider that a report does not have made no calls. Null without a report. */
export function figuresOf(figures: FiguresByProvider | null, name: string): Sums | null {
  return figures === null ? null : (figures.get(name) ?? emptySums());
}

/** Of all providers; null without a report. */
export function sumFigures(figures: FiguresByProvider | null): Pick<Sums, "lines" | "errors"> | null {
  if (figures === null) return null;
  const all = [...figures.values()];
  const sumOf = (name: "lines" | "errors") => all.reduce((sum, one) => sum + one[name], 0);
  return { lines: sumOf("lines"), errors: sumOf("errors") };
}

export type HealthLevel = "good" | "warning" | "bad" | "none";

export interface Health {
  readonly level: HealthLevel;
  readonly text: string;
}

/** What the circuit breakers of the provider say, and where they say nothing, its last calls; null: they are not known. */
export function healthOf(provider: Provider | ProviderDetail, lastHour: FiguresByProvider | null): Health {
  const { configured, healthy, missing_setting, deployments } = provider;
  if (!configured) return { level: "none", text: missing_setting === null ? "Not set up" : `Needs ${missing_setting}` };
  const states = deployments.flatMap(({ offers }) => offers.map(({ state }) => state));
  const open = states.filter((state) => state !== "closed").length;
  if (open > 0 && open === states.length) return { level: "bad", text: "Circuit open" };
  if (open > 0) return { level: "bad", text: `${open} of ${states.length} circuits open` };
  // Each process has circuits of its own.
  if ("open_circuits" in provider && (provider.open_circuits ?? 0) > 0)
    return { level: "bad", text: "Circuit open elsewhere" };
  // A role that is limited to a team is told this, and not which circuits.
  if (healthy === false) return { level: "bad", text: "Circuit open" };
  const { lines, errors } = lastHour?.get(provider.name) ?? emptySums();
  if (lines > 0 && errors / lines >= failingShare) return { level: "warning", text: "Failing calls" };
  if (healthy !== null || lines > 0) return { level: "good", text: "Healthy" };
  return { level: "none", text: lastHour === null ? noValue : "No recent calls" };
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
