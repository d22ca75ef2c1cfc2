// Reads what an operator installs beside the gateway: the dashboard for Grafana, and the alert rules for Prometheus.

import { join } from "node:path";
import { parse } from "yaml";

const root = join(import.meta.dir, "..", "..");

export const deployFolder = join(root, "deploy");

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string }[];
}

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

export async function readDashboard(): Promise<{ readonly panels: readonly Panel[] }> {
  return await Bun.file(join(deployFolder, "grafana", "switchyard.json")).json();
}

/** As Prometheus receives them: Grafana replaces its variables. */
export function listExpressions({ panels }: { readonly panels: readonly Panel[] }, rateInterval = "1m"): string[] {
  return panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll("$__rate_interval", rateInterval).replaceAll("$job", ".*")),
  );
}

export async function readRules(): Promise<readonly AlertRule[]> {
  const text = await Bun.file(join(deployFolder, "prometheus", "switchyard.rules.yml")).text();
  const { groups } = parse(text) as { readonly groups: readonly { readonly rules: readonly AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** Without the endings that the parts of a histogram have. */
export function metricNamesIn(expression: string): string[] {
  return [...expression.matchAll(/\bswitchyard_[a-z_]+/g)].map(([name]) =>
    name.replace(/(?<=_seconds)_(?:bucket|count|sum)$/, ""),
  );
}

/** The first column of the table in docs/metrics.md. */
export async function listDocumentedMetrics(): Promise<ReadonlySet<string>> {
  const text = await Bun.file(join(root, "docs", "metrics.md")).text();
  return new Set([...text.matchAll(/^\| `(switchyard_[a-z_]+)`/gm)].map(([, name = ""]) => name));
}
