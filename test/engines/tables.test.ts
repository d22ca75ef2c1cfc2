// Tables, by the places of their words and rules.

import { describe, expect, test } from "bun:test";
import { type Page, toLine, type Word } from "../../src/engines/local/documents/page.ts";
import type { Rule, Rules } from "../../src/engines/local/documents/rules.ts";
import { findTables } from "../../src/engines/local/documents/tables.ts";
import { grid, layOut, type PlacedText, prose, readTable } from "../support/layout.ts";

/** The texts of all tables; an empty cell is null. */
function tablesOf(texts: readonly PlacedText[], rules?: Rules): (string | null)[][][] {
  const found = findTables(layOut(texts), rules);
  return found.map((table) => table.rows.map((row) => row.map((cell) => cell?.text ?? null)));
}

/** Boxes that are higher than the letters, as PP-OCRv6 returns them. */
function raiseBoxes(page: Page): Page {
  const raise = ({ box, ...word }: Word) => ({ ...word, box: { ...box, top: box.top - 0.0037, height: 0.02 } });
  return { ...page, lines: page.lines.map((line) => toLine(line.words.map(raise))) };
}

function rule(at: number, from: number, to: number): Rule {
  return { at, from, to };
}

describe("without rules", () => {
  const words = readTable(`
    Term   | Meaning
    Sheave | Wheel of a block
    Cleat  | Fitting for a rope
    Fender | Cushion at the side
  `);

  test("empty cells are null, and the others keep their columns", () => {
    const rows = readTable(`
      Item        | Count | Price  | Note
      Oak chair   | 12    | 145.50 |
      Ash table   |       | 99.00  | on order
      Elm bench   | 1     |        |
      Larch shelf | 4     | 20.00  | oiled
    `);
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
    const rows = readTable(`
      Item      | Count | Price
      Oak chair | 12    | 145.50
      Model 7   |       |
      Ash table | 3     | 99.00
    `);
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

  test("a line that fills one column is a row of its own if its first word would have fitted into the line above", () => {
    const rows = readTable(`
      Item                         | Price
      Ball valve with a long lever | 21.50
      Hose clamp                   | 5.90
      Wall plug                    |
      Door hinge                   | 21.40
      Floor drain                  |
    `);
    expect(tablesOf(grid(rows, { xs: [40, 300], pitch: 14 }))).toEqual([rows]);
  });

  test("a rule between two lines makes them two rows, however long the text is", () => {
    const rows = readTable(`
      Item                         | Price
      Ball valve with a long lever | 21.50
      Hose clamp of brushed steel  |
      Door hinge                   | 21.40
    `);
    const texts = grid(rows, { xs: [40, 300], y: 105, pitch: 14 });
    const horizontal = [103, 117, 131, 145].map((y) => rule(y / 800, 0.05, 0.9));
    expect(tablesOf(texts, { horizontal, vertical: [] })).toEqual([rows]);
  });

  test("rows with a rule that was not found between them stay two if they are as far apart as others", () => {
    const rows = readTable(`
      Month | Town | Note
      May   | Kiel | sold out
      March | Oslo | open
      April | York | on order
      June  | Bari | shut
    `);
    const texts = grid(rows, { xs: [40, 200, 400], y: 105, pitch: 18 });
    const horizontal = [119, 137, 173].map((y) => rule(y / 800, 0.05, 0.9));
    expect(tablesOf(texts, { horizontal, vertical: [] })).toEqual([rows]);
  });

  test("a long number that begins below the head of its column belongs to it", () => {
    const rows = [
      ["Code", "Betrag", "Pieces"],
      ...["690,96", "293,45", "299,56", "703,13", "873,23", "1 646,86", "277,64", "847,82"].map((amount, index) => [
        `TH-${index}94`,
        amount,
        String(8 - index),
      ]),
    ];
    const texts = rows.flatMap((row, index) =>
      row.map((text, column) => ({
        x: column === 1 && index > 0 ? 260 - text.length * 5 : ([40, 192, 400][column] ?? 0),
        y: 100 + index * 18,
        text,
      })),
    );
    expect(tablesOf(texts)).toEqual([rows]);
  });

  test("columns of numbers that are close together are kept apart", () => {
    const rows = readTable(`
      Year | Jan | Feb | Mar
      2024 | 10  | 20  | 30
      2025 | 11  | 21  | 31
      2026 | 12  | 22  | 32
    `);
    expect(tablesOf(grid(rows, { xs: [40, 78, 111, 144] }))).toEqual([rows]);
  });

  test("two tables with text between them are two", () => {
    const first = readTable(`
      Item | Count | Price
      Oak  | 12    | 145.50
      Ash  | 3     | 99.00
    `);
    const texts = [
      ...grid(first, { xs: [40, 200, 300] }),
      { x: 40, y: 170, text: "The prices above are valid until the end of the year and include delivery." },
      ...grid(first, { xs: [40, 200, 300], y: 200 }),
    ];
    expect(tablesOf(texts)).toEqual([first, first]);
  });

  test("long cells of words are a table, because they do not continue each other", () => {
    const rows = readTable(`
      Course                    | Teacher                | Room
      Watercolour for beginners | Harriet J. Longbottom  | Old Library
      Bread from sourdough      | Piotr Paweł Wasilewski | Kitchen
      Bicycle repair at home    | Samuel Ike Okonkwo     | Workshop
      Italian conversation      | Giulia Maria Ferraresi | Room 14
      Birds of the estuary      | Margaret Threlfall     | Visitor hut
      Choir without auditions   | Owen Rhys Pritchard    | Chapel Hall
    `);
    expect(tablesOf(grid(rows, { xs: [40, 220, 400] }))).toEqual([rows]);
  });

  test("long cells that begin with small letters are a table, too, if their rows are farther apart than lines", () => {
    const rows = Array.from({ length: 8 }, (_, index) => [
      `the first of the sentences no ${index}`,
      `and what belongs to it, number ${index}`,
      String(index),
    ]);
    expect(tablesOf(grid(rows, { xs: [40, 240, 440], pitch: 24 }))).toEqual([rows]);
  });

  test("two columns of words are a table if their rows are set apart, by space or by rules", () => {
    expect(tablesOf(grid(words, { xs: [40, 300], pitch: 24 }))).toEqual([words]);
    expect(tablesOf(grid(words, { xs: [40, 300], pitch: 17 }))).toEqual([words]);
    const close = grid(words, { xs: [40, 300], y: 105, pitch: 13 });
    expect(tablesOf(close)).toEqual([]);
    const rules = { horizontal: [101, 118, 158].map((y) => rule(y / 800, 0.05, 0.9)), vertical: [] };
    expect(tablesOf(close, rules)).toEqual([words]);
  });

  test("the pitch of two columns of words is compared with the size of the letters, because recognised boxes are higher", () => {
    const [table] = findTables(raiseBoxes(layOut(grid(words, { xs: [40, 300], pitch: 18 }))));
    expect(table?.rows.map((row) => row.map((cell) => cell?.text ?? null))).toEqual(words);
  });

  test("a column of words beside a column of sentences is a table if rules or space set its rows apart", () => {
    const rows = [
      ["Town", "Details"],
      ["Ghent", ["Painted in two coats, oiled by", "hand and polished"]],
      ["Kiel", ["Returned with a broken handle"]],
      ["Bari", ["Sold with a warranty of five", "years on all moving parts and", "sealed again"]],
    ];
    const joined = rows.map((row) => row.map((cell) => (Array.isArray(cell) ? cell.join(" ") : cell)));
    const texts = grid(rows, { xs: [40, 240], y: 105, pitch: 20, leading: 12 });
    expect(tablesOf(texts)).toEqual([joined] as never);
    const ruled = grid(
      rows.map((row) => (row[0] === "Kiel" ? ["Kiel", null] : row)),
      { xs: [40, 240], y: 105, pitch: 20, leading: 12 },
    );
    const horizontal = [101, 120, 152, 172].map((y) => rule(y / 800, 0.05, 0.9));
    const withEmpty = joined.map((row) => (row[0] === "Kiel" ? ["Kiel", null] : row));
    expect(tablesOf(ruled, { horizontal, vertical: [] })).toEqual([withEmpty] as never);
  });

  test("a head that is aligned left is the head of numbers that are aligned right", () => {
    const heads = ["Month", "Rain", "Days", "Heat"];
    const rows = [
      ["January", "58.4", "11", "4.7"],
      ["February", "41.0", "9", "5.9"],
      ["March", "49.3", "10", "8.8"],
    ];
    const [lefts, rights] = [
      [40, 150, 270, 390],
      [0, 250, 370, 490],
    ];
    const texts = [
      ...heads.map((text, column) => ({ x: lefts[column] ?? 0, y: 100, text })),
      ...rows.flatMap((row, index) =>
        row.map((text, column) => ({
          x: column === 0 ? 40 : (rights[column] ?? 0) - text.length * 5,
          y: 120 + index * 18,
          text,
        })),
      ),
    ];
    expect(tablesOf(texts)).toEqual([[heads, ...rows]]);
  });

  test("two columns of long cells with small letters are a table, because their lines end where more words would fit", () => {
    const rows = readTable(`
      Term                                    | Meaning
      sheave of a wooden block, old           | wheel that turns in a frame
      cleat of brass for the mainsail sheets  | part of metal that holds rope
      fender of rubber at the side            | bag of air for a quiet night
      rope at the bow of a small boat and aft | line that ties a boat to the quay at its front
      rod of an oar at the stern              | bar of wood for one of us
      wall of wood below the deck             | side of a cabin for two of us
      seat of the crew at the oars            | bank of oak that goes right across the boat
    `);
    const tables = findTables(raiseBoxes(layOut(grid(rows, { xs: [40, 300], pitch: 17 }))));
    expect(tables.map((table) => table.rows.map((row) => row.map((cell) => cell?.text ?? null)))).toEqual([rows]);
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
    const rows = readTable(`
      Name  | Count | State
      Pump  | 12    | open
      Valve | 3     | shut
      Hose  | 7     | open
    `);
    const texts = grid(rows, { xs: [40, 190, 370], y: 105, pitch: 16 });
    const ys = [100, 119, 170].map((y) => y / 800);
    const rules = { horizontal: lines(ys, 0.05, 0.9), vertical: lines(xs, 100 / 800, 170 / 800) };
    expect(tablesOf(texts, rules)).toEqual([rows]);
  });

  test("the rows of a body without rules between them may have several lines", () => {
    const rows = [
      ["Code", "Details"],
      ["TH-24", ["Painted in two coats,", "oiled by hand", "and polished"]],
      ["XR-45", ["Sold with a warranty", "of five years on", "all moving parts"]],
    ];
    const texts = grid(rows, { xs: [40, 190], y: 105, pitch: 20, leading: 12 });
    const ys = [100, 120, 210].map((y) => y / 800);
    const rules = { horizontal: lines(ys, 0.05, 0.6), vertical: lines(xs.slice(0, 3), 100 / 800, 210 / 800) };
    const joined = rows.map((row) => row.map((cell) => (Array.isArray(cell) ? cell.join(" ") : cell)));
    expect(tablesOf(texts, rules)).toEqual([joined] as never);
  });

  test("rules between some rows only do not join the others", () => {
    const rows = readTable(`
      Item      | Count | Price
      Oak table | 2     | 1250.00
      Oak chair | 12    | 145.50
      Fitting   | 6     | 48.00
    `);
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
