// Finds where a value is printed, for callers who want to show it on the page.

import { type PageRow, toSentBoxes, wordsIn } from "./document-text.ts";
import { type Box, meanConfidence, type Page, surround, type Word } from "./page.ts";
import { toRows } from "./rows.ts";

export interface Place {
  /** From 1. */
  readonly page: number;
  readonly text: string;
  /** Relative to the page as it was sent. */
  readonly box: Box;
  /** The mean confidence of the recognition, 0 to 1; null: the text is embedded. */
  readonly confidence: number | null;
}

export interface Locator {
  /** The first occurrence of the text within a cell; null: it is not printed like this. */
  findText(text: string): Place | null;
  /** The first row whose text passes the test. */
  findRow(isMatch: (text: string) => boolean): Place | null;
}

// Limits on what is searched, and how often, so that the answer for a long document is not delayed.
const maxPages = 20;
const maxCharacters = 60_000;
const maxSearches = 500;

export function createLocator(pages: readonly Page[]): Locator {
  const searched = pages.slice(0, maxPages);
  const boxes = toSentBoxes(searched);
  const rows = takeRows(searched);
  const cells = rows.flatMap(({ page, cells }) => cells.map((cell) => ({ page, ...cell })));
  let searches = 0;

  function toPlace(page: number, text: string, words: readonly Word[]): Place {
    const box = surround(words.map((word) => boxes.get(word) ?? word.box));
    return { page: page + 1, text, box, confidence: meanConfidence(words) };
  }

  return {
    findText(text) {
      if (text === "" || ++searches > maxSearches) return null;
      const cell = cells.find((one) => one.text.includes(text));
      if (cell === undefined) return null;
      const start = cell.text.indexOf(text);
      return toPlace(cell.page, text, wordsIn(cell, start, start + text.length));
    },
    findRow(isMatch) {
      const row = rows.find((one) => isMatch(one.text));
      if (row === undefined) return null;
      const words = row.cells.flatMap((cell) => cell.words);
      return toPlace(row.page, row.text, words);
    },
  };
}

/** The places of all texts in a value that are printed like this, by their paths, such as `items.0.id`. */
export function locateValues(value: unknown, locator: Locator): Record<string, Place> {
  const places: Record<string, Place> = {};
  const visit = (part: unknown, path: string) => {
    if (typeof part === "string") {
      const place = locator.findText(part);
      if (place !== null) places[path] = place;
    }
    if (typeof part !== "object" || part === null) return;
    for (const [name, member] of Object.entries(part)) visit(member, path === "" ? name : `${path}.${name}`);
  };
  visit(value, "");
  return places;
}

/** The rows of the pages, until they have too many characters. */
function takeRows(pages: readonly Page[]): PageRow[] {
  const rows = pages.flatMap((page, index) => toRows(page).map((row) => ({ ...row, page: index })));
  let characters = 0;
  const end = rows.findIndex(({ text }) => {
    characters += text.length;
    return characters > maxCharacters;
  });
  return end === -1 ? rows : rows.slice(0, end);
}
