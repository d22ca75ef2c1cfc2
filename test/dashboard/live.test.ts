// Rates and percentiles between two readings of the live counters.

import { expect, test } from "bun:test";
import { toHistory, toPoint } from "../../src/dashboard/pages/overview/live.ts";
import { findPercentile } from "../../src/lib/percentile.ts";

const empty = { bounds_ms: [100, 1_000], counts: [0, 0, 0] };
const reading = {
  ...{ time: "2026-11-16T12:00:00.000Z", requests: 100, errors: 1, attempts: 100, failed_attempts: 1 },
  ...{ input_tokens: 1_000, output_tokens: 500, cost: 1, latency: empty, first_token: empty },
};

test("the difference between two readings is shown per second", () => {
  const later = {
    ...reading,
    ...{ time: "2026-11-16T12:00:02.000Z", requests: 120, errors: 3, attempts: 120, output_tokens: 700, cost: 1.5 },
    latency: { bounds_ms: [100, 1_000], counts: [10, 10, 0] },
  };
  const point = toPoint(reading, later);
  expect(point).toMatchObject({ requestsPerSecond: 10, errorsPerSecond: 1, tokensPerSecond: 100, usdPerMinute: 15 });
  expect(point?.p50).toBe(100);
  expect(point?.p95).toBeCloseTo(910);
  expect(point?.firstToken50).toBeNull();
});

test("a restart of a process gives no point", () => {
  expect(toPoint(reading, { ...reading, time: "2026-11-16T12:00:02.000Z", requests: 5 })).toBeNull();
  expect(toPoint(reading, reading)).toBeNull();
});

test("a time without requests has zeros, and no percentiles", () => {
  const later = { ...reading, time: "2026-11-16T12:00:02.000Z" };
  expect(toPoint(reading, later)).toMatchObject({
    ...{ requestsPerSecond: 0, errorsPerSecond: 0, tokensPerSecond: 0, usdPerMinute: 0 },
    ...{ p50: null, p95: null, p99: null, firstToken95: null },
  });
});

test("only latencies after the first reading count, and those of a process that is gone give no point", () => {
  const latencies = (...counts: number[]) => ({ bounds_ms: [100, 1_000], counts });
  const later = { ...reading, time: "2026-11-16T12:00:02.000Z", latency: latencies(0, 9, 0) };
  expect(toPoint({ ...reading, latency: latencies(8, 0, 0) }, later)).toBeNull();
  expect(toPoint({ ...reading, latency: latencies(0, 8, 0) }, later)?.p50).toBe(550);
  expect(toPoint({ ...reading, first_token: latencies(0, 1, 0) }, later)).toBeNull();
  // Before the first value, a histogram has neither bounds nor counts.
  const none = { bounds_ms: [], counts: [] };
  expect(toPoint({ ...reading, latency: none, first_token: none }, later)?.p50).toBe(550);
});

test("percentiles are interpolated within a bucket, and a value above the last bound counts as the bound", () => {
  expect(findPercentile([10, 20], [0, 4, 0], 0.5)).toBe(15);
  expect(findPercentile([10, 20], [0, 0, 3], 0.99)).toBe(20);
  expect(findPercentile([10, 20], [0, 0, 0], 0.5)).toBeNull();
});

const to = Date.parse("2026-11-16T12:00:00.000Z");
const from = to - 60_000;
const line = (secondsAgo: number, request_id: string, outcome = "completed", count = 1) => ({
  time: new Date(to - secondsAgo * 1_000).toISOString(),
  ...{ request_id, outcome, count },
});

test("the minutes before the first reading are counted from the ledger, a request once", () => {
  const lines = [
    line(3, "c", "rate_limit_exceeded", 5),
    line(12, "b"),
    line(14, "b", "provider_error"),
    line(15, "a", "provider_timeout"),
  ];
  const history = toHistory({ from, to, lines, hasMore: false, totals: { lines: 8, errors: 7 } });
  expect(history.map(({ time }) => (to - time) / 1_000)).toEqual([50, 40, 30, 20, 10, 0]);
  expect(history.map(({ requestsPerSecond }) => requestsPerSecond)).toEqual([0, 0, 0, 0, 0.2, 0.5]);
  expect(history.map(({ errorsPerSecond }) => errorsPerSecond)).toEqual([0, 0, 0, 0, 0.1, 0.5]);
});

test("without lines in the ledger, the minutes before the first reading have zeros", () => {
  const history = toHistory({ from, to, lines: [], hasMore: false, totals: { lines: 0, errors: 0 } });
  expect(history.map(({ requestsPerSecond }) => requestsPerSecond)).toEqual([0, 0, 0, 0, 0, 0]);
});

test("totals that are older than the lines give no negative rate", () => {
  const lines = [line(5, "a", "provider_error"), line(15, "b", "provider_error")];
  const history = toHistory({ from, to, lines, hasMore: true, totals: { lines: 1, errors: 1 } });
  expect(history[0]).toMatchObject({ requestsPerSecond: 0, errorsPerSecond: 0 });
});

test("ten seconds of which all lines were read have their own rate, not the mean", () => {
  const lines = [line(5, "a"), line(20, "b")];
  const history = toHistory({ from, to, lines, hasMore: true, totals: { lines: 82, errors: 40 } });
  expect(history.map(({ requestsPerSecond }) => requestsPerSecond)).toEqual([2, 2, 2, 2, 0, 0.1]);
  expect(history.map(({ errorsPerSecond }) => errorsPerSecond)).toEqual([1, 1, 1, 1, 0, 0]);
});

test("the time of lines that were not read has their mean", () => {
  const lines = Array.from({ length: 200 }, (_, index) => line(index / 10, String(index)));
  const history = toHistory({ from, to, lines, hasMore: true, totals: { lines: 600, errors: 40 } });
  const rates = history.map(({ requestsPerSecond }) => Math.round(requestsPerSecond));
  expect(rates).toEqual([10, 10, 10, 10, 10, 10]);
  expect(history[0]?.errorsPerSecond).toBeCloseTo(1, 1);
  expect(history.at(-1)?.errorsPerSecond).toBe(0);
});
