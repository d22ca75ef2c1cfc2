// Documents of many pages: lines and words with their places, and tables.

import type { TaskDraft } from "../../contract/tasks.ts";
import { asNumber, limitToOne, rounded } from "../lenient.ts";
import type { TaskResult } from "../task.ts";

/** Shares of the page, 0..1. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface ReadWord {
  readonly text: string;
  readonly box: Box | null;
  /** 0..1 */
  readonly confidence: number | null;
}

export interface ReadLine extends ReadWord {
  readonly words: readonly ReadWord[];
}

/** The result of `ocr/ocr_async`. */
export function toPages(text: string, pages: readonly (readonly ReadLine[])[]): TaskResult<TaskDraft<"ocr/ocr_async">> {
  return {
    output: {
      raw_text: text,
      pages: pages.map((lines) => ({ lines: lines.map(toLine) })),
      number_of_pages: pages.length,
    },
    units: { page: Math.max(1, pages.length), file: 1, request: 1 },
  };
}

function toLine({ words, ...line }: ReadLine) {
  return {
    text: line.text,
    // A word without a place cannot be told, and is part of its line's text.
    words: words.flatMap(({ text, box, confidence }) =>
      box === null ? [] : [{ text, bounding_box: box, confidence }],
    ),
    bounding_box: line.box,
    confidence: line.confidence,
  };
}

export interface ReadCell {
  readonly text: string | null;
  /** From 0. */
  readonly row: number;
  readonly column: number;
  readonly rowSpan: number;
  readonly columnSpan: number;
  readonly box: Box | null;
  readonly confidence: number | null;
  readonly isHeader: boolean;
}

/** In place of the box of a text whose position the vendor did not send. */
export const nowhere = { left: null, top: null, width: null, height: null };

/** The result of `ocr/ocr_tables_async`: the tables of each page, each as its cells. */
export function toTables(
  pages: readonly (readonly (readonly ReadCell[])[])[],
): TaskResult<TaskDraft<"ocr/ocr_tables_async">> {
  return {
    output: { pages: pages.map((tables) => ({ tables: tables.map(toTable) })), num_pages: pages.length },
    units: { page: Math.max(1, pages.length), file: 1, request: 1 },
  };
}

// A number beyond it would make a list of so many rows, of an answer that may hold one cell.
const mostRows = 100_000;

/** A row or column, or how many of them a cell spans. */
export function checkTableNumber(number: number): number {
  if (Number.isInteger(number) && number >= 0 && number <= mostRows) return number;
  throw new TypeError(`a table has no row or column ${number}`);
}

function toTable(cells: readonly ReadCell[]) {
  const rows: ReadCell[][] = [];
  let [rowCount, columnCount] = [0, 0];
  for (const cell of cells) {
    const row = checkTableNumber(cell.row);
    rows[row] ??= [];
    rows[row]?.push(cell);
    rowCount = Math.max(rowCount, row + cell.rowSpan);
    columnCount = Math.max(columnCount, cell.column + cell.columnSpan);
  }
  return {
    rows: Array.from(rows, (row = []) => ({
      cells: row.sort((one, another) => one.column - another.column).map(toCell),
    })),
    num_rows: rowCount,
    num_cols: columnCount,
  };
}

function toCell(cell: ReadCell) {
  return {
    text: cell.text,
    row_index: cell.row,
    col_index: cell.column,
    row_span: cell.rowSpan,
    col_span: cell.columnSpan,
    confidence: cell.confidence,
    bounding_box: cell.box ?? nowhere,
    is_header: cell.isHeader,
  };
}

/** The box around the corners `x, y, x, y, …` on a page of that size. */
export function boxAround(corners: readonly unknown[], width: unknown, height: unknown): Box | null {
  const [pageWidth, pageHeight] = [asNumber(width) ?? 0, asNumber(height) ?? 0];
  const numbers = corners.flatMap((value) => asNumber(value) ?? []);
  if (numbers.length < 4 || numbers.length < corners.length || pageWidth <= 0 || pageHeight <= 0) return null;
  const xs = numbers.filter((_, index) => index % 2 === 0).map((x) => limitToOne(x / pageWidth));
  const ys = numbers.filter((_, index) => index % 2 === 1).map((y) => limitToOne(y / pageHeight));
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return {
    left: rounded(left),
    top: rounded(top),
    width: rounded(Math.max(...xs) - left),
    height: rounded(Math.max(...ys) - top),
  };
}
