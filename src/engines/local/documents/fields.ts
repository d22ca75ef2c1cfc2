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
  const skipped = /^[\s:.#=–—-]*/.exec(rest)?.[0].length ?? 0;
  const use = (from: Cell, offset: number, found: Reading<T> | null) =>
    found === null ? null : { value: found.value, words: wordsIn(from, offset + found.start, offset + found.end) };
  if (rest.length > skipped) return use(cell, end + skipped, read(rest.slice(skipped)));
  const next = row.cells[column + 1];
  if (next !== undefined && !isLabel(next.text)) {
    const beside = use(next, 0, read(next.text));
    if (beside !== null) return beside;
  }
  const under = findBelow(rows, index, cell);
  return under === null || isLabel(under.text) ? null : use(under, 0, read(under.text));
}

function findBelow(rows: readonly PageRow[], index: number, cell: Cell): Cell | null {
  const [row, below] = [rows[index], rows[index + 1]];
  if (row === undefined || below === undefined || below.page !== row.page) return null;
  if (below.top - row.bottom > 2 * row.height) return null;
  return below.cells.find((other) => other.left < cell.right && cell.left < other.right) ?? null;
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

/** In "PO193002" the letters are a part of the number. */
function isGlued(text: string, end: number): boolean {
  return /^[a-z][a-z\d]$/i.test(text.slice(end - 1, end + 1));
}

/** Inside a cell, a label follows a value or a bar, or a colon follows the label. "Original invoice: 7" is not the number of this invoice. */
function mayBegin(text: string, tokens: readonly Token[], at: number, match: PhraseMatch<string>): boolean {
  const before = text.slice(0, tokens[at]?.start ?? 0);
  if (/[|•·(]\s?$/.test(before)) return true;
  const followsValue = /[\d.,;)]\s*$/.test(before);
  return /^\s?[:#]/.test(text.slice(match.end)) && (followsValue || match.length > 1);
}

const tables = [idLabels, dateLabels, partyLabels] as const;

/** The offset at which another label with a colon begins. */
function nextLabel(text: string, tokens: readonly Token[], from: number): number | null {
  for (const [at, token] of tokens.entries()) {
    if (token.start < from) continue;
    const match = tables.map((table) => table.match(tokens, at)).find((one) => one !== null);
    if (match != null && token.start > from + 1 && /^\s?[:#]/.test(text.slice(match.end))) return token.start;
  }
  return null;
}

/** Whether a cell begins with the label of another field instead of a value. */
export function isLabel(text: string): boolean {
  const tokens = toTokens(text.slice(0, maxLength));
  return tables.some((table) => {
    const match = table.match(tokens, 0);
    return match !== null && (match.length === tokens.length || /^\s?[:#]/.test(text.slice(match.end)));
  });
}
