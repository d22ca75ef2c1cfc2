// Links from sums to the requests behind them.

import { expect, test } from "bun:test";
import type { UsageRow } from "../../src/dashboard/api/types.ts";
import { linkToModelRequests, linkToRequests, linkWithPeriod } from "../../src/dashboard/lib/links.ts";

const period = { from: "30d", to: "" };

function makeRow(values: Partial<UsageRow>): UsageRow {
  return { provider: null, model: null, task: null, ...values } as UsageRow;
}

test("a link keeps the period", () => {
  expect(linkWithPeriod("/spend", period)).toBe("/spend?from=30d");
  expect(linkWithPeriod("/requests", { from: "2026-11-01", to: "2026-11-03" })).toBe(
    "/requests?from=2026-11-01&to=2026-11-03",
  );
  expect(linkToRequests({ tag: "project=a b" }, period)).toBe("/requests?tag=project%3Da+b&from=30d");
});

test("there is no link to requests without a value, because the list would not be filtered", () => {
  for (const value of [null, undefined, ""]) {
    expect(linkToRequests({ team: value }, period)).toBeUndefined();
    expect(linkToRequests({ outcome: "completed", team: value }, period)).toBeUndefined();
  }
});

test("a row by model leads to the requests of this model of this provider", () => {
  expect(linkToModelRequests(makeRow({ provider: "openai", model: "gpt-5" }), period)).toBe(
    "/requests?provider=openai&model=gpt-5&from=30d",
  );
  expect(linkToModelRequests(makeRow({ provider: "local", task: "ocr/ocr" }), period)).toBe(
    "/requests?provider=local&task=ocr%2Focr&from=30d",
  );
  expect(linkToModelRequests(makeRow({ model: "gpt-5" }), period)).toBeUndefined();
  expect(linkToModelRequests(makeRow({ provider: "openai" }), period)).toBeUndefined();
  expect(linkToModelRequests(makeRow({}), period)).toBeUndefined();
});
