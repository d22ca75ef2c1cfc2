// Percentiles of latencies over HTTP.

import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { latencyQuery } from "../../src/contract/latency.ts";
import { createLatencyReports } from "../../src/usage/latency.ts";
import { makeLine } from "../support/ledger-lines.ts";
import { openTestStorage } from "../support/open-test-storage.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

const gateway = await sharedGateway();

interface Percentiles {
  readonly count: number;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

interface Report {
  readonly steps: readonly {
    readonly from: string;
    readonly latency: Percentiles;
    readonly first_token: Percentiles;
  }[];
  readonly total: { readonly latency: Percentiles; readonly first_token: Percentiles };
}

const read = async (query = "") => (await gateway.manage("GET", `/latency${query}`)) as Report;

async function call(key: string, body: object): Promise<void> {
  const response = await fetch(`${gateway.url}/v3/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "Hi" }], ...body }),
  });
  await response.text();
}

test("completed calls and streams are counted, refused ones are not", async () => {
  expect((await read()).total).toEqual({
    latency: { count: 0, p50: null, p95: null, p99: null },
    first_token: { count: 0, p50: null, p95: null, p99: null },
  });
  await gateway.manage("POST", "/teams", { name: "measured" });
  const key = await gateway.createKey({ name: "measured", team: "measured" } as object);
  await call(key, { model: "mock/m" });
  await call(key, { model: "mock/m", stream: true });
  await call(key, { model: "unknown/m" });
  const report = await waitFor("both calls", async () => {
    const found = await read("?team=measured&from=24h&step_hours=1");
    return found.total.latency.count >= 2 ? found : null;
  });
  expect(report.total.latency.count).toBe(2);
  expect(report.total.first_token.count).toBe(1);
  const { p50, p95, p99 } = report.total.latency;
  expect(p50).toBeGreaterThan(0);
  expect(p95).toBeGreaterThanOrEqual(p50 ?? 0);
  expect(p99).toBeGreaterThanOrEqual(p95 ?? 0);
  expect(report.steps.length).toBeGreaterThan(0);
  expect((await read("?team=others")).total.latency.count).toBe(0);
  expect((await read("?model=mock/m")).total.latency.count).toBe(2);
  expect((await read("?provider=mock2")).total.latency.count).toBe(0);
});

test("steps are at least an hour long", async () => {
  await expect(gateway.manage("GET", "/latency?step_hours=0")).rejects.toThrow("greater_than_equal");
});

const daysOfZones = [
  {
    what: "in a zone whose midnight is not a whole hour in UTC, an hour belongs to the day in which it begins",
    query: { from: "2026-11-02", to: "2026-11-04", time_zone: "Asia/Kolkata" },
    calls: ["2026-11-02T23:20+05:30", "2026-11-03T00:40+05:30", "2026-11-03T12:00+05:30", "2026-11-04T12:00+05:30"],
    days: { "2026-11-01T18:30:00.000Z": 1, "2026-11-02T18:30:00.000Z": 2, "2026-11-03T18:30:00.000Z": 1 },
  },
  {
    what: "the day on which clocks go forward has 23 hours, and later days begin at midnight",
    query: { from: "2026-03-28", to: "2026-03-30", time_zone: "Europe/Berlin" },
    calls: ["2026-03-28T23:30+01:00", "2026-03-29T00:30+01:00", "2026-03-29T23:30+02:00", "2026-03-30T00:30+02:00"],
    days: { "2026-03-27T23:00:00.000Z": 1, "2026-03-28T23:00:00.000Z": 2, "2026-03-29T22:00:00.000Z": 1 },
  },
  {
    what: "a day whose midnight is skipped begins at one o'clock",
    query: { from: "2026-04-23", to: "2026-04-25", time_zone: "Africa/Cairo" },
    calls: ["2026-04-23T23:30+02:00", "2026-04-24T01:30+03:00", "2026-04-25T00:30+03:00"],
    days: { "2026-04-22T22:00:00.000Z": 1, "2026-04-23T22:00:00.000Z": 1, "2026-04-24T21:00:00.000Z": 1 },
  },
  {
    what: "the first day begins where the report begins",
    query: { from: "2026-11-02T12:10:00Z", to: "2026-11-03T12:00:00Z", time_zone: "UTC" },
    calls: ["2026-11-02T11:59Z", "2026-11-02T12:05Z", "2026-11-03T11:59Z"],
    days: { "2026-11-02T12:00:00.000Z": 1, "2026-11-03T00:00:00.000Z": 1 },
  },
];

for (const { what, query, calls, days } of daysOfZones)
  test(`steps of a day: ${what}`, async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "switchyard-latency-"));
    const storage = await openTestStorage({ dataDir });
    try {
      const lines = calls.map((time) => ({ ...makeLine({ time: Date.parse(time) }), cost_pico: 0, counted_pico: 0 }));
      const withoutNull = (_: string, value: unknown) => value ?? undefined;
      await storage.ledger.append({ lines: JSON.stringify(lines, withoutNull), processId: "test" });
      const reports = createLatencyReports(storage.latencies);
      const { steps, total } = await reports.report(latencyQuery.parse({ ...query, step: "day" }));
      expect(Object.fromEntries(steps.map((step) => [step.from, step.latency.count]))).toEqual(days);
      expect(total.latency.count).toBe(Object.values(days).reduce((sum, count) => sum + count, 0));
    } finally {
      await storage.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
