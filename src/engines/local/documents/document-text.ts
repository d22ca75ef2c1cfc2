// The rows of a document as one text, and the way back: from an offset in the text to the words on the page.

import { round } from "../numbers.ts";
import { asSent, type Box, meanConfidence, type Page, surround, type Word } from "./page.ts";
import { type Cell, type Row, toRows } from "./rows.ts";

/** A row that knows its page. */
export interface PageRow extends Row {
  /** From 0. */
  readonly page: number;
}

/** A value and the words that it was read from. */
export interface Found<T> {
  readonly value: T;
  readonly words: readonly Word[];
  /** How certain the reading is, apart from the recognition of the words, 0 to 1. */
  readonly certainty: number;
}

/** Where a value is on the page, for the caller. */
export interface Place {
  /** From 1. */
  readonly page: number;
  readonly text: string;
  /** Relative to the page as it was sent. */
  readonly box: Box;
  readonly confidence: number;
}

export interface DocumentText {
  readonly rows: readonly PageRow[];
  readonly text: string;
  wordsAt(start: number, end: number): Word[];
  findPlace(found: Found<unknown>): Place | null;
}

/** The rows of the pages below each other. */
export function joinPages(pages: readonly { readonly page: Page; readonly index: number }[]): PageRow[] {
  const rows: PageRow[] = [];
  for (const { page, index } of pages) {
    const offset = (rows.at(-1)?.bottom ?? 0) + 1;
    for (const row of toRows(page))
      rows.push({ ...row, page: index, top: row.top + offset, bottom: row.bottom + offset });
  }
  return rows;
}

export function createDocumentText(rows: readonly PageRow[], pages: readonly Page[]): DocumentText {
  const starts: { start: number; word: Word }[] = [];
  const pageOfWord = new Map<Word, number>();
  let length = 0;
  for (const row of rows) {
    for (const cell of row.cells) {
      for (const word of cell.words) {
        starts.push({ start: length, word });
        pageOfWord.set(word, row.page);
        length += word.text.length + 1;
      }
      // Cells are separated by two spaces.
      length++;
    }
    // The row ends with a line break instead of the two spaces.
    if (row.cells.length > 0) length--;
  }
  const boxes = lazily(() => toSentBoxes(pages));

  return {
    rows,
    text: rows.map((row) => row.text).join("\n"),
    wordsAt(start, end) {
      const words: Word[] = [];
      for (let index = findLast(starts, start); index < starts.length; index++) {
        const at = starts[index];
        if (at === undefined || at.start >= end) break;
        if (at.start + at.word.text.length > start) words.push(at.word);
      }
      return words;
    },
    findPlace({ words, certainty }) {
      const [first] = words;
      const page = first === undefined ? undefined : pageOfWord.get(first);
      if (page === undefined) return null;
      const onPage = words.filter((word) => pageOfWord.get(word) === page);
      return {
        page: page + 1,
        text: words.map((word) => word.text).join(" "),
        box: surround(onPage.map((word) => boxes().get(word) ?? word.box)),
        confidence: round(certainty * (meanConfidence(words) ?? 1)),
      };
    },
  };
}

/** The words of a part of a cell's text. */
export function wordsIn({ words }: Pick<Cell, "words">, start: number, end: number): Word[] {
  let at = 0;
  return words.filter(({ text }) => {
    const from = at;
    at += text.length + 1;
    return from < end && from + text.length > start;
  });
}

/** The boxes on the pages as they were sent, for the words of pages that were rotated for reading. */
export function toSentBoxes(pages: readonly Page[]): Map<Word, Box> {
  const boxes = new Map<Word, Box>();
  for (const page of pages.filter(({ turned }) => turned !== null)) {
    const sent = asSent(page);
    for (const [line, { words }] of page.lines.entries()) {
      for (const [index, word] of words.entries()) boxes.set(word, sent.lines[line]?.words[index]?.box ?? word.box);
    }
  }
  return boxes;
}

/** The index of the last entry that starts at or before the offset. */
function findLast(starts: readonly { readonly start: number }[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle]?.start ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

function lazily<T>(create: () => T): () => T {
  let value: { of: T } | undefined;
  return () => {
    value ??= { of: create() };
    return value.of;
  };
}
