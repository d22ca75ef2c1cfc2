// Finds a value by its label: after the label in the same cell, in the next cell, or in the cell below.

import type { Cell, Row } from "./rows.ts";

/** The first value that `read` accepts at a label. */
export function findLabelled<T>(rows: readonly Row[], label: RegExp, read: (text: string) => T | null): T | null {
  for (const [index, row] of rows.entries()) {
    for (const [column, cell] of row.cells.entries()) {
      const match = label.exec(cell.text);
      if (match === null) continue;
      const inCell = cell.text
        .slice(match.index + match[0].length)
        .replace(/^[\s:.#=–-]+/, "")
        .trim();
      const next = row.cells[column + 1];
      const value =
        inCell === "" ? ((next && read(next.text)) ?? readBelow(row, rows[index + 1], cell, read)) : read(inCell);
      if (value !== null) return value;
    }
  }
  return null;
}

function readBelow<T>(row: Row, below: Row | undefined, cell: Cell, read: (text: string) => T | null): T | null {
  if (below === undefined || below.top - row.bottom > 2 * row.height) return null;
  const under = below.cells.find((other) => other.left < cell.right && cell.left < other.right);
  return under === undefined ? null : read(under.text);
}

/** The cells in the column of a label, down to a gap or to a cell at which `ends` returns true. */
export function readBlock<R extends Row>(
  rows: readonly R[],
  from: number,
  cell: Cell,
  ends: (cell: Cell, row: R) => boolean,
): Cell[] {
  const cells: Cell[] = [];
  let previous = rows[from];
  // The gap between a label and the first line may be wider.
  let widestGap = 2.2;
  for (let index = from + 1; index < Math.min(rows.length, from + maxBlockRows); index++) {
    const row = rows[index];
    if (row === undefined || previous === undefined) break;
    if (row.top - previous.bottom > widestGap * Math.max(previous.height, row.height)) break;
    const inColumn = row.cells.find((other) => isAligned(other, cell, row.height));
    if (inColumn === undefined) {
      // Another column may have a row between two rows of this one.
      if (row.top - previous.bottom > 1.2 * row.height) break;
      continue;
    }
    if (ends(inColumn, row)) break;
    cells.push(inColumn);
    previous = row;
    widestGap = 1.2;
    if (cells.length === maxBlockLines) break;
  }
  return cells;
}

const maxBlockLines = 9;
const maxBlockRows = 40;

/** By their left edges or, as in the right half of a letterhead, by their right edges. */
function isAligned(cell: Cell, other: Cell, height: number): boolean {
  return Math.abs(cell.left - other.left) < 2.5 * height || Math.abs(cell.right - other.right) < 0.3 * height;
}
