// The periods of budgets, in time zones whose clocks change at every awkward moment.

import { describe, expect, test } from "bun:test";
import { findLimit, findPeriod } from "../../src/access/budget-periods.ts";

const periods = ["daily", "weekly", "monthly"] as const;
const zones = [
  ...["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Kiritimati", "Pacific/Pago_Pago"],
  // Clocks skip midnight, go back over midnight, change by half an hour, or the zone skipped a whole day.
  ...["America/Sao_Paulo", "Asia/Beirut", "Africa/Cairo", "America/Havana", "America/St_Johns"],
  ...["Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "America/Asuncion"],
];

function periodOf(period: "daily" | "weekly" | "monthly", time_zone: string, at: string) {
  const { start, end } = findPeriod({ period, time_zone }, Date.parse(at));
  return [new Date(start).toISOString(), new Date(end).toISOString()];
}

/** Numbers from 0 to 1 that are the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

describe("the period that contains an instant", () => {
  test.each([
    ["daily", "UTC", "2026-02-28T23:59:59.999Z", "2026-02-28T00:00:00.000Z", "2026-03-01T00:00:00.000Z"],
    ["weekly", "UTC", "2026-03-01T12:00:00Z", "2026-02-23T00:00:00.000Z", "2026-03-02T00:00:00.000Z"],
    ["monthly", "UTC", "2024-02-29T12:00:00Z", "2024-02-01T00:00:00.000Z", "2024-03-01T00:00:00.000Z"],
    ["monthly", "UTC", "2025-12-31T23:59:59Z", "2025-12-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z"],
    // 23 and 25 hours.
    ["daily", "Europe/Berlin", "2026-03-29T10:00:00Z", "2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"],
    ["daily", "Europe/Berlin", "2026-10-25T10:00:00Z", "2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"],
    ["monthly", "America/New_York", "2026-03-01T04:59:59Z", "2026-02-01T05:00:00.000Z", "2026-03-01T05:00:00.000Z"],
    ["monthly", "America/New_York", "2026-03-31T12:00:00Z", "2026-03-01T05:00:00.000Z", "2026-04-01T04:00:00.000Z"],
    // Clocks went from 23:59:59 to 01:00:00.
    ["daily", "America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04T03:00:00.000Z", "2018-11-05T02:00:00.000Z"],
    ["daily", "Africa/Cairo", "2024-04-26T12:00:00Z", "2024-04-25T22:00:00.000Z", "2024-04-26T21:00:00.000Z"],
    // Clocks went from 24:00:00 back to 23:00:00.
    ["daily", "Asia/Beirut", "2024-10-26T20:30:00Z", "2024-10-25T21:00:00.000Z", "2024-10-26T22:00:00.000Z"],
    // There was no 30 December 2011.
    ["daily", "Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29T10:00:00.000Z", "2011-12-30T10:00:00.000Z"],
    ["daily", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00.000Z", "2011-12-31T10:00:00.000Z"],
  ] as const)("%s in %s at %s", (period, zone, at, start, end) => {
    expect(periodOf(period, zone, at)).toEqual([start, end]);
  });

  test("without a period, it never ends", () => {
    expect(findPeriod({ period: "none", time_zone: "UTC" }, Date.now())).toEqual({
      start: 0,
      end: Number.POSITIVE_INFINITY,
    });
  });

  test.each(zones)("periods in %s follow each other without a gap and contain their instants", (time_zone) => {
    const random = createRandom(7);
    const [from, until] = [Date.parse("2005-01-01"), Date.parse("2035-01-01")];
    const weekday = new Intl.DateTimeFormat("en-US", { timeZone: time_zone, weekday: "short", day: "numeric" });
    for (let round = 0; round < 60; round++) {
      const now = Math.floor(from + random() * (until - from));
      for (const period of periods) {
        const found = findPeriod({ period, time_zone }, now);
        expect(found.start).toBeLessThanOrEqual(now);
        expect(found.end).toBeGreaterThan(now);
        for (const inside of [found.start, found.end - 1])
          expect(findPeriod({ period, time_zone }, inside)).toEqual(found);
        expect(findPeriod({ period, time_zone }, found.end).start).toBe(found.end);
        const text = weekday.format(found.start);
        if (period === "weekly") expect(text).toContain("Mon");
        if (period === "monthly") expect(text).toMatch(/\b1\b/);
      }
    }
  });

  test.each(zones)("every hour around each change of clocks in %s belongs to one day", (time_zone) => {
    const hour = 3_600_000;
    const offsetAt = (instant: number) =>
      new Intl.DateTimeFormat("en-US", { timeZone: time_zone, timeZoneName: "longOffset" })
        .formatToParts(instant)
        .find(({ type }) => type === "timeZoneName")?.value;
    for (let year = 2009; year <= 2012; year++) {
      for (let day = 0; day < 366; day++) {
        const at = Date.UTC(year, 0, 1 + day);
        if (offsetAt(at) === offsetAt(at + 24 * hour)) continue;
        let expected = findPeriod({ period: "daily", time_zone }, at - 24 * hour);
        for (let now = at - 24 * hour; now < at + 72 * hour; now += hour / 2) {
          if (now >= expected.end) expected = findPeriod({ period: "daily", time_zone }, expected.end);
          expect(findPeriod({ period: "daily", time_zone }, now)).toEqual(expected);
          expect(expected.end - expected.start).toBeGreaterThan(12 * hour);
        }
      }
    }
  });
});

describe("the amount of a budget", () => {
  const budget = { amount: 10.5, period: "monthly", time_zone: "UTC" } as const;
  const raise = { amount: 2.000001, until: "2026-05-01T00:00:00Z" };

  test("is exact in pico-dollars", () => {
    expect(findLimit({ ...budget, raise: null }, 0)).toEqual({
      pico: 10_500_000_000_000n,
      changesAt: Number.POSITIVE_INFINITY,
    });
  });

  test("is higher until the raise ends", () => {
    const end = Date.parse(raise.until);
    expect(findLimit({ ...budget, raise }, end - 1)).toEqual({ pico: 12_500_001_000_000n, changesAt: end });
    expect(findLimit({ ...budget, raise }, end).pico).toBe(10_500_000_000_000n);
  });
});
