// Tables, by the places of their words and rules.

import { describe, expect, test } from "bun:test";
import type { Rule, Rules } from "../../src/engines/local/documents/rules.ts";
import { findTables } from "../../src/engines/local/documents/tables.ts";
import { layOut, type PlacedText, prose } from "../support/layout.ts";

/** The texts of all tables; an empty cell is null. */
function tablesOf(texts: readonly PlacedText[], rules?: Rules): (string | null)[][][] {
  const found = findTables(layOut(texts), rules);
  return found.map((table) => table.rows.map((row) => row.map((cell) => cell?.text ?? null)));
}

/** Cells at the columns' left edges. A cell of several lines is an array. */
function grid(
  rows: readonly (readonly (string | readonly string[] | null)[])[],
  { xs, y = 100, pitch = 18, leading = 12 }: GridPlace,
) {
  const texts: PlacedText[] = [];
  let top = y;
  for (const row of rows) {
    const lines = row.map((cell) => (cell === null ? [] : typeof cell === "string" ? [cell] : cell));
    for (const [column, cell] of lines.entries())
      for (const [line, text] of cell.entries()) texts.push({ x: xs[column] ?? 0, y: top + line * leading, text });
    top += pitch + (Math.max(...lines.map((cell) => cell.length)) - 1) * leading;
  }
  return texts;
}

interface GridPlace {
  readonly xs: readonly number[];
  readonly y?: number;
  readonly pitch?: number;
  readonly leading?: number;
}

function rule(at: number, from: number, to: number): Rule {
  return { at, from, to };
}

describe("without rules", () => {
  test("empty cells are null, and the others keep their columns", () => {
    const rows = [
      ["Item", "Count", "Price", "Note"],
      ["Oak chair", "12", "145.50", null],
      ["Ash table", null, "99.00", "on order"],
      ["Elm bench", "1", null, null],
      ["Larch shelf", "4", "20.00", "oiled"],
    ];
    expect(tablesOf(grid(rows, { xs: [40, 200, 300, 420] }))).toEqual([rows]);
  });

  test("the lines of a cell are joined if rows are farther apart than lines", () => {
    const rows = [
      ["Item", "Description", "Price"],
      ["A1", ["Oak chair with a seat of leather", "and arms that fold"], "145.50"],
      ["A2", "Ash table", "99.00"],
      ["A3", ["Elm bench that is oiled by hand", "in two coats, for the garden", "or the hall"], "310.20"],
    ];
    const joined = rows.map((row) => row.map((cell) => (Array.isArray(cell) ? cell.join(" ") : cell)));
    expect(tablesOf(grid(rows, { xs: [40, 120, 480], pitch: 22 }))).toEqual([joined] as never);
  });

  test("a line with a number in the first column alone is a row of its own", () => {
    const rows = [
      ["Item", "Count", "Price"],
      ["Oak chair", "12", "145.50"],
      ["Model 7", null, null],
      ["Ash table", "3", "99.00"],
    ];
    expect(tablesOf(grid(rows, { xs: [40, 300, 420], pitch: 14 }))).toEqual([rows]);
  });

  test("a line that fills only the column of words continues the row above", () => {
    const texts = grid(
      [
        ["Item", "Count", "Price"],
        ["Oak chair with a seat of leather", "12", "145.50"],
        ["and arms that fold", null, null],
        ["Ash table", "3", "99.00"],
      ],
      { xs: [40, 300, 420], pitch: 14 },
    );
    expect(tablesOf(texts)).toEqual([
      [
        ["Item", "Count", "Price"],
        ["Oak chair with a seat of leather and arms that fold", "12", "145.50"],
        ["Ash table", "3", "99.00"],
      ],
    ]);
  });

  test("columns of numbers that are close together are kept apart", () => {
    const rows = [
      ["Year", "Jan", "Feb", "Mar"],
      ["2024", "10", "20", "30"],
      ["2025", "11", "21", "31"],
      ["2026", "12", "22", "32"],
    ];
    expect(tablesOf(grid(rows, { xs: [40, 78, 111, 144] }))).toEqual([rows]);
  });

  test("two tables with text between them are two", () => {
    const first = [
      ["Item", "Count", "Price"],
      ["Oak", "12", "145.50"],
      ["Ash", "3", "99.00"],
    ];
    const texts = [
      ...grid(first, { xs: [40, 200, 300] }),
      { x: 40, y: 170, text: "The prices above are valid until the end of the year and include delivery." },
      ...grid(first, { xs: [40, 200, 300], y: 200 }),
    ];
    expect(tablesOf(texts)).toEqual([first, first]);
  });

  test("text in columns is not a table", () => {
    const texts = [40, 230, 420].flatMap((x, index) =>
      prose("abc".charAt(index), { x, y: 60, lines: 20, columnWidth: 150 }),
    );
    expect(tablesOf(texts)).toEqual([]);
  });
});

describe("with rules", () => {
  const xs = [0.05, 0.3, 0.6, 0.9];
  const lines = (at: readonly number[], from: number, to: number) => at.map((one) => rule(one, from, to));

  test("the cells are what the rules enclose, whatever the number of their lines", () => {
    const rows = [
      ["Name", "Remark", "State"],
      ["Pump", ["checked on the first floor", "and sealed again"], null],
      ["Valve", "open", ["needs a", "new", "spring"]],
    ];
    const texts = grid(rows, { xs: [40, 190, 370], y: 105, pitch: 12, leading: 12 });
    const ys = [100, 118, 142, 180].map((y) => y / 800);
    const rules = { horizontal: lines(ys, 0.05, 0.9), vertical: lines(xs, 100 / 800, 180 / 800) };
    const joined = rows.map((row) => row.map((cell) => (Array.isArray(cell) ? cell.join(" ") : cell)));
    expect(tablesOf(texts, rules)).toEqual([joined] as never);
  });

  test("a missing rule makes two cells one", () => {
    const texts = grid(
      [
        ["Totals of the year", null, "State"],
        ["Pump", "12", "open"],
      ],
      { xs: [40, 190, 370], y: 105, pitch: 20 },
    );
    const ys = [100, 120, 140].map((y) => y / 800);
    const [first = 0, second = 0, third = 0, fourth = 0] = xs;
    const vertical = [...lines([first, third, fourth], 100 / 800, 140 / 800), rule(second, 120 / 800, 140 / 800)];
    const [table] = findTables(layOut(texts), { horizontal: lines(ys, 0.05, 0.9), vertical });
    expect(table?.rows[0]?.[0]).toMatchObject({ text: "Totals of the year", span: 2, rowSpan: 1 });
    expect(table?.rows[0]?.[1]).toBeNull();
    expect(table?.rows[1]?.[1]).toMatchObject({ text: "12", span: 1 });
  });

  test("rules around the head and the body only do not join the rows of the body", () => {
    const rows = [
      ["Name", "Count", "State"],
      ["Pump", "12", "open"],
      ["Valve", "3", "shut"],
      ["Hose", "7", "open"],
    ];
    const texts = grid(rows, { xs: [40, 190, 370], y: 105, pitch: 16 });
    const ys = [100, 119, 170].map((y) => y / 800);
    const rules = { horizontal: lines(ys, 0.05, 0.9), vertical: lines(xs, 100 / 800, 170 / 800) };
    expect(tablesOf(texts, rules)).toEqual([rows]);
  });

  test("rules between some rows only do not join the others", () => {
    const rows = [
      ["Item", "Count", "Price"],
      ["Oak table", "2", "1250.00"],
      ["Oak chair", "12", "145.50"],
      ["Fitting", "6", "48.00"],
    ];
    const texts = grid(rows, { xs: [40, 190, 370], y: 105, pitch: 16 });
    const rules = { horizontal: lines([119 / 800, 135 / 800], 0.05, 0.9), vertical: [] };
    expect(tablesOf(texts, rules)).toEqual([rows]);
  });

  test("a frame around prose is not a table", () => {
    const texts = prose("a", { x: 40, y: 110, lines: 5, columnWidth: 400 });
    const rules = { horizontal: lines([0.12, 0.3], 0.05, 0.9), vertical: lines([0.05, 0.9], 0.12, 0.3) };
    expect(tablesOf(texts, rules)).toEqual([]);
  });
});
