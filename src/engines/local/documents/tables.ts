// Finds tables by alignment: consecutive rows whose cells form columns. Lines drawn on the page are ignored, so merged cells can be wrong, and
// text in columns can be taken for a table.

import type { Page } from "./page.ts";
import { type Cell, type Row, toRows } from "./rows.ts";

export interface Table {
  readonly columns: number;
  /** The cells of each row; null: the column is empty. */
  readonly rows: readonly (readonly (TableCell | null)[])[];
  readonly hasHeader: boolean;
}

export interface TableCell extends Cell {
  /** The number of columns that it covers. */
  readonly span: number;
}

interface Column {
  left: number;
  right: number;
}

// Relative to the height of a row. A wider gap ends the table.
const maxRowGap = 2.6;

export function findTables(page: Page): Table[] {
  return splitAtGaps(toRows(page)).flatMap((rows) => toTable(rows) ?? []);
}

/** Groups of rows that begin with a row of several cells. A row of one cell may continue the row above. */
function splitAtGaps(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [[]];
  for (const row of rows) {
    const previous = groups.at(-1)?.at(-1);
    if (previous !== undefined && row.top - previous.bottom > maxRowGap * Math.max(previous.height, row.height))
      groups.push([]);
    if (row.cells.length >= 2 || groups.at(-1)?.length) groups.at(-1)?.push(row);
  }
  return groups.flatMap(splitAtParagraphs);
}

/** Two consecutive rows of one cell are a paragraph and not a part of a table. */
function splitAtParagraphs(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = [[]];
  for (const [index, row] of rows.entries()) {
    const hasOneCell = row.cells.length === 1;
    const nextHasOneCell = (rows[index + 1]?.cells.length ?? 1) === 1;
    if (hasOneCell && nextHasOneCell) parts.push([]);
    else parts.at(-1)?.push(row);
  }
  return parts.filter((part) => part.length > 0);
}

function toTable(rows: readonly Row[]): Table | null {
  const full = rows.filter((row) => row.cells.length >= 2);
  if (full.length < 2) return null;
  const columns = findColumns(full);
  const grid = rows.map((row) => toGridRow(row, columns)).filter((cells) => cells !== null);
  const merged = mergeContinuations(grid);
  if (merged.length < 2 || columns.length < 2) return null;
  // Two columns of words are addresses or articles and not a table.
  if (columns.length === 2 && !isNumeric(merged.map((cells) => cells[1]?.text ?? ""))) return null;
  const [first = [], ...rest] = merged;
  const hasHeader = !first.some(hasNumber) && rest.some((cells) => cells.some(hasNumber));
  return { columns: columns.length, rows: merged, hasHeader };
}

/** The columns of the rows with the largest number of cells that at least two rows have. Empty if they overlap. */
function findColumns(rows: readonly Row[]): Column[] {
  const byCount = Map.groupBy(rows, ({ cells }) => cells.length);
  const counts = [...byCount].filter(([, same]) => same.length >= 2 || byCount.size === 1).map(([count]) => count);
  const width = Math.max(...counts, 0);
  if (width < 2) return [];
  const models = byCount.get(width) ?? [];
  const columns = Array.from({ length: width }, (_, index) => ({
    left: Math.min(...models.map((row) => row.cells[index]?.left ?? Number.POSITIVE_INFINITY)),
    right: Math.max(...models.map((row) => row.cells[index]?.right ?? 0)),
  }));
  const overlaps = columns.some((column, index) => index > 0 && column.left < (columns[index - 1]?.right ?? 0));
  return overlaps ? [] : columns;
}

function toGridRow(row: Row, columns: readonly Column[]): (TableCell | null)[] | null {
  const grid: (TableCell | null)[] = columns.map(() => null);
  for (const cell of row.cells) {
    const touched = columns.flatMap((column, index) => (overlap(cell, column) > 0 ? [index] : []));
    const first = touched[0] ?? nearest(cell, columns);
    if (first === null || grid[first] != null) return null;
    grid[first] = { ...cell, span: Math.max(1, touched.length) };
  }
  return grid;
}

function nearest(cell: Cell, columns: readonly Column[]): number | null {
  const distances = columns.map((column) => Math.max(column.left - cell.right, cell.left - column.right));
  return distances.length === 0 ? null : distances.indexOf(Math.min(...distances));
}

function overlap(cell: Column, column: Column): number {
  return Math.min(cell.right, column.right) - Math.max(cell.left, column.left);
}

/** A row with a single cell of words continues the cell above. */
function mergeContinuations(grid: readonly (TableCell | null)[][]): (TableCell | null)[][] {
  const merged: (TableCell | null)[][] = [];
  for (const row of grid) {
    const filled = row.flatMap((cell, index) => (cell === null ? [] : [index]));
    const [only = 0] = filled;
    const above = merged.at(-1);
    const [cell, target] = [row[only], above?.[only]];
    if (filled.length === 1 && merged.length >= 2 && above && cell && target && !hasNumber(cell)) {
      above[only] = join(target, cell);
    } else merged.push(row);
  }
  return merged;
}

function join(first: TableCell, second: TableCell): TableCell {
  return {
    span: first.span,
    text: `${first.text} ${second.text}`,
    words: [...first.words, ...second.words],
    left: Math.min(first.left, second.left),
    right: Math.max(first.right, second.right),
  };
}

function hasNumber(cell: TableCell | null): boolean {
  return cell !== null && /\d/.test(cell.text);
}

function isNumeric(texts: readonly string[]): boolean {
  return texts.filter((text) => /\d/.test(text)).length >= texts.length / 2;
}
