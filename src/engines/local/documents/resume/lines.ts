// The lines of a curriculum vitae in reading order, column by column, grouped into sections by their headings.

import { splitColumns } from "../columns.ts";
import type { Page } from "../page.ts";
import { type Row, toRows } from "../rows.ts";
import { findSection, isDocumentTitle, type SectionName } from "./headings.ts";
import { findLanguages } from "./languages.ts";
import { findPeriod } from "./periods.ts";

export interface ResumeLine {
  readonly cells: readonly string[];
  /** The cells, separated by tabs. */
  readonly text: string;
  readonly row: Row;
  readonly pageIndex: number;
}

export interface Section {
  readonly name: SectionName;
  readonly lines: readonly ResumeLine[];
}

export interface Sections {
  /** The lines before the first heading of each column. */
  readonly top: readonly ResumeLine[];
  readonly sections: readonly Section[];
}

export function readSections(pages: readonly Page[]): Sections {
  const top: ResumeLine[] = [];
  const sections: Section[] = [];
  for (const stream of toStreams(pages)) {
    const split = splitSections(stream);
    top.push(...split.top);
    sections.push(...split.sections);
  }
  return { top, sections };
}

/** The lines of each column, over all pages: a column continues on the next page. */
function toStreams(pages: readonly Page[]): ResumeLine[][] {
  const full: ResumeLine[] = [];
  const left: ResumeLine[] = [];
  const right: ResumeLine[] = [];
  const after: ResumeLine[] = [];
  let expected: number | null = null;
  for (const [pageIndex, page] of pages.entries()) {
    const { parts, strip } = splitColumns(page, { areIndependent, expected });
    expected = strip ?? expected;
    let hasColumns = false;
    for (const { side, page: part } of parts) {
      const lines = toRows(part).map((row) => toResumeLine(row, pageIndex));
      if (side === "left") left.push(...lines);
      else if (side === "right") right.push(...lines);
      else if (hasColumns) after.push(...lines);
      // A page of one column continues the column that was last.
      else full.push(...lines);
      hasColumns ||= side !== null;
    }
  }
  return [full, left, right, after].filter((stream) => stream.length > 0);
}

/** Columns that each have headings are read one after the other. Dates beside titles have none. */
function areIndependent(left: Page, right: Page): boolean {
  return [left, right].every((side) => toRows(side).some(({ cells }) => startsSection(cells[0]?.text ?? "")));
}

function startsSection(text: string): boolean {
  return !isBullet(text) && findSection(text) !== null;
}

function toResumeLine(row: Row, pageIndex: number): ResumeLine {
  const cells = row.cells.map((cell) => cell.text);
  return { cells, text: cells.join("\t"), row, pageIndex };
}

function splitSections(lines: readonly ResumeLine[]): Sections {
  const top: ResumeLine[] = [];
  const sections: { name: SectionName; lines: ResumeLine[] }[] = [];
  const isDatedLater = findDatedLater(lines);
  for (const [index, line] of lines.entries()) {
    const [first = "", ...others] = line.cells;
    if (isDocumentTitle(line.text)) continue;
    const name = isBullet(first) ? null : findSection(first);
    const current = sections.at(-1);
    if (name !== null) {
      sections.push({ name, lines: [] });
      // The heading stands to the left of its content.
      if (others.length > 0) sections.at(-1)?.lines.push({ ...line, cells: others, text: others.join("\t") });
      continue;
    }
    const inline = findInline(line);
    // Inside of a job, "Technologies: Java" describes the job.
    const isPartOfJob = (current?.name === "work" || current?.name === "education") && isDatedLater[index];
    if (inline !== null && !isPartOfJob) sections.push(inline);
    else (current?.lines ?? top).push(line);
  }
  return { top, sections };
}

/** Heading and content in one line: "Languages: English, French". */
function findInline(line: ResumeLine): { name: SectionName; lines: ResumeLine[] } | null {
  const [, label = "", rest = ""] = /^([\p{L}\s&'’-]{4,40}?)\s*:\s*(\S.*)$/u.exec(line.text.slice(0, 400)) ?? [];
  const name = label === "" ? null : findSection(label);
  if (name === null || name === "contact" || name === "other") return null;
  // Programming languages are skills.
  if (name === "languages" && findLanguages([rest]).length === 0) return null;
  const cells = rest.split("\t").filter((cell) => cell !== "");
  return { name, lines: [{ ...line, cells, text: cells.join("\t") }] };
}

/** For each line, whether a line with a period follows before the next heading. */
function findDatedLater(lines: readonly ResumeLine[]): boolean[] {
  const later: boolean[] = [];
  let isDated = false;
  for (let index = lines.length - 1; index >= 0; index--) {
    later[index] = isDated;
    const line = lines[index];
    if (line === undefined) continue;
    if (startsSection(line.cells[0] ?? "")) isDated = false;
    else if (!isBullet(line.text) && findPeriod(line.text)?.start != null) isDated = true;
  }
  return later;
}

export function isBullet(line: string): boolean {
  return /^\s*[•·*»«▪◦‣●○■□►▸➢✓✔–-]\s*\S/u.test(line) || /^\s*o\s+\p{Lu}/u.test(line);
}

export function stripBullet(line: string): string {
  return line.replace(/^\s*(?:[•·*»«▪◦‣●○■□►▸➢✓✔–-]\s*|o\s+(?=\p{Lu}))/u, "").trim();
}
