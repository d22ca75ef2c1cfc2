// The time that a report covers.

import type { Moment } from "../contract/usage.ts";
import { throwProblems } from "../errors.ts";
import { dayMs, hourMs } from "../lib/time-units.ts";
import { openTimeZone, type TimeZone } from "../lib/time-zone.ts";

export interface Period {
  /** Epoch milliseconds; `to` is not included. */
  readonly from: number;
  readonly to: number;
}

interface RequestedTimes {
  readonly from?: Moment | undefined;
  readonly to?: Moment | undefined;
}

const defaultDays = 30;
const maxDays = 3_700;

/** The name was checked by the schema of the request. */
export function requireTimeZone(name: string): TimeZone {
  const zone = openTimeZone(name);
  if (zone === null) throw new TypeError(`There is no time zone ${name}`);
  return zone;
}

/** Whole hours, because totals are kept by the hour: the first hour begins at `from` or before it, and the last one ends at `to` or after it. */
export function toReportPeriod(times: RequestedTimes, zone: TimeZone, now: number): Period {
  const to = times.to === undefined ? now : toEnd(times.to, zone, now);
  const from = times.from === undefined ? defaultStart(zone, to) : toStart(times.from, zone, now);
  checkOrder(from, to);
  if (to - from > maxDays * dayMs)
    throwProblems([
      { loc: ["query", "from"], msg: `A report covers at most ${maxDays} days`, type: "less_than_equal" },
    ]);
  return { from: Math.floor(from / hourMs) * hourMs, to: Math.ceil(to / hourMs) * hourMs };
}

/** As they are given; null without a limit. */
export function toListPeriod(times: RequestedTimes, zone: TimeZone, now: number) {
  const from = times.from === undefined ? null : toStart(times.from, zone, now);
  const to = times.to === undefined ? null : toEnd(times.to, zone, now);
  if (from !== null && to !== null) checkOrder(from, to);
  return { from, to };
}

function checkOrder(from: number, to: number): void {
  if (from < to) return;
  const instants = `'from' is ${toIso(from)} and 'to' is ${toIso(to)}`;
  throwProblems([{ loc: ["query", "from"], msg: `'from' should be before 'to'; ${instants}`, type: "value_error" }]);
}

/** The last days up to the end, including the day on which it ends. */
function defaultStart(zone: TimeZone, to: number): number {
  return zone.startOf(zone.dayAt(to - 1) - (defaultDays - 1) * dayMs);
}

function toStart(moment: Moment, zone: TimeZone, now: number): number {
  switch (moment.kind) {
    case "day":
      return zone.startOf(moment.day);
    case "instant":
      return moment.at;
    case "ago":
      return now - moment.ms;
  }
}

/** A day is included as a whole. */
function toEnd(moment: Moment, zone: TimeZone, now: number): number {
  return moment.kind === "day" ? zone.startOf(moment.day + dayMs) : toStart(moment, zone, now);
}

export function toIso(time: number): string {
  return new Date(time).toISOString();
}
