// Finds the values of labelled fields: after the label in the same cell, in the next cell, or in the cell below.

import { type Found, type PageRow, wordsIn } from "./document-text.ts";
import { dateLabels, idLabels, partyLabels } from "./financial-labels.ts";
import { type PhraseMatch, type PhraseTable, type Token, toTokens } from "./phrases.ts";
import type { Cell } from "./rows.ts";

/** A value at an offset of a text. */
export interface Reading<T> {
  readonly value: T;
  readonly start: number;
  readonly end: number;
}

export interface Field<Kind, T> extends Found<T> {
  readonly kind: Kind;
  readonly language: string | null;
  /** The index of the row of the label. */
  readonly row: number;
}

// Labels are near the beginning of a cell; a paragraph is not searched to its end.
const maxLength = 200;
const maxLabelRest = 30;
const maxRowsBetween = 4;
// Relative to the height of the value.
const captionSize = 0.85;

/** All values of the labels of a table, in their order. A label without a value that `read` accepts is left out. */
export function findFields<Kind extends string, T>(
  rows: readonly PageRow[],
  table: PhraseTable<Kind>,
  read: (text: string, kind: Kind) => Reading<T> | null,
): Field<Kind, T>[] {
  return rows.flatMap((row, index) =>
    row.cells.flatMap((cell, column) =>
      findLabels(cell, table).flatMap(({ match, end, limit }) => {
        const found = readAt(rows, { index, row, column, cell, end, limit }, (text) => read(text, match.kind));
        return found === null
          ? []
          : [{ ...found, kind: match.kind, language: match.language, row: index, certainty: 0.9 }];
      }),
    ),
  );
}

interface LabelPosition {
  readonly index: number;
  readonly row: PageRow;
  readonly column: number;
  readonly cell: Cell;
  /** The offsets between which the value may be in the cell of the label. */
  readonly end: number;
  readonly limit: number;
}

function readAt<T>(
  rows: readonly PageRow[],
  { index, row, column, cell, end, limit }: LabelPosition,
  read: (text: string) => Reading<T> | null,
): { value: T; words: Found<T>["words"] } | null {
  const rest = cell.text.slice(end, limit);
  const skipped = /^[\s:：.#=·•–—-]*/.exec(rest)?.[0].length ?? 0;
  const use = (from: Cell, offset: number, found: Reading<T> | null) =>
    found === null ? null : { value: found.value, words: wordsIn(from, offset + found.start, offset + found.end) };
  if (rest.length > skipped) {
    const inside = use(cell, end + skipped, read(rest.slice(skipped)));
    // More words of the label may follow, such as the same in another language.
    if (inside !== null || /\d/.test(rest) || rest.length > maxLabelRest) return inside;
  }
  // The colon, or the dots between the two, may be on their own or before the value.
  const readWhole = (from: Cell) => {
    const start = /^[\s:：.#=·•–—-]*/.exec(from.text)?.[0].length ?? 0;
    return use(from, start, read(from.text.slice(start)));
  };
  const next = row.cells.slice(column + 1).find(({ text }) => /[\p{L}\d]/u.test(text));
  if (next !== undefined && !isLabel(next.text)) {
    const beside = readWhole(next);
    if (beside !== null) return beside;
  }
  const under = findBelow(rows, index, cell) ?? findInOrder(rows, index, column);
  const below = under === null || isLabel(under.text) ? null : readWhole(under);
  if (below !== null) return below;
  const above = findCaptioned(rows, index, cell);
  return above === null || isLabel(above.text) ? null : readWhole(above);
}

/** The value above a label in smaller print. */
function findCaptioned(rows: readonly PageRow[], index: number, cell: Cell): Cell | null {
  const row = rows[index];
  for (const above of rows.slice(Math.max(0, index - maxRowsBetween), index).toReversed()) {
    if (row === undefined || above.page !== row.page || row.top - above.bottom > row.height) return null;
    const found = above.cells.find((other) => other.left < cell.right && cell.left < other.right);
    if (found !== undefined) return heightOf(cell) <= captionSize * heightOf(found) ? found : null;
  }
  return null;
}

function heightOf({ words }: Cell): number {
  return words[0]?.box.height ?? 0;
}

/** The nearest cell below. Text beside the column may have rows between the two. */
function findBelow(rows: readonly PageRow[], index: number, cell: Cell): Cell | null {
  const row = rows[index];
  for (const below of rows.slice(index + 1, index + 1 + maxRowsBetween)) {
    if (row === undefined || below.page !== row.page || below.top - row.bottom > 2 * row.height) return null;
    const found = below.cells.find((other) => other.left < cell.right && cell.left < other.right);
    if (found !== undefined) return found;
  }
  return null;
}

/** In a row of labels with as many values below, a value belongs to the label of the same position, however the two are aligned. */
function findInOrder(rows: readonly PageRow[], index: number, column: number): Cell | null {
  const [row, below] = [rows[index], rows[index + 1]];
  if (row === undefined || below === undefined || below.page !== row.page) return null;
  if (below.top - row.bottom > 2 * row.height || row.cells.length !== below.cells.length) return null;
  const areLabels = row.cells.length > 1 && row.cells.every(({ text }) => isLabel(text));
  return areLabels ? (below.cells[column] ?? null) : null;
}

/** The labels of a cell: at its beginning, and further on if a colon or a number sign follows. */
function findLabels<Kind extends string>(cell: Cell, table: PhraseTable<Kind>) {
  const text = cell.text.slice(0, maxLength);
  const tokens = toTokens(text);
  const found: { match: PhraseMatch<Kind>; start: number; end: number; limit: number }[] = [];
  for (let at = 0; at < tokens.length; ) {
    const match = table.match(tokens, at);
    if (match === null || isGlued(text, match.end) || !(at === 0 || mayBegin(text, tokens, at, match))) {
      at++;
      continue;
    }
    found.push({ match, start: tokens[at]?.start ?? 0, end: match.end, limit: cell.text.length });
    at += match.length;
  }
  return found.map((label) => ({ ...label, limit: nextLabel(text, tokens, label.end) ?? cell.text.length }));
}

/** In "PO193002" the letters are a part of the number, and in "invoice@shop.example" of an address. */
function isGlued(text: string, end: number): boolean {
  return /^[a-z][a-z\d]$/i.test(text.slice(end - 1, end + 1)) || /^(?:@|[.-]\p{L}+[@.])/u.test(text.slice(end));
}

/**
 * Inside a cell, a label follows a value or a bar, or a colon follows the label, or it is as specific as "invoice number" and a code follows.
 * "Original invoice: 7" is not the number of this invoice.
 */
function mayBegin(text: string, tokens: readonly Token[], at: number, match: PhraseMatch<string>): boolean {
  const before = text.slice(0, tokens[at]?.start ?? 0);
  const after = text.slice(match.end);
  if (/[|•·(]\s?$/.test(before)) return true;
  const isSpecific = match.phrase.length >= 10 || (match.length > 1 && match.phrase.length >= 6);
  if (isSpecific && /^[\s.:#]{1,3}[\p{L}\d./_-]{0,20}\d/u.test(after)) return true;
  const followsValue = /[\d.,;)]\s*$/.test(before);
  return /^\s?[:：#]/.test(after) && (followsValue || match.length > 1);
}

const tables = [idLabels, dateLabels, partyLabels] as const;

/** The offset at which another label with a colon begins. */
function nextLabel(text: string, tokens: readonly Token[], from: number): number | null {
  for (const [at, token] of tokens.entries()) {
    if (token.start < from) continue;
    const match = tables.map((table) => table.match(tokens, at)).find((one) => one !== null);
    if (match != null && token.start > from + 1 && /^\s?[:：#]/.test(text.slice(match.end))) return token.start;
  }
  return null;
}

/** Whether a cell begins with the label of another field instead of a value. */
export function isLabel(text: string): boolean {
  const tokens = toTokens(text.slice(0, maxLength));
  return tables.some((table) => {
    const match = table.match(tokens, 0);
    return match !== null && (match.length === tokens.length || /^\s?[:：#]/.test(text.slice(match.end)));
  });
}
