// Which parts of a page a set of boxes covers. The time depends on the number of boxes and not on their size, so hostile files cannot make it long.

import type { Box } from "./page.ts";

export interface Coverage {
  /** 1: the cell is covered, at least in part. Row by row. */
  readonly cells: Uint8Array;
  /** The share of the box that is covered, 0 to 1. */
  shareOf(box: Box): number;
}

export function createCoverage(boxes: readonly Box[], columns: number, rows: number): Coverage {
  const stride = columns + 1;
  const counts = new Int32Array(stride * (rows + 1));
  const add = (row: number, column: number, value: number) => {
    const at = row * stride + column;
    counts[at] = (counts[at] ?? 0) + value;
  };
  for (const box of boxes) {
    const { left, top, right, bottom } = toCells(box, columns, rows);
    add(top, left, 1);
    add(top, right, -1);
    add(bottom, left, -1);
    add(bottom, right, 1);
  }
  sumUp(counts, stride);
  const cells = new Uint8Array(columns * rows);
  // The number of covered cells above and to the left of each corner.
  const covered = new Int32Array(stride * (rows + 1));
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      if ((counts[row * stride + column] ?? 0) <= 0) continue;
      cells[row * columns + column] = 1;
      covered[(row + 1) * stride + column + 1] = 1;
    }
  }
  sumUp(covered, stride);
  const coveredAt = (row: number, column: number) => covered[row * stride + column] ?? 0;
  return {
    cells,
    shareOf(box) {
      const { left, top, right, bottom } = toCells(box, columns, rows);
      const inside = coveredAt(bottom, right) - coveredAt(top, right) - coveredAt(bottom, left) + coveredAt(top, left);
      return inside / ((right - left) * (bottom - top));
    },
  };
}

/** Replaces each value by the sum of all values above and to the left of it. */
function sumUp(values: Int32Array, stride: number): void {
  for (let index = 0; index < values.length; index++) {
    const left = index % stride === 0 ? 0 : (values[index - 1] ?? 0);
    const above = values[index - stride] ?? 0;
    const corner = index % stride === 0 ? 0 : (values[index - stride - 1] ?? 0);
    values[index] = (values[index] ?? 0) + left + above - corner;
  }
}

/** At least one cell, within the grid. The ends are exclusive. */
function toCells({ left, top, width, height }: Box, columns: number, rows: number) {
  const start = (value: number, count: number) => Math.min(count - 1, Math.max(0, Math.floor(value * count)));
  const end = (value: number, count: number) => Math.min(count, Math.ceil(value * count));
  const [firstColumn, firstRow] = [start(left, columns), start(top, rows)];
  return {
    left: firstColumn,
    top: firstRow,
    right: Math.max(firstColumn + 1, end(left + width, columns)),
    bottom: Math.max(firstRow + 1, end(top + height, rows)),
  };
}
