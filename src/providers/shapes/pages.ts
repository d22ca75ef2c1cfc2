// The outputs of tasks on documents with several pages: lines and words with their positions, and tables.

import type { ResultOf } from "../task.ts";
import { type Box, nowhere, roundBox } from "./boxes.ts";

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
export function toPages(text: string, pages: readonly (readonly ReadLine[])[]): ResultOf<"ocr/ocr_async"> {
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
    // The schema requires a box, so a word without one is only part of its line's text.
    words: words.flatMap(({ text, box, confidence }) =>
      box === null ? [] : [{ text, bounding_box: roundBox(box), confidence }],
    ),
    bounding_box: line.box && roundBox(line.box),
    confidence: line.confidence,
  };
}

export interface ReadCell {
  readonly text: string | null;
  /** From 0. */
  readonly row_index: number;
  readonly col_index: number;
  readonly row_span: number;
  readonly col_span: number;
  readonly box: Box | null;
  readonly confidence: number | null;
  readonly is_header: boolean;
}

/** The result of `ocr/ocr_tables_async`: the tables of each page, each as its cells. */
export function toTables(pages: readonly (readonly (readonly ReadCell[])[])[]): ResultOf<"ocr/ocr_tables_async"> {
  return {
    output: { pages: pages.map((tables) => ({ tables: tables.map(toTable) })), num_pages: pages.length },
    units: { page: Math.max(1, pages.length), file: 1, request: 1 },
  };
}

// Without a limit, an answer with a single cell could create a list of any number of rows.
const maxRows = 100_000;

/** Checks the number of a row or column, or how many of them a cell spans. */
export function checkTableNumber(number: number): number {
  if (Number.isInteger(number) && number >= 0 && number <= maxRows) return number;
  throw new TypeError(`a table has no row or column ${number}`);
}

function toTable(cells: readonly ReadCell[]) {
  const rows: ReadCell[][] = [];
  let [rowCount, columnCount] = [0, 0];
  for (const cell of cells) {
    const row = checkTableNumber(cell.row_index);
    rows[row] ??= [];
    rows[row]?.push(cell);
    rowCount = Math.max(rowCount, row + cell.row_span);
    columnCount = Math.max(columnCount, cell.col_index + cell.col_span);
  }
  return {
    rows: Array.from(rows, (row = []) => ({
      cells: row.sort((one, another) => one.col_index - another.col_index).map(toCell),
    })),
    num_rows: rowCount,
    num_cols: columnCount,
  };
}

function toCell({ box, ...cell }: ReadCell) {
  return { ...cell, bounding_box: box === null ? nowhere : roundBox(box) };
}
