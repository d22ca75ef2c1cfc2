// Finds the tables of a page: those with drawn rules by their cells, the others by alignment. Text in columns is not a table.

import { median } from "./median.ts";
import type { Page } from "./page.ts";
import { toRegions } from "./reading-order.ts";
import { type Row, toRows } from "./rows.ts";
import { findRuledTables } from "./ruled-tables.ts";
import type { Rule, Rules } from "./rules.ts";
import { areFull, haveWidePitch, isRunningText } from "./running-text.ts";
import { type GridRow, hasHeader, type Table } from "./table.ts";
import { type Column, findColumns, joinHeads, toGridRow } from "./table-columns.ts";
import { joinLines, splitRows } from "./table-rows.ts";

// Relative to the height of a row. A wider gap ends the table.
const maxRowGap = 2.6;
const proseWidth = 8;
const minProseRows = 6;
const minWordRows = 3;
const fullShare = 0.8;
// Relative to the size of the text. The lines of addresses and articles are at most one and a half times as far apart.
const minWordPitch = 1.6;
const noRules: Rules = { horizontal: [], vertical: [] };

/** `rules`: the lines that are drawn on the page, if they are known. */
export function findTables(page: Page, rules: Rules = noRules): Table[] {
  const { tables, words } = findRuledTables(page, rules);
  const rest = page.lines.map((line) => ({ ...line, words: line.words.filter((word) => !words.has(word)) }));
  const remaining: Page = { ...page, lines: rest.filter((line) => line.words.length > 0) };
  const aligned = toRegions(remaining).flatMap((region) =>
    splitAtGaps(toRows(region)).flatMap((rows) => toTables(rows, page, rules.horizontal)),
  );
  return [...tables, ...aligned].sort((one, other) => one.top - other.top).map(({ table }) => table);
}

/** Groups of rows that begin with a row of several cells. */
function splitAtGaps(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [[]];
  for (const row of rows) {
    const previous = groups.at(-1)?.at(-1);
    if (previous !== undefined && row.top - previous.bottom > maxRowGap * Math.max(previous.height, row.height))
      groups.push([]);
    if (row.cells.length >= 2 || groups.at(-1)?.length) groups.at(-1)?.push(row);
  }
  return groups.filter((group) => group.length > 0);
}

/** A row of one cell that covers several columns is a heading or a paragraph and ends the table. */
function toTables(rows: readonly Row[], page: Page, rules: readonly Rule[]): { table: Table; top: number }[] {
  const last = rows.findLastIndex((row) => row.cells.length >= 2);
  const found = findColumns(rows.slice(0, last + 1), page.width);
  if (found.length < 2) return [];
  const columns = joinHeads(
    found,
    rows.slice(0, last + 1).map((row) => toGridRow(row, found, page.width)),
  );
  const isCrossing = ({ cells: [only, ...others] }: Row) =>
    only !== undefined &&
    others.length === 0 &&
    columns.filter((column) => only.left < column.right && column.left < only.right).length > 1;
  const parts: Row[][] = [[]];
  for (const row of rows) {
    if (isCrossing(row)) parts.push([]);
    else parts.at(-1)?.push(row);
  }
  if (parts.length > 1)
    return parts.flatMap((part) => splitAtGaps(part)).flatMap((part) => toTables(part, page, rules));
  const lines = rows.map((row) => toGridRow(row, columns, page.width));
  const separators = rules.map((rule) => rule.at * page.height);
  const table = toTable(lines, columns, separators);
  return table === null ? [] : [{ table, top: (rows[0]?.top ?? 0) / page.height }];
}

function toTable(lines: readonly GridRow[], columns: readonly Column[], separators: readonly number[]): Table | null {
  const blocks = splitRows(dropParagraphs(lines), separators);
  const merged = blocks.map(joinLines);
  if (merged.filter((cells) => cells.filter((cell) => cell !== null).length >= 2).length < 2) return null;
  if (isText(lines)) return null;
  // Two columns of words are addresses or articles and not a table, unless their rows are set apart.
  const isOfWords = columns.length === 2 && !isNumeric(merged.map((cells) => cells[1]?.text ?? ""));
  if (isOfWords && !areSetApart(blocks, separators)) return null;
  return { columns: columns.length, rows: merged, hasHeader: hasHeader(merged) };
}

/** Text below a table that fills only the first column, over several lines, is a paragraph. */
function dropParagraphs(lines: readonly GridRow[]): GridRow[] {
  const last = lines.findLastIndex(({ cells }) => cells.filter((cell) => cell !== null).length >= 2);
  const below = lines.slice(last + 1);
  return below.length > 2 ? lines.slice(0, last + 1) : [...lines];
}

/** Columns of prose have long lines that continue each other, in at least two of them. */
function isText(lines: readonly GridRow[]): boolean {
  if (lines.length < minProseRows) return false;
  const middles = lines.map(({ top, bottom }) => (top + bottom) / 2);
  if (haveWidePitch(middles, median(lines.map(({ height }) => height)))) return false;
  const [first] = lines;
  const prose = first?.cells.filter((_, index) => {
    const filled = lines.flatMap(({ cells, height }) => {
      const cell = cells[index];
      return cell == null ? [] : [{ text: cell.text, width: (cell.right - cell.left) / Math.max(height, 1e-9) }];
    });
    return (
      filled.length >= minProseRows &&
      median(filled.map(({ width }) => width)) >= proseWidth &&
      isRunningText(filled.map(({ text }) => text)) !== false &&
      areFull(filled)
    );
  });
  return (prose ?? []).length >= 2;
}

/**
 * There is a rule between nearly all rows. Or nearly all have two cells, and they have more than the distance of lines between them, or rules at the
 * head and the end.
 */
function areSetApart(blocks: readonly (readonly GridRow[])[], separators: readonly number[]): boolean {
  const rows = blocks.flatMap((block) => {
    const [first, last] = [block[0], block.at(-1)];
    if (first === undefined || last === undefined) return [];
    const isFull = joinLines(block).every((cell) => cell !== null);
    return [{ top: first.top, bottom: last.bottom, height: first.height, isFull }];
  });
  const [first, second] = rows;
  const last = rows.at(-1);
  if (first === undefined || second === undefined || last === undefined || rows.length < minWordRows) return false;
  const hasRule = (from: number, to: number) => separators.some((at) => at > from && at < to);
  const between = rows.slice(1).map((row, index) => ({ from: rows[index]?.bottom ?? 0, to: row.top }));
  const full = rows.filter(({ isFull }) => isFull).length;
  const ruled = between.filter(({ from, to }) => hasRule(from - first.height / 2, to + first.height / 2)).length;
  if (ruled >= fullShare * between.length) return full >= rows.length / 2;
  if (full < fullShare * rows.length) return false;
  const pitch = median(between.map(({ from, to }) => to - from)) + median(rows.map(({ height }) => height));
  return (
    pitch >= minWordPitch * textSize(blocks.flat()) ||
    (hasRule(first.top - first.height, first.bottom) && hasRule(last.top, last.bottom + last.height)) ||
    (hasRule(first.top, second.bottom) && hasRule(last.top, last.bottom + last.height))
  );
}

/** In the units of the page. Boxes of recognised text are up to twice as high as its letters, so the width of a letter limits it. */
function textSize(lines: readonly GridRow[]): number {
  const cells = lines.flatMap((line) => line.cells.flatMap((cell) => cell ?? []));
  const letterWidth = median(cells.map(({ left, right, text }) => (right - left) / text.length));
  return Math.min(2 * letterWidth, median(lines.map(({ height }) => height)));
}

function isNumeric(texts: readonly string[]): boolean {
  return texts.filter((text) => /\d/.test(text)).length >= texts.length / 2;
}
