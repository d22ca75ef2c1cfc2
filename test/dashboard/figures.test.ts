// Figures that are not known: an amount that is unknown, or a report that was not read, is never shown as zero.

import { expect, test } from "bun:test";
import type { Provider, UsageReport, UsageRow } from "../../src/dashboard/api/types.ts";
import { sumRows, toCourse } from "../../src/dashboard/lib/usage.ts";
import { healthOf, toFigures } from "../../src/dashboard/pages/providers/figures.ts";
import { figuresOfTeam } from "../../src/dashboard/pages/teams/figures.ts";

const amounts = {
  ...{ lines: 1, input_tokens: 0, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost_unknown: 0 },
  ...{ average_latency_ms: 1, average_first_token_ms: null },
};

const rowsOf = (...costs: (number | null)[]): UsageRow[] => costs.map((cost) => ({ ...amounts, cost }));

const reportOf = (rows: UsageRow[]): UsageReport => ({
  ...{ from: "2026-11-01T00:00:00Z", to: "2026-11-02T00:00:00Z", time_zone: "UTC", group_by: [], rows },
  ...{ row_count: rows.length, totals: { ...amounts, cost: null } },
});

test.each([
  [[], 0],
  [[0], 0],
  [[null], null],
  [[null, null], null],
  [[null, 0], null],
  [[0, null], null],
  [[null, 2], 2],
  [[2, null], 2],
  [[2, null, 3, 0], 5],
] as const)("the sum of costs %j is %j, as in a report", (costs, sum) => {
  expect(sumRows(rowsOf(...costs)).cost).toBe(sum);
});

test("a day whose calls have no price has no point in a chart of spend, and a day without calls has a zero", () => {
  const rows = [{ ...amounts, day: "2026-11-02", cost: null }];
  const { sums } = toCourse({ from: "2026-11-01T00:00:00Z", to: "2026-11-03T00:00:00Z" }, rows);
  expect(sums.map(({ cost }) => cost)).toEqual([0, null]);
});

test("a team has zeros only in a report that was read and has no calls of it", () => {
  const report = reportOf([{ ...amounts, team: "unpriced", lines: 3, cost: null }]);
  expect(figuresOfTeam(undefined, "quiet")).toEqual({ cost: null, lines: null });
  expect(figuresOfTeam(report, "quiet")).toEqual({ cost: 0, lines: 0 });
  expect(figuresOfTeam(report, "unpriced")).toEqual({ cost: null, lines: 3 });
});

test("the figures of providers are unknown until the report was read", () => {
  expect(toFigures(undefined)).toBeNull();
  expect(toFigures(reportOf([]))).toEqual(new Map());
});

test("a provider has no recent calls only if the report of the last hour says so", () => {
  const provider = { configured: true, healthy: null, missing_setting: null, deployments: [] } as unknown as Provider;
  expect(healthOf(provider, toFigures(reportOf([])))).toEqual({ level: "none", text: "No recent calls" });
  expect(healthOf(provider, null)).toEqual({ level: "none", text: "–" });
});
