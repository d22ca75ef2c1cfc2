// The periods of budgets: when the current one began, when the next one begins, and how much may be spent in it. Pure.
//
// A period begins at the first instant of a local day. Days have 23 to 25 hours where clocks change, and some begin at 01:00 because clocks
// skip midnight, so boundaries are computed from the calendar of the time zone, never by adding hours.

import type { Budget } from "../contract/limits.ts";

/** Epoch milliseconds. A budget without a period has one that never ends. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

const wholePeriod: Period = { start: 0, end: Number.POSITIVE_INFINITY };
const steps = { daily: { days: 1 }, weekly: { weeks: 1 }, monthly: { months: 1 } };
// A budget has whole micro-dollars, so the amount in pico-dollars is exact. It can exceed the exact numbers, which end at 9,007 USD.
const microPerUsd = 1_000_000;
const picoPerMicro = 1_000_000n;

/** The period that contains the instant: `start <= now < end`. */
export function findPeriod({ period, time_zone }: Pick<Budget, "period" | "time_zone">, now: number): Period {
  if (period === "none") return wholePeriod;
  const startOf = (day: Temporal.PlainDate) => day.toZonedDateTime(time_zone).epochMilliseconds;
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(time_zone).toPlainDate();
  let day = firstDay(period, today);
  let start = startOf(day);
  for (;;) {
    day = day.add(steps[period]);
    const end = startOf(day);
    // Where clocks go back over midnight, an instant after the change can still have the date of the day before.
    if (end > now) return { start, end };
    start = end;
  }
}

function firstDay(period: Exclude<Budget["period"], "none">, day: Temporal.PlainDate): Temporal.PlainDate {
  if (period === "daily") return day;
  // Monday is 1.
  if (period === "weekly") return day.subtract({ days: day.dayOfWeek - 1 });
  return day.with({ day: 1 });
}

/** Pico-dollars that may be spent in the period, and when that amount changes although the period goes on. */
export function findLimit({ amount, raise }: Budget, now: number): { pico: bigint; changesAt: number } {
  const until = raise === null ? Number.NEGATIVE_INFINITY : Date.parse(raise.until);
  if (raise === null || !(now < until)) return { pico: toPico(amount), changesAt: Number.POSITIVE_INFINITY };
  return { pico: toPico(amount) + toPico(raise.amount), changesAt: until };
}

function toPico(usd: number): bigint {
  return BigInt(Math.round(usd * microPerUsd)) * picoPerMicro;
}
