// The rows of a table: lines of text that belong to the same row are joined.

import { median } from "./median.ts";
import { type GridRow, hasNumber, joinCells, type TableCell, type TableRow } from "./table.ts";

// Rows are that much farther apart than the lines of one row.
const rowSpacing = 1.2;
const closerThan = 0.9;
const numericShare = 0.6;
const minBlocks = 3;
// Tables with a rule below each row have few lines between two rules. Others have rules around the body only.
const maxLinesBetweenRules = 5;

/** The lines of each row. `separators`: the heights of horizontal rules. */
export function splitRows(lines: readonly GridRow[], separators: readonly number[]): GridRow[][] {
  const gaps = lines.slice(1).map((line, index) => findGap(lines[index] as GridRow, line, separators));
  return splitAtRules(lines, gaps) ?? splitAtSpacing(lines, gaps) ?? joinContinuations(lines, gaps);
}

/** What is between a line and the next. */
interface Gap {
  /** From the middle of one to the middle of the other. */
  readonly distance: number;
  readonly hasRule: boolean;
}

function findGap(above: GridRow, below: GridRow, separators: readonly number[]): Gap {
  const [from, to] = [middleOf(above), middleOf(below)];
  return { distance: to - from, hasRule: separators.some((at) => at > from && at < to) };
}

/** Null: the rules do not separate rows. */
function splitAtRules(lines: readonly GridRow[], gaps: readonly Gap[]): GridRow[][] | null {
  const blocks = splitWhere(lines, (index) => gaps[index]?.hasRule === true);
  const [across, within] = [true, false].map((hasRule) =>
    median(gaps.filter((gap) => gap.hasRule === hasRule).map(({ distance }) => distance)),
  ) as [number, number];
  // Lines of one row are closer to each other than to the lines beyond a rule. Otherwise some rules are missing or were not found.
  if (within > closerThan * across) return null;
  const numeric = findNumericColumns(lines);
  const isRow = (block: readonly GridRow[]) =>
    block.length <= maxLinesBetweenRules && isOneRow(block, numeric, blocks.length);
  const isForRows = blocks.length >= minBlocks && blocks.every(isRow);
  return isForRows && blocks.some((block) => block.length > 1) ? blocks : null;
}

/** Null: all lines are equally far apart, or the blocks cannot be rows. */
function splitAtSpacing(lines: readonly GridRow[], gaps: readonly Gap[]): GridRow[][] | null {
  const sorted = gaps.map(({ distance }) => distance).toSorted((one, other) => one - other);
  let limit: number | null = null;
  let largest = rowSpacing;
  for (const [index, distance] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next === undefined || distance <= 0 || next / distance < largest) continue;
    largest = next / distance;
    limit = (distance + next) / 2;
  }
  if (limit === null) return null;
  const farthest = limit;
  const blocks = splitWhere(lines, (index) => (gaps[index]?.distance ?? 0) > farthest);
  const numeric = findNumericColumns(lines);
  return blocks.every((block) => isOneRow(block, numeric, blocks.length)) ? blocks : null;
}

/** `isEnd`: whether a block ends between the line of this index and the next. */
function splitWhere(lines: readonly GridRow[], isEnd: (index: number) => boolean): GridRow[][] {
  const blocks: GridRow[][] = [];
  for (const [index, line] of lines.entries()) {
    if (index === 0 || isEnd(index - 1)) blocks.push([line]);
    else blocks.at(-1)?.push(line);
  }
  return blocks;
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

/** The cells of a row of several lines. */
export function joinLines(block: readonly GridRow[]): TableRow {
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

/** A line that fills few columns, and none with numbers, continues the row above if its text would not have fitted there. */
function joinContinuations(lines: readonly GridRow[], gaps: readonly Gap[]): GridRow[][] {
  const numeric = findNumericColumns(lines);
  const widths = (lines[0]?.cells ?? []).map((_, index) =>
    lines.reduce((widest, { cells }) => Math.max(widest, widthOf(cells[index])), 0),
  );
  const rows: GridRow[][] = [];
  let above: TableRow = [];
  for (const [at, line] of lines.entries()) {
    const { cells } = line;
    const filled = cells.flatMap((cell, index) => (cell === null ? [] : [index]));
    const isContinuation =
      rows.length >= 2 &&
      gaps[at - 1]?.hasRule !== true &&
      filled.length <= Math.max(1, cells.length / 2) &&
      filled.every((index) => above[index] != null && !numeric.includes(index)) &&
      (filled.length === 1 || !filled.includes(0)) &&
      filled.length < above.filter((cell) => cell !== null).length &&
      filled.every((index) => continues(lines[at - 1]?.cells[index], cells[index], widths[index] ?? 0)) &&
      !filled.some((index) => hasNumber(cells[index]) && filled.length === 1 && index === 0);
    if (isContinuation) rows.at(-1)?.push(line);
    else rows.push([line]);
    above = isContinuation ? above.map((cell, index) => cell ?? cells[index] ?? null) : cells;
  }
  return rows;
}

/** Text is continued in the next line where its first word does not fit, or in the middle of a sentence. */
function continues(above: TableCell | null | undefined, below: TableCell | null | undefined, columnWidth: number) {
  if (above == null || below == null) return false;
  const [firstWord = ""] = below.text.split(" ");
  const letterWidth = widthOf(below) / Math.max(1, below.text.length);
  const fits = widthOf(above) + (firstWord.length + 1) * letterWidth <= columnWidth;
  return !fits || (startsSmall(below.text) && !startsSmall(above.text));
}

function startsSmall(text: string): boolean {
  return /^\p{Ll}/u.test(text);
}

function widthOf(cell: TableCell | null | undefined): number {
  return cell == null ? 0 : cell.right - cell.left;
}

function middleOf({ top, bottom }: GridRow): number {
  return (top + bottom) / 2;
}
