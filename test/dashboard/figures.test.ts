// Figures that are not known: an amount that is unknown, or a report that was not read, is never shown as zero.

import { expect, test } from "bun:test";
import type { Provider, UsageReport, UsageRow } from "../../src/dashboard/api/types.ts";
import { modelName, periodBefore, sumCosts, sumRows, toCourse } from "../../src/dashboard/lib/usage.ts";
import {
  figuresOf,
  type Health,
  healthOf,
  sourceText,
  sumFigures,
  toFigures,
} from "../../src/dashboard/pages/providers/figures.ts";
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
  expect(sumCosts(rowsOf(...costs))).toBe(sum);
});

test("rows are added, and a call that the caller left is no error", () => {
  const row = { ...amounts, lines: 2, input_tokens: 10, output_tokens: 20, cached_tokens: 5, cost: 1 };
  const rows = [
    ...[undefined, "completed", "caller_left"].map((outcome) => ({ ...row, outcome, average_latency_ms: 30 })),
    ...["provider_error", null].map((outcome) => ({ ...row, outcome, average_latency_ms: null })),
  ] as UsageRow[];
  expect(sumRows(rows)).toEqual({
    ...{ lines: 10, errors: 4, input_tokens: 50, output_tokens: 100, cached_tokens: 25 },
    ...{ cost: 5, latency_ms: 180 },
  });
});

test("the hours of a report are points of a chart, also those without calls", () => {
  const hour = (time: string, lines: number) => ({ ...amounts, hour: `2026-11-01T${time}:00:00Z`, lines, cost: 1 });
  const report = { from: "2026-11-01T00:00:00Z", to: "2026-11-01T03:00:00Z" };
  const { times, sums } = toCourse(report, [hour("01", 2), hour("01", 3)]);
  expect(times.map((time) => new Date(time).getUTCHours())).toEqual([0, 1, 2]);
  expect(sums.map(({ lines }) => lines)).toEqual([0, 5, 0]);
  expect(toCourse(report, [hour("02", 1)]).times).toEqual(times);
  // The first hour of a ledger may lie before the beginning that was asked for.
  expect(toCourse({ ...report, from: "2026-11-01T01:00:00Z" }, [hour("00", 4)]).sums.map(({ lines }) => lines)).toEqual(
    [4, 0, 0],
  );
});

test.each([
  ["24h", "", { from: "48h", to: "24h" }],
  ["7d", "", { from: "14d", to: "7d" }],
  ["7d", "1d", null],
  ["2026-11-01", "", null],
  ["2026-11-01", "2026-11-02", null],
])("the period before the one from %p to %p is %j", (from, to, before) => {
  expect(periodBefore(from, to)).toEqual(before);
});

test.each([
  [{ provider: "openai", model: "gpt-5", task: null }, "openai/gpt-5"],
  [{ provider: "google", model: null, task: "ocr/ocr" }, "google"],
  [{ provider: null, model: undefined, task: "ocr/ocr" }, "ocr/ocr"],
  [{ provider: null, model: null, task: null }, "no provider"],
])("the calls of %j are those of %s", (row, name) => {
  expect(modelName(row as UsageRow)).toBe(name);
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

test("the calls of each provider are counted, and of all of them together", () => {
  const call = (provider: string | null | undefined, outcome: string, latency: number | null = 10) =>
    ({ ...amounts, provider, outcome, lines: 2, cost: 1, average_latency_ms: latency }) as UsageRow;
  const figures = toFigures(
    reportOf([
      ...[call("openai", "completed"), call("openai", "provider_error", null), call("google", "caller_left")],
      ...[call(null, "unknown_model"), call(undefined, "unknown_model")],
    ]),
  );
  expect([...(figures?.keys() ?? [])]).toEqual(["openai", "google"]);
  expect(figuresOf(figures, "openai")).toMatchObject({ lines: 4, errors: 2, cost: 2, latency_ms: 20 });
  expect(figuresOf(figures, "google")).toMatchObject({ lines: 2, errors: 0, cost: 1, latency_ms: 20 });
  expect(figuresOf(figures, "mistral")).toMatchObject({ lines: 0, errors: 0, cost: 0, latency_ms: 0 });
  expect(figuresOf(null, "openai")).toBeNull();
  expect(sumFigures(figures)).toEqual({ lines: 6, errors: 2 });
  expect(sumFigures(null)).toBeNull();
});

const offers = (...states: string[]) => [{ offers: states.map((state) => ({ state })) }];

test.each([
  ["that is not set up", { configured: false }, 0, "none", "Not set up"],
  ["that lacks a setting", { configured: false, missing_setting: "region" }, 0, "none", "Needs region"],
  ["whose circuits are all open", { deployments: offers("open", "half_open") }, 0, "bad", "Circuit open"],
  ["with one open circuit", { deployments: offers("closed", "open") }, 0, "bad", "1 of 2 circuits open"],
  ["with an open circuit in another process", { open_circuits: 1 }, 0, "bad", "Circuit open elsewhere"],
  ["with no open circuit", { open_circuits: 0, deployments: offers("closed") }, 0, "good", "Healthy"],
  ["whose circuits are not known", { open_circuits: null, healthy: true }, 0, "good", "Healthy"],
  ["that is down, seen by a team", { open_circuits: null, healthy: false }, 0, "bad", "Circuit open"],
  ["of whose ten calls one failed", {}, 1, "warning", "Failing calls"],
  ["of whose ten calls none failed", {}, 0, "good", "Healthy"],
])("a provider %s says so", (_, facts, failed, level, text) => {
  const provider = {
    name: "openai",
    configured: true,
    healthy: null,
    missing_setting: null,
    deployments: [],
    ...facts,
  };
  const calls = { ...amounts, provider: "openai", cost: 1 };
  const rows = [
    { ...calls, outcome: "completed", lines: 10 - failed },
    { ...calls, outcome: "provider_error", lines: failed },
  ] as UsageRow[];
  expect(healthOf(provider as unknown as Provider, toFigures(reportOf(rows)))).toEqual({ level, text } as Health);
});

test("a provider is healthy after a single call, or if its circuits say so", () => {
  const provider = { name: "openai", configured: true, healthy: null, missing_setting: null, deployments: [] };
  const rows = [{ ...amounts, provider: "openai", outcome: "completed", cost: 1 }] as UsageRow[];
  expect(healthOf(provider as unknown as Provider, toFigures(reportOf(rows))).text).toBe("Healthy");
  expect(healthOf({ ...provider, healthy: true } as unknown as Provider, null).text).toBe("Healthy");
});

test("the source of credentials is named, also one that the page does not know", () => {
  expect([null, "store", "file", "elsewhere"].map(sourceText)).toEqual([
    ...["None", "Stored here", "switchyard.yaml", "elsewhere"],
  ]);
});

test("a provider has no recent calls only if the report of the last hour says so", () => {
  const provider = { configured: true, healthy: null, missing_setting: null, deployments: [] } as unknown as Provider;
  expect(healthOf(provider, toFigures(reportOf([])))).toEqual({ level: "none", text: "No recent calls" });
  expect(healthOf(provider, null)).toEqual({ level: "none", text: "–" });
});
