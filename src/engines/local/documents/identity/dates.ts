// Dates of identity documents, in all the forms in which they are printed.

import { findMonth } from "../month-names.ts";

/** What a date says decides the century of a year with two digits. */
export type DateKind = "birth" | "issue" | "expiry";

/** `unknown`: 03/04/2020 is ambiguous, and no other date of the document tells the order. */
export type DateOrder = "day first" | "month first" | "unknown";

export interface FoundDate {
  /** YYYY-MM-DD; null: the date is ambiguous or does not exist. */
  readonly value: string | null;
  /** What precedes and what follows the date. */
  readonly before: string;
  readonly after: string;
}

const yearFirst = /(?<![\d.])((?:19|20)\d{2})(?:\s?[./-]\s?|\s|年)(\d{1,2})(?:\s?[./-]\s?|\s|月)(\d{1,2})日?(?!\d)/u;
const numeric = /(?<![\d.])(\d{1,2})(?:\s?([./-])\s?|\s)(\d{1,2})(?:\s?[./-]\s?|\s)((?:19|20)\d{2}|\d{2})(?!\d)/u;
const word = "(\\p{L}{3,12})\\.?";
const named = new RegExp(
  `(?<!\\d)(\\d{1,2})(?:st|nd|rd|th|er|\\.)?[\\s./-]{0,3}(?:de\\s)?${word}(?:\\s?/\\s?${word})?[\\s.,/-]{0,3}(?:de\\s)?((?:19|20)\\d{2}|\\d{2})(?!\\d)`,
  "iu",
);
const monthFirst = new RegExp(
  `(?<!\\p{L})${word}\\s?(\\d{1,2})(?:st|nd|rd|th)?[\\s,]{1,3}((?:19|20)\\d{2})(?!\\d)`,
  "iu",
);

/** The first date of a short text, or null if it contains no date. */
export function findPrintedDate(text: string, kind: DateKind, order: DateOrder, today: Date): FoundDate | null {
  const build = (match: RegExpExecArray, year: string, month: number | null, day: string): FoundDate => ({
    value: month === null ? null : toDate(toYear(year, month, Number(day), kind, today), month, Number(day)),
    before: text.slice(0, match.index).trim(),
    after: text.slice(match.index + match[0].length).trim(),
  });
  const found = yearFirst.exec(text);
  if (found !== null) return build(found, found[1] ?? "", Number(found[2]), found[3] ?? "");
  const withName = named.exec(text);
  const month = withName === null ? null : toMonth(withName[2], withName[3]);
  if (withName !== null && month !== null) return build(withName, withName[4] ?? "", month, withName[1] ?? "");
  const digits = numeric.exec(text);
  if (digits !== null) {
    const [, first = "", separator, second = "", year = ""] = digits;
    const isMonthFirst = isMonthThenDay(first, second, separator, order);
    if (isMonthFirst === null) return { ...build(digits, year, null, first), value: null };
    return isMonthFirst ? build(digits, year, Number(first), second) : build(digits, year, Number(second), first);
  }
  const american = monthFirst.exec(text);
  const americanMonth = american === null ? null : findMonth(american[1] ?? "");
  if (american === null || americanMonth === null) return null;
  return build(american, american[3] ?? "", americanMonth, american[2] ?? "");
}

/** The last date of a period, such as "valid 12.03.2020 - 14.05.2030". */
export function findExpiryDate(text: string, order: DateOrder, today: Date): string | null {
  const first = findPrintedDate(text, "expiry", order, today);
  const isPeriod = first !== null && /^(?:[-–—]|to|bis|au|al?|do|tot|até)(?:\s|\d)/i.test(first.after);
  return (isPeriod ? findPrintedDate(first.after, "expiry", order, today) : first)?.value ?? null;
}

/** The order of the dates with slashes, if one of them can only be read in one way. */
export function findDateOrder(text: string): DateOrder {
  let order: DateOrder = "unknown";
  for (const [, first, second] of text.matchAll(/(?<![\d/])(\d{1,2})[/-](\d{1,2})[/-](?:\d{4}|\d{2})(?!\d)/g)) {
    if (Number(first) > 12) return "day first";
    if (Number(second) > 12) order = "month first";
  }
  return order;
}

/** YYMMDD of a machine-readable zone. */
export function readZoneDate(digits: string | undefined, kind: DateKind, today: Date): string | null {
  const [, year, month, day] = /^(\d\d)(\d\d)(\d\d)$/.exec(digits ?? "") ?? [];
  if (year === undefined) return null;
  return toDate(toYear(year, Number(month), Number(day), kind, today), Number(month), Number(day));
}

function isMonthThenDay(
  first: string,
  second: string,
  separator: string | undefined,
  order: DateOrder,
): boolean | null {
  if (Number(second) > 12) return true;
  if (Number(first) > 12 || first === second) return false;
  // Only dates with slashes or hyphens are written with the month first.
  if (separator === "." || separator === undefined) return false;
  return order === "unknown" ? null : order === "month first";
}

/** Both names of a month that is printed in two languages must agree. */
function toMonth(first: string | undefined, second: string | undefined): number | null {
  const months = [first, second]
    .flatMap((name) => (name === undefined ? [] : [findMonth(name)]))
    .filter((one) => one !== null);
  const [month = null] = months;
  return months.every((other) => other === month) ? month : null;
}

/** Births and issues are in the past. Documents expire at most fifty years after today. */
function toYear(text: string, month: number, day: number, kind: DateKind, today: Date): number {
  const year = Number(text);
  if (text.length === 4) return year;
  if (kind === "expiry") return 2000 + year <= today.getUTCFullYear() + 50 ? 2000 + year : 1900 + year;
  return Date.UTC(2000 + year, month - 1, day) <= today.getTime() ? 2000 + year : 1900 + year;
}

function toDate(year: number, month: number, day: number): string | null {
  const date = new Date(Date.UTC(year, month - 1, day));
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year >= 1900 && year <= 2100;
  return isReal ? date.toISOString().slice(0, 10) : null;
}
