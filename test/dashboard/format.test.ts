// Amounts, times and names as the dashboard shows them.

import { describe, expect, test } from "bun:test";
import type { Job, TaskModel } from "../../src/dashboard/api/types.ts";
import {
  formatAgo,
  formatBytes,
  formatCompact,
  formatDate,
  formatMs,
  formatNumber,
  formatPercent,
  formatPrice,
  formatUnitPrice,
  formatUsd,
} from "../../src/dashboard/lib/format.ts";
import { durationOf, performerOf, statusOf, taskOf } from "../../src/dashboard/lib/jobs.ts";
import { formatLowestPrice, formatTaskPrice, pickOffer } from "../../src/dashboard/lib/task-offers.ts";

test("what is not known is a dash, and zero is a value", () => {
  for (const format of [formatNumber, formatCompact, formatPercent, formatUsd, formatPrice, formatMs, formatBytes]) {
    expect([format(null), format(undefined)]).toEqual(["–", "–"]);
    expect(format(0)).toContain("0");
  }
  expect(formatPercent(0 / 0)).toBe("–");
});

test.each([
  [12_345.6, "$12,346"],
  [10_000, "$10,000"],
  [9_999.994, "$9,999.99"],
  [12.4, "$12.40"],
  [0.1, "$0.10"],
  [0, "$0.00"],
  [0.099_44, "$0.0994"],
  [0.003_1, "$0.00310"],
  [0.000_012_345, "$0.0000123"],
  [-12.4, "-$12.40"],
])("%p dollars are shown as %s", (amount, shown) => expect(formatUsd(amount)).toBe(shown));

test("a price that is too small to be written out is shown as an amount", () => {
  expect(formatPrice(1e-7)).toBe(formatUsd(1e-7));
});

test.each([
  [0.000_001_25, "$1.25 / million"],
  [0.001, "$0.00100"],
  [0.000_999, "$999.00 / million"],
  [2, "$2.00"],
  [0, "$0.00"],
])("the price %p of a unit is shown as %s", (amount, shown) => expect(formatUnitPrice(amount)).toBe(shown));

test.each([
  [999.4, "999 ms"],
  [1_000, "1.00 s"],
  [9_999, "10.00 s"],
  [10_000, "10.0 s"],
  [59_949, "59.9 s"],
  [60_000, "1 min 0 s"],
  [125_400, "2 min 5 s"],
])("%p milliseconds are shown as %s", (ms, shown) => expect(formatMs(ms)).toBe(shown));

test.each([
  [0, "0 B"],
  [1, "1 B"],
  [999, "999 B"],
  [1_000, "1.0 KB"],
  [12_345, "12.3 KB"],
  [123_456, "123 KB"],
  [100_000, "100 KB"],
  [5_000_000_000, "5.0 GB"],
  [7e15, "7000 TB"],
])("%p bytes are shown as %s", (bytes, shown) => expect(formatBytes(bytes)).toBe(shown));

test("numbers are short from ten thousand on", () => {
  const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
  for (const count of [10_000, -10_000, 1_234_567]) expect(formatCompact(count)).toBe(short.format(count));
  for (const count of [9_999, -9_999]) expect(formatCompact(count)).toBe(formatNumber(count));
});

describe("a time relative to now", () => {
  const now = Date.parse("2026-11-16T12:00:00Z");
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "narrow" });

  test.each([
    [-59, -59, "second"],
    [-60, -1, "minute"],
    [-300, -5, "minute"],
    [-3_600, -1, "hour"],
    [-86_400, -1, "day"],
    [3 * 86_400, 3, "day"],
    [-30 * 86_400, -1, "month"],
    [-360 * 86_400, -1, "year"],
    [-7_200 * 86_400, -20, "year"],
  ] as const)("of %p seconds is %p in the unit %s", (seconds, amount, unit) => {
    expect(formatAgo(now + seconds * 1_000, now)).toBe(relative.format(amount, unit));
  });
});

test("a date has its year", () => expect(formatDate("2026-11-16T12:00:00")).toContain("2026"));

describe("a job", () => {
  const failed = (message: string) => ({ status: "fail", runs: 1, error: { message } }) as Job;

  test("is named by what happens to it", () => {
    expect(statusOf({ status: "processing", runs: 0, error: null } as Job)).toBe("queued");
    expect(statusOf({ status: "processing", runs: 1, error: null } as Job)).toBe("running");
    expect(statusOf(failed("The job was cancelled."))).toBe("cancelled");
    expect(statusOf(failed("It did not answer."))).toBe("failed");
    expect(statusOf({ status: "fail", runs: 1, error: null } as Job)).toBe("failed");
    expect(statusOf({ status: "success", runs: 1, error: null } as Job)).toBe("success");
  });

  test("is named by its task, and by the model if there is a choice", () => {
    expect(taskOf({ feature: "ocr", subfeature: "ocr" })).toBe("ocr/ocr");
    expect(performerOf({ provider: "google", model: null })).toBe("google");
    expect(performerOf({ provider: "openai", model: "gpt-5" })).toBe("openai/gpt-5");
  });

  test("takes until its end, or until now", () => {
    const created_at = "2026-11-16T12:00:00.000Z";
    expect(durationOf({ created_at, finished_at: "2026-11-16T12:00:01.500Z" })).toBe(1_500);
    const unfinished = durationOf({ created_at: new Date(Date.now() - 60_000).toISOString(), finished_at: null });
    expect(Math.floor(unfinished / 60_000)).toBeGreaterThanOrEqual(1);
  });
});

describe("the offers for a task", () => {
  const offer = (provider: string, configured: boolean, pricing: TaskModel["pricing"] = null) =>
    ({ provider, configured, pricing, model: `text/moderation/${provider}` }) as TaskModel;
  const pick = (offers: readonly TaskModel[], named = "") => pickOffer(offers, "text/moderation", named);

  test("are tried as the address says, or those without an account first and the sandbox last", () => {
    const all = [offer("sandbox", true), offer("openai", true), offer("local", true)];
    expect(pick(all)).toBe("text/moderation/local");
    expect(pick(all, "text/moderation/openai/gpt-5")).toBe("text/moderation/openai/gpt-5");
    expect(pick(all, "text/summarize/openai")).toBe("text/moderation/local");
    expect(pick([offer("sandbox", true), offer("openai", true), offer("local", false)])).toBe("text/moderation/openai");
    const other = { ...offer("sandbox", true), model: "text/moderation/sandbox/other" };
    expect(pick([other, offer("openai", false), offer("sandbox", true)])).toBe("text/moderation/sandbox/other");
    expect(pick([])).toBe("text/moderation/sandbox");
  });

  const price = (amount: number, facts: object = {}) =>
    ({ price: amount, price_unit_quantity: 1, price_unit_type: "page", ...facts }) as NonNullable<TaskModel["pricing"]>;

  test("have prices by one or several units, for the output too", () => {
    expect(formatTaskPrice(null)).toBe("price not known");
    expect(formatTaskPrice(price(0))).toBe("free");
    expect(formatTaskPrice(price(0, { output_price: 0 }))).toBe("free");
    expect(formatTaskPrice(price(1.5))).toBe("$1.50 / page");
    expect(formatTaskPrice(price(1.5, { price_unit_quantity: 100 }))).toBe("$1.50 / 100 pages");
    expect(formatTaskPrice(price(0, { output_price: 2 }))).toBe("$0.00 in, $2.00 out / page");
  });

  test("have a lowest price: of those that can be called, or else of all that cost something", () => {
    const lowest = (...models: TaskModel[]) => formatLowestPrice({ models });
    const cheap = price(1.5, { price_unit_quantity: 1_000 });
    expect(lowest(offer("a", true, price(1)), offer("b", true, cheap))).toBe(`from ${formatTaskPrice(cheap)}`);
    expect(lowest(offer("a", true, price(1)), offer("b", false, cheap))).toBe("$1.00 / page");
    expect(lowest(offer("a", true, price(1)), offer("sandbox", true, price(0)))).toBe("$1.00 / page");
    expect(lowest(offer("a", true, price(1)), offer("local", true, price(0)))).toBe("free");
    expect(lowest(offer("a", false, price(1)), offer("local", false, price(0)))).toBe("$1.00 / page");
    expect(lowest(offer("a", false, price(1)), offer("b", false, price(2)))).toBe("from $1.00 / page");
    expect(lowest(offer("a", true), offer("b", false, cheap))).toBe("not known");
    expect(lowest()).toBe("not known");
  });
});
