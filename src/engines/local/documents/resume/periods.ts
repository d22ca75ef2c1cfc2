// Periods of jobs and studies: "Mar 2021 - Present", "03/2019 – 12/2020", "2015–17", "seit 2020", "since May 2019".

import { foldCase } from "../fold-case.ts";
import { findMonth } from "../month-names.ts";

export interface Period {
  /** The first day of the month or year; null: not stated. */
  readonly start: string | null;
  /** Null: the period continues, or only its start is known. */
  readonly end: string | null;
  readonly isOpen: boolean;
  /** The line without the period. */
  readonly rest: string;
}

const year = "(?:19|20)\\d{2}";
/** A day, a month or a year. A name of a month is checked later. */
const point = [
  `\\d{1,2}[./-]\\d{1,2}[./-]${year}`,
  `\\d{1,2}\\s?[./-]\\s?${year}`,
  `${year}[./-](?:0[1-9]|1[0-2])(?:[./-]\\d{2})?(?!\\d)`,
  `\\p{L}{3,12}\\.?,?\\s?(?:de\\s)?${year}`,
  `\\p{L}{3,9}\\.?\\s?['’]\\d{2}`,
  year,
].join("|");
const present =
  "present|now|current|currently|today|ongoing|to date|date|heute|aktuell|jetzt|laufend|gegenwart|derzeit|aujourd'hui|present|actuel|actuellement|actuelle|ce jour|en cours|maintenant|actualidad|presente|actual|actualmente|hoy|la actualidad|oggi|attuale|attualmente|in corso|ad oggi|atual|atualmente|hoje|o presente|momento|heden|nu|huidig|nog steeds|vandaag|obecnie|teraz|dzis|dzisiaj|chwili obecnej|nuvarande|pagaende|i dag|idag|naa|nykyinen|toistaiseksi|nyt|soucasnost|dosud|nyni|sucasnost|doteraz|jelen|jelenleg|napjainkig|prezent|gunumuz|halen|devam|bugun|devam ediyor|настоящее время|н.в.|наст. время|по настоящее время|сегодня|теперішній час|σημερα|danas|sada";
const presentWords = present
  .split("|")
  .toSorted((first, second) => second.length - first.length)
  .map((word) => word.replace(/[.]/g, "\\."))
  .join("|");
const separator =
  "\\s*(?:[-–—‒−~→/]|\\bto\\b|\\buntil\\b|\\btill?\\b|\\bthrough\\b|\\bbis\\b|\\bau\\b|\\bjusqu'a\\b|(?<=\\s)a(?=\\s)|\\bal?\\b|\\bhasta\\b|\\bate\\b|\\btot\\b|\\bt/m\\b|\\bdo\\b|(?<=\\s)по(?=\\s)|\\baz\\b|\\btil\\b)\\s*(?:(?:bis|to|a|la|el|o|l'|zum|al)\\s+)*";
const monthAlone = "\\p{L}{3,12}\\.?";
// A narrow column of dates may touch the text beside it: "2016Engineer".
const rangePattern = new RegExp(
  `(?<![\\p{L}\\d])(${point})${separator}((?:${point})(?!\\d)|(?:${presentWords})(?!\\p{L}))`,
  "iu",
);
/** The year stands once: "Sep - Dec 2019". */
const sharedYearPattern = new RegExp(
  `(?<![\\p{L}\\d])(${monthAlone})\\s*[-–—]\\s*(${monthAlone})\\s(${year})(?!\\d)`,
  "iu",
);
const shortYearPattern = /(?<![\d./-])((?:19|20)\d{2})\s?[-–/]\s?(\d{2})(?![\d./-])/u;
const sincePattern = new RegExp(
  `(?<![\\p{L}\\d])(?:since|from|seit|ab|depuis(?: le)?|desde(?: el)?|dal|da|sinds|vanaf|od|sedan|siden|fra|fran|alkaen|с|з|από|incepand din|din)\\s+(${point})(?![\\p{L}\\d])`,
  "iu",
);
const singlePattern = new RegExp(`(?<![\\p{L}\\d./-])(${point})(?![\\p{L}\\d./-])`, "iu");
const maxLine = 300;

export function findPeriod(line: string): Period | null {
  if (line.length > maxLine) return null;
  const text = foldCase(line);
  const shared = sharedYearPattern.exec(text);
  if (shared !== null && findMonth(shared[1] ?? "") !== null && findMonth(shared[2] ?? "") !== null) {
    const [, first = "", second = "", both = ""] = shared;
    return toPeriod(line, shared, `${first} ${both}`, `${second} ${both}`);
  }
  const range = rangePattern.exec(text);
  if (range !== null) {
    const period = toPeriod(line, range, range[1] ?? "", range[2] ?? "");
    if (period !== null) return period;
  }
  const short = shortYearPattern.exec(text);
  if (short !== null) {
    const [, start = "", end = ""] = short;
    const full = start.slice(0, 2) + end;
    if (Number(full) > Number(start)) return toPeriod(line, short, start, full);
  }
  const since = sincePattern.exec(text);
  if (since !== null) return toPeriod(line, since, since[1] ?? "", "present");
  const single = singlePattern.exec(text);
  if (single === null) return null;
  const end = toDate(single[1] ?? "");
  return end === null ? null : { start: null, end, isOpen: false, rest: without(line, single, single[1] ?? "") };
}

function toPeriod(line: string, match: RegExpExecArray, first: string, second: string): Period | null {
  const start = toDate(first);
  const end = toDate(second);
  const isOpen = end === null && !/\d/.test(second);
  if (start === null || (end === null && !isOpen) || (end !== null && end < start)) return null;
  return { start, end, isOpen, rest: without(line, match, first) };
}

/** A word before a year that is no month belongs to the rest: "Acme 2019". */
function without(line: string, { 0: found, index }: RegExpExecArray, first: string): string {
  const [word = ""] = /^\p{L}+/u.exec(first) ?? [];
  const isWord = word !== "" && findMonth(word) === null && found.startsWith(first);
  const start = isWord ? index + word.length : index;
  const rest = `${line.slice(0, start)}\t${line.slice(index + found.length)}`;
  return rest
    .replace(/[([]\s*\t\s*[)\]]/, "\t")
    .replace(/^[\s|•·,;:()–—-]+/, "")
    .replace(/\t[\s|•·,;:)–—-]*$/, "")
    .replace(/[\s|•·,;:(–—-]*\t[\s|•·,;:)–—-]*/, "\t")
    .trim();
}

function toDate(text: string): string | null {
  const years = text.match(/(?:19|20)\d{2}/)?.[0] ?? toFullYear(/['’](\d{2})$/.exec(text)?.[1]);
  if (years === null) return null;
  const numbers = text.replace(years, " ").match(/\d{1,2}/g) ?? [];
  const word = /^\p{L}+/u.exec(text)?.[0];
  // The month stands beside the year: in 15.03.2020 it is the second number, in 2020-03-15 the first.
  const isYearFirst = /^\d{4}/.test(text);
  const numeric = isYearFirst ? numbers[0] : numbers.at(-1);
  const month = word === undefined ? Number(numeric ?? 1) : (findMonth(word) ?? 1);
  return month >= 1 && month <= 12 ? `${years}-${String(month).padStart(2, "0")}-01` : null;
}

function toFullYear(short: string | undefined): string | null {
  if (short === undefined) return null;
  return Number(short) <= new Date().getUTCFullYear() % 100 ? `20${short}` : `19${short}`;
}
