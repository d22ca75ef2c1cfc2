// Finds the tables of a page: those with drawn rules by their cells, the others by alignment. Text in columns is not a table.

import { median } from "./median.ts";
import type { Page } from "./page.ts";
import { toRegions } from "./reading-order.ts";
import { type Row, toRows } from "./rows.ts";
import { findRuledTables } from "./ruled-tables.ts";
import type { Rule, Rules } from "./rules.ts";
import { type GridRow, hasHeader, type Table } from "./table.ts";
import { type Column, findColumns, toGridRow } from "./table-columns.ts";
import { mergeLines } from "./table-rows.ts";

// Relative to the height of a row. A wider gap ends the table.
const maxRowGap = 2.6;
const proseWidth = 8;
const minProseRows = 6;
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
  const columns = findColumns(rows.slice(0, last + 1), page.width);
  if (columns.length < 2) return [];
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
  const merged = mergeLines(dropParagraphs(lines), separators);
  if (merged.filter((cells) => cells.filter((cell) => cell !== null).length >= 2).length < 2) return null;
  if (isText(lines)) return null;
  // Two columns of words are addresses or articles and not a table.
  if (columns.length === 2 && !isNumeric(merged.map((cells) => cells[1]?.text ?? ""))) return null;
  return { columns: columns.length, rows: merged, hasHeader: hasHeader(merged) };
}

/** Text below a table that fills only the first column, over several lines, is a paragraph. */
function dropParagraphs(lines: readonly GridRow[]): GridRow[] {
  const last = lines.findLastIndex(({ cells }) => cells.filter((cell) => cell !== null).length >= 2);
  const below = lines.slice(last + 1);
  return below.length > 2 ? lines.slice(0, last + 1) : [...lines];
}

/** Columns of prose have long lines, in at least two of them. */
function isText(lines: readonly GridRow[]): boolean {
  if (lines.length < minProseRows) return false;
  const [first] = lines;
  const widths = first?.cells.map((_, index) => {
    const cells = lines.flatMap(({ cells, height }) => {
      const cell = cells[index];
      return cell == null ? [] : [(cell.right - cell.left) / Math.max(height, 1e-9)];
    });
    return cells.length >= minProseRows ? median(cells) : 0;
  });
  return (widths ?? []).filter((width) => width >= proseWidth).length >= 2;
}

function isNumeric(texts: readonly string[]): boolean {
  return texts.filter((text) => /\d/.test(text)).length >= texts.length / 2;
}
