// Reads the lines below a heading, such as an address.

import type { Cell, Row } from "./rows.ts";

/** The cells in the column of a heading, down to a gap or to a cell at which `ends` returns true. */
export function readBlock<R extends Row>(
  rows: readonly R[],
  from: number,
  cell: Cell,
  ends: (cell: Cell, row: R) => boolean,
): Cell[] {
  const cells: Cell[] = [];
  let previous = rows[from];
  // The gap between a heading and the first line may be wider.
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

/** By their left edges or, as in the right half of a letterhead and on receipts, by their right edges or centres. */
function isAligned(cell: Cell, other: Cell, height: number): boolean {
  const centres = Math.abs(cell.left + cell.right - other.left - other.right) / 2;
  return (
    Math.abs(cell.left - other.left) < 2.5 * height ||
    Math.abs(cell.right - other.right) < 0.3 * height ||
    centres < 0.5 * height
  );
}
