// Splits the sections of jobs and studies into entries by their dates.

import { findCountry } from "../countries.ts";
import { isBullet, type ResumeLine } from "./lines.ts";
import { findPeriod, type Period } from "./periods.ts";
import { isCompany, isDegree, isRole, isSchool } from "./vocabulary.ts";

export interface Entry {
  readonly period: Period | null;
  /** The lines above, beside and below the dates that name the job or the degree. */
  readonly heads: readonly string[];
  readonly body: readonly string[];
}

interface Dated {
  readonly index: number;
  readonly period: Period;
}

const maxHeadCharacters = 100;
const maxDatedCharacters = 170;
// Lines above the dates: the title and the company.
const mostLeads = 3;

export function readEntries(lines: readonly ResumeLine[]): Entry[] {
  const texts = lines.map((line) => line.text);
  const dated = findDated(texts);
  if (dated.length === 0) return readUndated(texts);
  const leads = countLeads(texts, dated);
  return dated.map(({ index, period }, position) => {
    const previous = dated[position - 1]?.index ?? -1;
    const start = leadStart(texts, index, previous, leads);
    const next = dated[position + 1];
    const end = next === undefined ? texts.length : leadStart(texts, next.index, index, leads);
    const heads = [...texts.slice(start, index), period.rest].filter((text) => text !== "");
    let at = index + 1;
    while (at < end && needsMore(heads, texts[at] ?? "")) heads.push(texts[at++] ?? "");
    return { period, heads, body: texts.slice(at, end) };
  });
}

/** The lines that start an entry. A year inside of a sentence does not. */
function findDated(texts: readonly string[]): Dated[] {
  const found = texts.flatMap((text, index) => {
    const period = text.length > maxDatedCharacters ? null : findPeriod(text);
    return period === null ? [] : [{ index, period, isListed: isBullet(text) }];
  });
  const plain = found.filter(({ isListed }) => !isListed);
  const usable = plain.length > 0 ? plain : found;
  const ranges = usable.filter(({ period }) => period.start !== null);
  // Where most entries have periods, a single year belongs to a description unless it stands at the edge of a line.
  return usable.filter(({ index, period }) => {
    if (period.start !== null) return true;
    const isAtEdge = !period.rest.includes("\t") || (texts[index] ?? "").includes("\t");
    return isAtEdge && !/[.;]$/.test(period.rest) && (ranges.length === 0 || period.rest.length < 80);
  });
}

/** How many lines stand above the dates of an entry, which is the same in the whole section. */
function countLeads(texts: readonly string[], dated: readonly Dated[]): number {
  const [first] = dated;
  if (first === undefined) return 0;
  let count = 0;
  while (count < Math.min(mostLeads, first.index) && isHead(texts[first.index - 1 - count] ?? "")) count++;
  // A longer text before the first entry introduces the section.
  return count === first.index || count > 0 ? count : 0;
}

function leadStart(texts: readonly string[], index: number, previous: number, leads: number): number {
  let start = index;
  while (start > previous + 1 && index - start < leads && isHead(texts[start - 1] ?? "")) start--;
  return start;
}

function isHead(text: string): boolean {
  const isSentenceEnd = /[.;]$/.test(text) && !/(?:^|\s)(?:\p{L}{1,3}\.){1,4}$|\b(?:corp|zrt|sarl)\.$/iu.test(text);
  return !isBullet(text) && text.length <= maxHeadCharacters && !isSentenceEnd && /^[^\p{Ll}]/u.test(text);
}

/** Whether the next line names the company or the school, because the lines so far name only one of the two. */
function needsMore(heads: readonly string[], next: string): boolean {
  if (!isHead(next) || next.length > 80) return false;
  const parts = heads.flatMap(splitStrongly).filter((part) => !isPlaceOnly(part));
  if (parts.length >= 2) {
    const hasCompany = parts.some((part) => isCompany(part) || isSchool(part));
    const hasTitle = parts.some((part) => isRole(part) || isDegree(part));
    if (parts.length >= 3 || heads.length >= 2 || isSentence(next)) return false;
    // The place stands beside the company, and the title below; or the place beside the title, and the company below.
    if (hasCompany && !hasTitle) return isRole(next) || isDegree(next);
    return hasTitle && !hasCompany && (isCompany(next) || isSchool(next));
  }
  const pieces = parts.flatMap(splitAtCommas);
  if (pieces.length < 2) return true;
  const isComplete = pieces.some((piece) => isCompany(piece) || isSchool(piece));
  if (isComplete) return !pieces.some((piece) => isRole(piece) || isDegree(piece)) && !isSentence(next);
  return (
    isCompany(next) ||
    isSchool(next) ||
    (!pieces.some((piece) => isRole(piece) || isDegree(piece)) && (isRole(next) || isDegree(next)))
  );
}

/** A city with its country. */
export function isPlaceOnly(text: string): boolean {
  const pieces = text.split(/,\s*/);
  return pieces.length > 1 && pieces.length <= 3 && pieces.some((piece) => findCountry(piece) !== null);
}

function isSentence(text: string): boolean {
  return text.split(/\s+/).length > 9 || /\p{Ll}{3}\. /u.test(text);
}

/** Without dates, each line that names a job or a degree starts an entry. */
function readUndated(texts: readonly string[]): Entry[] {
  const entries: { period: null; heads: string[]; body: string[] }[] = [];
  for (const text of texts) {
    const current = entries.at(-1);
    const isNamed = isHead(text) && (isRole(text) || isDegree(text) || isSchool(text) || isCompany(text));
    const isSecond =
      current !== undefined &&
      current.body.length === 0 &&
      current.heads.length === 1 &&
      needsMore(current.heads, text);
    if (isSecond) current.heads.push(text);
    else if (isNamed) entries.push({ period: null, heads: [text], body: [] });
    else current?.body.push(text);
  }
  return entries;
}

/** At cells, vertical lines, dashes, and words such as "at". */
export function splitStrongly(head: string): string[] {
  return head
    .split(/\t|\s[|•·–—-]\s|\s@\s|\s+(?:at|bei(?: der| dem)?|chez|presso|bij|hos)\s+(?=\p{Lu})/u)
    .map((part) => part.replace(/^[\s,|:]+|[\s,|:]+$/g, ""))
    .filter((part) => part !== "");
}

/** A legal form after a comma belongs to the name: "Acme, Inc.". */
export function splitAtCommas(part: string): string[] {
  return part
    .split(/,\s+(?!(?:inc|llc|ltd|l\.?p|s\.?a|s\.?l|gmbh|corp|co|plc|lda|pty)\b)/i)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== "");
}
