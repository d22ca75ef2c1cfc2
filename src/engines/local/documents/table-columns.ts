// The columns of a table without rules: the places where no row, or hardly any, has text are the gaps between them.

import { median } from "./median.ts";
import type { Extent } from "./page.ts";
import type { Cell, Row } from "./rows.ts";
import { type GridRow, joinCells } from "./table.ts";

export type Column = Extent;

// Relative to the mean width of a letter. Spaces within a cell are narrower.
const wordGap = 1.3;
// Relative to the height of the text.
const minGap = 0.3;
// The share of rows whose text may cross the gap between two columns.
const crossingShare = 0.1;
const fewRows = 5;

export function findColumns(rows: readonly Row[], pageWidth: number): Column[] {
  const parts = rows.map((row) => toParts(row, pageWidth));
  const several = parts.filter((cells) => cells.length >= 2);
  if (several.length < 2) return [];
  const allowed = maxCrossing(several.length);
  const minWidth = minGap * median(rows.map((row) => row.height));
  const columns = joinNear(findCovered(several.flat(), allowed), minWidth);
  // A column that hardly any row fills.
  const alone = several.flat().filter((part) => columns.every((column) => !overlaps(part, column)));
  return [...columns, ...joinNear(findCovered(alone, 0), minWidth)].sort((one, other) => one.left - other.left);
}

/** The number of rows whose text may cross the gap between two columns. */
function maxCrossing(rows: number): number {
  return rows < fewRows ? 0 : Math.max(1, Math.floor(crossingShare * rows));
}

/**
 * Joins a column that only the first row fills with its neighbour that only the other rows fill: the head is aligned left and the numbers are
 * aligned right, or the other way round, and they have nothing in common but the start of a few long numbers.
 */
export function joinHeads(columns: readonly Column[], lines: readonly GridRow[]): Column[] {
  const [first, ...others] = lines;
  const sideOf = (index: number) => {
    const isHead = first?.cells[index] != null;
    const filled = others.filter(({ cells }) => cells[index] != null).length;
    if (isHead) return filled > maxCrossing(others.length) ? "both" : "head";
    return filled > 0 ? "body" : "both";
  };
  const sides = columns.map((_, index) => sideOf(index));
  const joined: Column[] = [];
  for (let at = 0; at < columns.length; ) {
    let end = at;
    while (end < columns.length && sides[end] !== "both" && (end === at || sides[end] !== sides[end - 1])) end++;
    if (end === at) end++;
    joined.push(...joinPairs(columns.slice(at, end)));
    at = end;
  }
  return joined;
}

/** Heads and bodies in turns. Of an odd number, the first or the last one stays alone, whichever brings the others closer together. */
function joinPairs(columns: readonly Column[]): Column[] {
  if (columns.length < 2) return [...columns];
  const pairs = (from: number) =>
    columns.slice(from).flatMap((left, index) => {
      const right = columns[from + index + 1];
      return index % 2 === 0 && right !== undefined ? [{ left, right }] : [];
    });
  const gaps = (from: number) => pairs(from).reduce((sum, { left, right }) => sum + right.left - left.right, 0);
  const isOdd = columns.length % 2 === 1;
  const from = isOdd && gaps(1) < gaps(0) ? 1 : 0;
  return [
    ...columns.slice(0, from),
    ...pairs(from).map(({ left, right }) => ({ left: left.left, right: right.right })),
    ...(isOdd && from === 0 ? columns.slice(-1) : []),
  ];
}

/** Words that cannot be told from their neighbours by their distance form one cell over several columns. */
export function toGridRow(row: Row, columns: readonly Column[], pageWidth: number): GridRow {
  const filed = new Map<number, { cell: Cell; span: number }>();
  const file = (column: number, cell: Cell, span: number) => {
    const before = filed.get(column);
    filed.set(column, before === undefined ? { cell, span } : { cell: joinCells(before.cell, cell), span: 1 });
  };
  for (const part of toParts(row, pageWidth)) {
    const touched = columns.flatMap((column, index) => (overlaps(part, column) ? [index] : []));
    if (touched.length > 1 && row.cells.length > 1)
      for (const cell of splitPart(part, columns)) file(nearest(cell, columns), cell, 1);
    else file(touched[0] ?? nearest(part, columns), part, Math.max(1, touched.length));
  }
  const cells = columns.map((_, index) => {
    const found = filed.get(index);
    if (found === undefined) return null;
    const { text, words, left, right } = found.cell;
    return { text, words, left, right, span: found.span, rowSpan: 1 };
  });
  return { cells, top: row.top, bottom: row.bottom, height: row.height };
}

/** A part for each column in which it has words. */
function splitPart(part: Cell & { readonly places: readonly Column[] }, columns: readonly Column[]): Cell[] {
  const byColumn = Map.groupBy(
    part.words.map((word, index) => ({ word, place: part.places[index] ?? part })),
    ({ place }) => nearest(place, columns),
  );
  return [...byColumn.values()].map((items) => ({
    text: items.map(({ word }) => word.text).join(" "),
    words: items.map(({ word }) => word),
    left: Math.min(...items.map(({ place }) => place.left)),
    right: Math.max(...items.map(({ place }) => place.right)),
  }));
}

/** The row split at narrower gaps than between its cells. */
function toParts(row: Row, pageWidth: number): (Cell & { readonly places: readonly Column[] })[] {
  return row.cells.flatMap(({ words, left, text }) => {
    const places = words.map(({ box }) => ({
      left: box.left * pageWidth,
      right: (box.left + box.width) * pageWidth,
    }));
    const letters = text.replaceAll(" ", "").length;
    const gap = (wordGap * places.reduce((total, place) => total + place.right - place.left, 0)) / Math.max(1, letters);
    const groups: number[][] = [];
    for (const [index, place] of places.entries()) {
      const previous = places[index - 1];
      if (previous === undefined || place.left - previous.right > gap) groups.push([index]);
      else groups.at(-1)?.push(index);
    }
    return groups.map((group) => ({
      text: group.map((index) => words[index]?.text ?? "").join(" "),
      words: group.flatMap((index) => words[index] ?? []),
      places: group.flatMap((index) => places[index] ?? []),
      left: places[group[0] ?? 0]?.left ?? left,
      right: group.reduce((most, index) => Math.max(most, places[index]?.right ?? 0), 0),
    }));
  });
}

/** The intervals that more than the allowed number of parts cover. */
function findCovered(parts: readonly Column[], allowed: number): Column[] {
  const edges = parts.flatMap(({ left, right }) => [
    { at: left, change: 1 },
    { at: right, change: -1 },
  ]);
  edges.sort((one, other) => one.at - other.at || other.change - one.change);
  const covered: Column[] = [];
  let count = 0;
  let left: number | null = null;
  for (const { at, change } of edges) {
    count += change;
    if (count > allowed && left === null) left = at;
    if (count <= allowed && left !== null) {
      covered.push({ left, right: at });
      left = null;
    }
  }
  return covered;
}

function joinNear(columns: readonly Column[], minWidth: number): Column[] {
  const joined: Column[] = [];
  for (const column of columns) {
    const previous = joined.at(-1);
    if (previous !== undefined && column.left - previous.right < minWidth)
      joined[joined.length - 1] = { left: previous.left, right: Math.max(previous.right, column.right) };
    else joined.push(column);
  }
  return joined;
}

function overlaps(one: Column, other: Column): boolean {
  return Math.min(one.right, other.right) > Math.max(one.left, other.left);
}

/** The index of the column that shares most with the interval, or is nearest to it. */
function nearest(interval: Column, columns: readonly Column[]): number {
  const shared = columns.map((column) => Math.min(interval.right, column.right) - Math.max(interval.left, column.left));
  return shared.indexOf(shared.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY));
}
