// What is known about a table, and small operations on its cells.

import type { Cell } from "./rows.ts";

export interface Table {
  readonly columns: number;
  /** The cells of each row; null: the column is empty, or a cell to the left or above covers it. */
  readonly rows: readonly TableRow[];
  readonly hasHeader: boolean;
}

export type TableRow = readonly (TableCell | null)[];

export interface TableCell extends Cell {
  /** The number of columns that it covers. */
  readonly span: number;
  readonly rowSpan: number;
}

/** One line of text in the columns of a table. */
export interface GridRow {
  readonly cells: TableRow;
  readonly top: number;
  readonly bottom: number;
  readonly height: number;
}

export function joinCells<Joined extends Cell>(first: Joined, second: Cell): Joined {
  return {
    ...first,
    text: `${first.text} ${second.text}`,
    words: [...first.words, ...second.words],
    left: Math.min(first.left, second.left),
    right: Math.max(first.right, second.right),
  };
}

/** The first row names the columns: it has no number, and the rows below have some. */
export function hasHeader(rows: readonly TableRow[]): boolean {
  const [first = [], ...rest] = rows;
  return !first.some(hasNumber) && rest.some((cells) => cells.some(hasNumber));
}

export function hasNumber(cell: TableCell | null | undefined): boolean {
  return cell != null && /\d/.test(cell.text);
}
