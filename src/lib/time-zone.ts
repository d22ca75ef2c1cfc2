// Calendar days of a time zone. Days have 23 to 25 hours where clocks change, and some begin at 01:00 because clocks skip midnight, so
// their boundaries are computed from the calendar of the zone, never by adding hours.

/** A day of the calendar as `Date.UTC` would write its midnight; never an instant. */
export type CalendarDay = number;

export interface TimeZone {
  readonly name: string;
  /** Milliseconds that the clocks of the zone are ahead of UTC at an instant. */
  offsetAt(instant: number): number;
  /** The local day at an instant. */
  dayAt(instant: number): CalendarDay;
  /** The first instant of a local day; of the following day where the zone skipped this one. */
  startOf(day: CalendarDay): number;
}

/** A part of a range of time in which the zone has one offset. */
export interface OffsetRange {
  readonly from: number;
  readonly to: number;
  readonly offsetMs: number;
}

export const dayMs = 86_400_000;

const utc: TimeZone = {
  name: "UTC",
  offsetAt: () => 0,
  dayAt: (instant) => instant - modulo(instant, dayMs),
  startOf: (day) => day,
};

/** Null for a name that is not in the IANA database. */
export function openTimeZone(name: string): TimeZone | null {
  if (name === "UTC") return utc;
  const formatter = createFormatter(name);
  if (formatter === null) return null;

  function offsetAt(instant: number): number {
    const part: Record<string, number> = {};
    for (const { type, value } of (formatter as Intl.DateTimeFormat).formatToParts(instant)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second) + modulo(instant, 1_000) - instant;
  }

  function startOf(day: CalendarDay): number {
    // The local time passes midnight once, also where clocks change then: it is enough to halve the range in which it does.
    let before = day - maxOffsetMs;
    let from = day + maxOffsetMs;
    while (from - before > 1) {
      const middle = Math.floor((before + from) / 2);
      if (middle + offsetAt(middle) < day) before = middle;
      else from = middle;
    }
    return from;
  }

  return {
    name,
    offsetAt,
    dayAt(instant) {
      const local = instant + offsetAt(instant);
      return local - modulo(local, dayMs);
    },
    startOf,
  };
}

// Offsets are between -12 and +14 hours.
const maxOffsetMs = 16 * 3_600_000;
// No zone changes its clocks and changes them back within this time.
const sampleEveryMs = 7 * dayMs;

/** Splits a range of time where clocks change, and into parts of at most `maxMs`. Borders between parts are multiples of `stepMs`. */
export function splitByOffset(
  zone: TimeZone,
  range: { readonly from: number; readonly to: number },
  { maxMs, stepMs }: { readonly maxMs: number; readonly stepMs: number },
): OffsetRange[] {
  const ranges: OffsetRange[] = [];
  let from = range.from;
  while (from < range.to) {
    const offsetMs = zone.offsetAt(from);
    const to = findChange(zone, { from, to: Math.min(range.to, from + maxMs) }, offsetMs, stepMs);
    ranges.push({ from, to, offsetMs });
    from = to;
  }
  return ranges;
}

/** The first step of the range at which the zone has another offset, or the end of the range. */
function findChange(zone: TimeZone, { from, to }: Omit<OffsetRange, "offsetMs">, offsetMs: number, stepMs: number) {
  for (let last = from; last < to; last += sampleEveryMs) {
    const next = Math.min(last + sampleEveryMs, to);
    // The end itself belongs to the next part.
    if (zone.offsetAt(next - 1) === offsetMs) continue;
    // The last instant that is known to have the offset.
    let before = Math.floor((last === from ? from : last - 1) / stepMs);
    let after = Math.floor((next - 1) / stepMs) + 1;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (zone.offsetAt(middle * stepMs) === offsetMs) before = middle;
      else after = middle;
    }
    return Math.min(after * stepMs, to);
  }
  return to;
}

function createFormatter(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    return null;
  }
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
