// The time range that a query names. Dates are days in UTC.

import type { Moment } from "../contract/usage.ts";
import { throwProblems } from "../errors.ts";
import { dayMs } from "../lib/time-units.ts";

export interface TimeRange {
  /** Epoch milliseconds; null: from the beginning. */
  readonly from: number | null;
  /** Not included; null: until now. */
  readonly to: number | null;
}

export function readTimeRange(
  query: { readonly from?: Moment | undefined; readonly to?: Moment | undefined },
  now: number,
): TimeRange {
  // The end includes the day that it names.
  const range = { from: toTime(query.from, now, 0), to: toTime(query.to, now, dayMs) };
  if (range.from !== null && range.to !== null && range.from >= range.to)
    throwProblems([{ loc: ["query", "from"], msg: "'from' should be before 'to'", type: "value_error" }]);
  return range;
}

/** `dayLength` is added to a date. */
function toTime(moment: Moment | undefined, now: number, dayLength: number): number | null {
  switch (moment?.kind) {
    case undefined:
      return null;
    case "day":
      return moment.day + dayLength;
    case "instant":
      return moment.at;
    case "ago":
      return now - moment.ms;
  }
}
