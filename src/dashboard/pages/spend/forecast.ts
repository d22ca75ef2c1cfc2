// What a month will probably cost.

import { addDays } from "../../lib/days.ts";

export interface DayOfSpend {
  /** Epoch milliseconds of midnight in the viewer's zone. */
  readonly time: number;
  readonly cost: number;
}

const paceDays = 7;

/** The days of the month so far, and the rest of it at the pace of the last seven whole days. Null without a whole day. */
export function forecastMonth(days: readonly DayOfSpend[], now: Date): number | null {
  const start = new Date(now.getFullYear(), now.getMonth(), 1).getTime();
  const end = new Date(now.getFullYear(), now.getMonth() + 1, 1);
  const midnight = addDays(now, 0);
  const first = days[0]?.time;
  if (first === undefined || first >= midnight.getTime()) return null;
  const paceFrom = addDays(now, -paceDays);
  const knownDays = Math.min(paceDays, countDays(new Date(first), midnight));
  const sumOf = (fits: (time: number) => boolean) =>
    days.reduce((sum, { time, cost }) => sum + (fits(time) ? cost : 0), 0);
  const pace = sumOf((time) => time >= paceFrom.getTime() && time < midnight.getTime()) / knownDays;
  const spentBefore = sumOf((time) => time >= start && time < midnight.getTime());
  const today = sumOf((time) => time >= midnight.getTime());
  const daysLeft = countDays(midnight, end) - 1;
  return spentBefore + Math.max(today, pace) + daysLeft * pace;
}

/** Days have 23 or 25 hours where clocks change. */
function countDays(from: Date, to: Date): number {
  return Math.round((to.getTime() - from.getTime()) / 86_400_000);
}
