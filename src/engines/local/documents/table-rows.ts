// The rows of a table: lines of text that belong to the same row are joined.

import { type GridRow, hasNumber, joinCells, type TableCell, type TableRow } from "./table.ts";

// Rows are that much farther apart than the lines of one row.
const rowSpacing = 1.2;
const numericShare = 0.6;
const minBlocks = 3;
// Tables with a rule below each row have few lines between two rules. Others have rules around the body only.
const maxLinesBetweenRules = 5;

/** `separators`: the heights of horizontal rules. */
export function mergeLines(lines: readonly GridRow[], separators: readonly number[]): TableRow[] {
  const byRules = splitAtRules(lines, separators);
  if (byRules !== null) return byRules.map(joinBlock);
  const bySpacing = splitAtSpacing(lines);
  if (bySpacing !== null) return bySpacing.map(joinBlock);
  return joinContinuations(lines);
}

/** Null: the rules do not separate rows. */
function splitAtRules(lines: readonly GridRow[], separators: readonly number[]): GridRow[][] | null {
  const blocks: GridRow[][] = [[]];
  for (const [index, line] of lines.entries()) {
    const above = lines[index - 1];
    const isSeparated = above !== undefined && separators.some((at) => at > middleOf(above) && at < middleOf(line));
    if (isSeparated) blocks.push([]);
    blocks.at(-1)?.push(line);
  }
  const numeric = findNumericColumns(lines);
  const isRow = (block: readonly GridRow[]) =>
    block.length <= maxLinesBetweenRules && isOneRow(block, numeric, blocks.length);
  const isForRows = blocks.length >= minBlocks && blocks.every(isRow);
  return isForRows && blocks.some((block) => block.length > 1) ? blocks : null;
}

/** Null: all lines are equally far apart, or the blocks cannot be rows. */
function splitAtSpacing(lines: readonly GridRow[]): GridRow[][] | null {
  const distances = lines.slice(1).map((line, index) => middleOf(line) - middleOf(lines[index] as GridRow));
  const sorted = distances.toSorted((one, other) => one - other);
  let limit: number | null = null;
  let largest = rowSpacing;
  for (const [index, distance] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next === undefined || distance <= 0 || next / distance < largest) continue;
    largest = next / distance;
    limit = (distance + next) / 2;
  }
  if (limit === null) return null;
  const blocks: GridRow[][] = [];
  for (const [index, line] of lines.entries()) {
    if (index === 0 || (distances[index - 1] ?? 0) > limit) blocks.push([line]);
    else blocks.at(-1)?.push(line);
  }
  const numeric = findNumericColumns(lines);
  return blocks.every((block) => isOneRow(block, numeric, blocks.length)) ? blocks : null;
}

function findNumericColumns(lines: readonly GridRow[]): number[] {
  const [first] = lines;
  return (first?.cells ?? []).flatMap((_, index) => {
    const filled = lines.slice(1).flatMap(({ cells }) => cells[index] ?? []);
    const numbers = filled.filter((cell) => hasNumber(cell)).length;
    return filled.length > 0 && numbers >= numericShare * filled.length ? [index] : [];
  });
}

/** A number is on one line of its row. Without numbers, at least one cell of the row has fewer lines than the others. */
function isOneRow(block: readonly GridRow[], numeric: readonly number[], blocks: number): boolean {
  if (block.length === 1) return true;
  const linesOf = (index: number) => block.filter(({ cells }) => cells[index] != null).length;
  if (numeric.some((index) => linesOf(index) > 1)) return false;
  const columns = block[0]?.cells.map((_, index) => index) ?? [];
  return blocks >= minBlocks || columns.some((index) => linesOf(index) < block.length);
}

function joinBlock(block: readonly GridRow[]): TableRow {
  const [first, ...others] = block;
  const cells = [...(first?.cells ?? [])];
  for (const line of others) addLine(cells, line.cells);
  return cells;
}

function addLine(cells: (TableCell | null)[], line: TableRow): void {
  for (const [index, cell] of line.entries()) {
    if (cell === null) continue;
    const above = cells[index];
    cells[index] = above == null ? cell : joinCells(above, cell);
  }
}

/** A line that fills few columns, and none with numbers, continues the row above. */
function joinContinuations(lines: readonly GridRow[]): TableRow[] {
  const numeric = findNumericColumns(lines);
  const rows: (TableCell | null)[][] = [];
  for (const { cells } of lines) {
    const above = rows.at(-1);
    const filled = cells.flatMap((cell, index) => (cell === null ? [] : [index]));
    const isContinuation =
      rows.length >= 2 &&
      above !== undefined &&
      filled.length <= Math.max(1, cells.length / 2) &&
      filled.every((index) => above[index] != null && !numeric.includes(index)) &&
      (filled.length === 1 || !filled.includes(0)) &&
      filled.length < above.filter((cell) => cell !== null).length &&
      !filled.some((index) => hasNumber(cells[index]) && filled.length === 1 && index === 0);
    if (isContinuation && above !== undefined) addLine(above, cells);
    else rows.push([...cells]);
  }
  return rows;
}

function middleOf({ top, bottom }: GridRow): number {
  return (top + bottom) / 2;
}
