// The forecast of a month.

import { expect, test } from "bun:test";
import { forecastMonth } from "../../src/dashboard/pages/spend/forecast.ts";

const days = (from: string, costs: readonly number[]) =>
  costs.map((cost, index) => {
    const date = new Date(`${from}T00:00`);
    date.setDate(date.getDate() + index);
    return { time: date.getTime(), cost };
  });

test("the rest of the month continues at the pace of the last seven whole days", () => {
  // Three days at 80, seven at 10, then today with 3 so far; 19 days of November are left after today.
  const spent = days("2026-11-01", [...Array(3).fill(80), ...Array(7).fill(10), 3]);
  expect(forecastMonth(spent, new Date("2026-11-11T09:00"))).toBe(3 * 80 + 7 * 10 + 10 + 19 * 10);
});

test("a day that has already cost more than the pace counts as it is", () => {
  const spent = days("2026-11-01", [...Array(10).fill(10), 35]);
  expect(forecastMonth(spent, new Date("2026-11-11T09:00"))).toBe(100 + 35 + 190);
});

test("days before the month count for the pace, not for the sum", () => {
  const spent = days("2026-10-25", [7, 7, 7, 7, 7, 7, 7, 0]);
  expect(forecastMonth(spent, new Date("2026-11-01T12:00"))).toBe(30 * 7);
});

test("without a whole day there is no forecast", () => {
  expect(forecastMonth([], new Date("2026-11-11T09:00"))).toBeNull();
  expect(forecastMonth(days("2026-11-11", [5]), new Date("2026-11-11T09:00"))).toBeNull();
});
