// Finds where a value is printed, for callers who want to show it on the page.

import { wordsIn } from "./document-text.ts";
import { asSent, type Box, meanConfidence, type Page, surround, type Word } from "./page.ts";
import { type Row, toRows } from "./rows.ts";

export interface Place {
  /** From 1. */
  readonly page: number;
  readonly text: string;
  /** Relative to the page as it was sent. */
  readonly box: Box;
  /** Of the recognition; null: the text is embedded. */
  readonly confidence: number | null;
}

export interface Locator {
  /** The first place of a text inside of a cell; null: it is not printed like this. */
  findText(text: string): Place | null;
  /** The first row whose text passes the test. */
  findRow(isMatch: (text: string) => boolean): Place | null;
}

interface Located {
  readonly page: number;
  readonly text: string;
  readonly words: readonly Word[];
}

// The pages and characters of a document that are searched, and how often, so that the work stays small.
const max = { pages: 20, characters: 60_000, searches: 500 };

export function createLocator(pages: readonly Page[]): Locator {
  const rows: (Located & { readonly cells: readonly Located[] })[] = [];
  let characters = 0;
  for (const [page, { words, rows: read }] of pages.slice(0, max.pages).map(toSent).entries())
    for (const row of read) {
      characters += row.text.length;
      if (characters > max.characters) break;
      const cells = row.cells.map((cell) => ({
        page,
        text: cell.text,
        words: cell.words.map((word) => words.get(word) ?? word),
      }));
      rows.push({ page, text: row.text, words: cells.flatMap((cell) => cell.words), cells });
    }
  const cells = rows.flatMap((row) => row.cells);
  let searches = 0;
  return {
    findText(text) {
      if (text === "" || ++searches > max.searches) return null;
      const cell = cells.find((one) => one.text.includes(text));
      if (cell === undefined) return null;
      const start = cell.text.indexOf(text);
      return toPlace(cell.page, text, wordsIn(cell, start, start + text.length));
    },
    findRow(isMatch) {
      const row = rows.find((one) => isMatch(one.text));
      return row === undefined ? null : toPlace(row.page, row.text, row.words);
    },
  };
}

function toPlace(page: number, text: string, words: readonly Word[]): Place {
  return { page: page + 1, text, box: surround(words.map((word) => word.box)), confidence: meanConfidence(words) };
}

/** By path: the places of all texts of a value that are printed like this. */
export function locateValues(value: unknown, locator: Locator, path = ""): Record<string, Place> {
  if (typeof value === "string") {
    const place = locator.findText(value);
    return place === null ? {} : { [path]: place };
  }
  if (typeof value !== "object" || value === null) return {};
  const entries = Object.entries(value);
  return Object.assign(
    {},
    ...entries.map(([name, member]) => locateValues(member, locator, path === "" ? name : `${path}.${name}`)),
  );
}

/** The rows of the page as it was read, and the words with boxes on the page as it was sent. */
function toSent(page: Page): { rows: Row[]; words: Map<Word, Word> } {
  const words = new Map<Word, Word>();
  const sent = asSent(page);
  for (const [line, { words: read }] of page.lines.entries())
    for (const [index, word] of read.entries()) words.set(word, sent.lines[line]?.words[index] ?? word);
  return { rows: toRows(page), words };
}
