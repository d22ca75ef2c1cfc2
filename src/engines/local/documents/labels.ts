// Finding a value by the label beside it: after the label in the same cell, in the next cell, or in the cell below.

import type { Cell, Row } from "./rows.ts";

export interface Found<T> {
  readonly value: T;
  readonly row: number;
}

/** The first value that `read` accepts at the first label that has one. */
export function findLabelled<T>(
  rows: readonly Row[],
  label: RegExp,
  read: (text: string) => T | null,
): Found<T> | null {
  for (const [index, row] of rows.entries()) {
    for (const [column, cell] of row.cells.entries()) {
      const match = label.exec(cell.text);
      if (match === null) continue;
      const value = readBeside(rows, index, column, cell.text.slice(match.index + match[0].length), read);
      if (value !== null) return { value, row: index };
    }
  }
  return null;
}

function readBeside<T>(
  rows: readonly Row[],
  index: number,
  column: number,
  rest: string,
  read: (text: string) => T | null,
): T | null {
  const inCell = rest.replace(/^[\s:.#=–-]+/, "").trim();
  if (inCell !== "") return read(inCell);
  const row = rows[index];
  const next = row?.cells[column + 1];
  const right = next === undefined ? null : read(next.text);
  if (right !== null) return right;
  const cell = row?.cells[column];
  return cell === undefined ? null : readBelow(rows, index, cell, read);
}

function readBelow<T>(rows: readonly Row[], index: number, cell: Cell, read: (text: string) => T | null): T | null {
  const [row, below] = [rows[index], rows[index + 1]];
  if (row === undefined || below === undefined || below.top - row.bottom > 2 * row.height) return null;
  const under = below.cells.find((other) => other.left < cell.right && cell.left < other.right);
  return under === undefined ? null : read(under.text);
}

/** The lines under a label, in its column, down to a gap or to what `ends` recognises. */
export function readBlock(rows: readonly Row[], from: number, cell: Cell, ends: (text: string) => boolean): string[] {
  const lines: string[] = [];
  let previous = rows[from];
  // The first line under a label may keep some distance.
  let widestGap = 2.2;
  for (const row of rows.slice(from + 1)) {
    if (previous === undefined || row.top - previous.bottom > widestGap * Math.max(previous.height, row.height)) break;
    const inColumn = row.cells.find((other) => Math.abs(other.left - cell.left) < 2.5 * row.height);
    if (inColumn === undefined) {
      // A row of the other column's, set between two of ours.
      if (row.top - previous.bottom > 1.2 * row.height) break;
      continue;
    }
    if (ends(inColumn.text)) break;
    lines.push(inColumn.text);
    previous = row;
    widestGap = 1.2;
    if (lines.length === 6) break;
  }
  return lines;
}
