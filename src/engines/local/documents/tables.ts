// Tables by how cells line up: rows that follow one another and whose cells stand in the same columns. Rules drawn on the page are
// not looked at, so merged cells and text that merely stands in columns can be mistaken.

import type { Page } from "./page.ts";
import { type Cell, type Row, toRows } from "./rows.ts";

export interface Table {
  readonly columns: number;
  /** The cells of each row, null where a column is empty. */
  readonly rows: readonly (readonly (TableCell | null)[])[];
  readonly hasHeader: boolean;
}

export interface TableCell {
  readonly cell: Cell;
  readonly text: string;
  readonly span: number;
}

interface Column {
  left: number;
  right: number;
}

// Of the usual distance between two rows; a wider one ends the table.
const widestRowGap = 2.6;

export function findTables(page: Page): Table[] {
  return splitAtGaps(toRows(page)).flatMap((rows) => toTable(rows) ?? []);
}

/** Stretches of rows that have several cells each; a row of one cell may continue the one above. */
function splitAtGaps(rows: readonly Row[]): Row[][] {
  const stretches: Row[][] = [];
  let stretch: Row[] = [];
  for (const row of rows) {
    const previous = stretch.at(-1);
    const isFar =
      previous !== undefined && row.top - previous.bottom > widestRowGap * Math.max(previous.height, row.height);
    if (isFar) {
      stretches.push(stretch);
      stretch = [];
    }
    if (row.cells.length >= 2 || stretch.length > 0) stretch.push(row);
  }
  stretches.push(stretch);
  return stretches.flatMap(splitAtLoneRows);
}

/** Two rows of one cell in succession are a paragraph, not a table. */
function splitAtLoneRows(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = [[]];
  for (const [index, row] of rows.entries()) {
    const isLone = row.cells.length === 1;
    const nextIsLone = (rows[index + 1]?.cells.length ?? 1) === 1;
    if (isLone && nextIsLone) parts.push([]);
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
  // Two columns of words are how addresses and articles are set; of words and numbers, how lists are.
  if (columns.length === 2 && !isNumeric(merged.map((cells) => cells[1]?.text ?? ""))) return null;
  const [first = [], ...rest] = merged;
  const firstHasNumbers = first.some((cell) => cell !== null && /\d/.test(cell.text));
  return {
    columns: columns.length,
    rows: merged,
    hasHeader: !firstHasNumbers && rest.some((cells) => cells.some(hasNumber)),
  };
}

/** The columns of the rows that have the most cells, when at least two rows agree, else of what remains. */
function findColumns(rows: readonly Row[]): Column[] {
  const counts = new Map<number, number>();
  for (const { cells } of rows) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  const width = Math.max(
    ...[...counts].filter(([, times]) => times >= 2 || counts.size === 1).map(([count]) => count),
    0,
  );
  if (width < 2) return [];
  const models = rows.filter((row) => row.cells.length === width);
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
    grid[first] = { cell, text: cell.text, span: Math.max(1, touched.length) };
  }
  return grid;
}

function nearest(cell: Cell, columns: readonly Column[]): number | null {
  let best: number | null = null;
  let distance = Number.POSITIVE_INFINITY;
  for (const [index, column] of columns.entries()) {
    const away = Math.max(column.left - cell.right, cell.left - column.right);
    if (away >= distance) continue;
    best = index;
    distance = away;
  }
  return best;
}

function overlap(cell: Column, column: Column): number {
  return Math.min(cell.right, column.right) - Math.max(cell.left, column.left);
}

/** A row with a single cell of words, under a row that has that cell too, is that cell's next line. */
function mergeContinuations(grid: readonly (TableCell | null)[][]): (TableCell | null)[][] {
  const merged: (TableCell | null)[][] = [];
  for (const row of grid) {
    const filled = row.flatMap((cell, index) => (cell === null ? [] : [index]));
    const [only = 0] = filled;
    const above = merged.at(-1);
    const [cell, target] = [row[only], above?.[only]];
    const isFirst = merged.length < 2;
    if (filled.length === 1 && !isFirst && above && cell && target && !hasNumber(cell)) {
      above[only] = { cell: join(target.cell, cell.cell), text: `${target.text} ${cell.text}`, span: target.span };
    } else merged.push(row);
  }
  return merged;
}

function join(first: Cell, second: Cell): Cell {
  return {
    text: `${first.text} ${second.text}`,
    words: [...first.words, ...second.words],
    left: Math.min(first.left, second.left),
    right: Math.max(first.right, second.right),
    boxes: [...first.boxes, ...second.boxes],
  };
}

function hasNumber(cell: TableCell | null): boolean {
  return cell !== null && /\d/.test(cell.text);
}

function isNumeric(texts: readonly string[]): boolean {
  return texts.filter((text) => /\d/.test(text)).length >= texts.length / 2;
}
