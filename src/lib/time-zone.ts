// Calendar days of a time zone. Days have 23 to 25 hours where clocks change, and some begin at 01:00 because clocks skip midnight, so their
// boundaries are computed from the calendar of the zone, never by adding hours.

import { dayMs } from "./time-units.ts";

/** A day of the calendar as `Date.UTC` would write its midnight; never an instant. */
type CalendarDay = number;

export interface TimeZone {
  readonly name: string;
  /** Milliseconds that the clocks of the zone are ahead of UTC at an instant. */
  offsetAt(instant: number): number;
  /** The local day at an instant. */
  dayAt(instant: number): CalendarDay;
  /** The first instant of a local day; of the following day where the zone skipped this one. */
  startOf(day: CalendarDay): number;
  /** When clocks change after an instant; infinite: never. */
  nextChange(instant: number): number;
}

/** A part of a range of time in which the zone has one offset. */
export interface OffsetRange {
  readonly from: number;
  readonly to: number;
  readonly offsetMs: number;
}

const nanosecondsPerMs = 1_000_000;

/** Null for a name that is not in the IANA database. */
export function openTimeZone(name: string): TimeZone | null {
  const at = (instant: number) => Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(name);
  const offsetAt = (instant: number) => at(instant).offsetNanoseconds / nanosecondsPerMs;
  if (!isTimeZone(name)) return null;
  return {
    name,
    offsetAt,
    dayAt(instant) {
      const local = instant + offsetAt(instant);
      return Math.floor(local / dayMs) * dayMs;
    },
    startOf: (day) => toPlainDate(day).toZonedDateTime(name).epochMilliseconds,
    nextChange: (instant) => at(instant).getTimeZoneTransition("next")?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
  };
}

/** Splits a range of time where clocks change, and into parts of at most `maxMs`. Borders between parts are multiples of `stepMs`. */
export function splitByOffset(
  zone: TimeZone,
  range: { readonly from: number; readonly to: number },
  { maxMs, stepMs }: { readonly maxMs: number; readonly stepMs: number },
): OffsetRange[] {
  const ranges: OffsetRange[] = [];
  let from = range.from;
  while (from < range.to) {
    const change = Math.ceil(zone.nextChange(from) / stepMs) * stepMs;
    const to = Math.min(range.to, from + maxMs, change);
    ranges.push({ from, to, offsetMs: zone.offsetAt(from) });
    from = to;
  }
  return ranges;
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function toPlainDate(day: CalendarDay): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(day).toZonedDateTimeISO("UTC").toPlainDate();
}
