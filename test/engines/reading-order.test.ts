// The reading order of pages, by the places of their words alone.

import { describe, expect, test } from "bun:test";
import { toReadingOrder } from "../../src/engines/local/documents/reading-order.ts";
import { grid, layOut, type PlacedText, prose, readTable } from "../support/layout.ts";

/** The first words of the lines in reading order. The words arrive in any order. */
function order(texts: readonly PlacedText[]): string[] {
  const shuffled = texts.toSorted((one, other) => one.y - other.y || one.x - other.x);
  return toReadingOrder(layOut(shuffled)).lines.map((line) => line.words[0]?.text ?? "");
}

function names(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name}${index}`);
}

/** Lines that begin at the left margin, one below the other. */
function atLeft(texts: readonly string[], y = 60): PlacedText[] {
  return texts.map((text, index) => ({ x: 40, y: y + index * 16, text }));
}

/** Lines that end at the right margin. */
function atRight(texts: readonly string[]): PlacedText[] {
  return texts.map((text, index) => ({ x: 560 - text.length * 5, y: 60 + index * 16, text }));
}

describe("columns", () => {
  test("two columns are read one after the other, with headings across both in between", () => {
    const texts = [
      { x: 150, y: 20, text: "Title of the whole article in large type", size: 14 },
      ...prose("a", { x: 40, y: 60, lines: 12, columnWidth: 250 }),
      ...prose("b", { x: 310, y: 60, lines: 12, columnWidth: 250 }),
      { x: 100, y: 240, text: "A heading that goes across both of the columns of the page" },
      ...prose("c", { x: 40, y: 270, lines: 9, columnWidth: 250 }),
      ...prose("d", { x: 310, y: 270, lines: 7, columnWidth: 250 }),
    ];
    expect(order(texts)).toEqual([
      "Title",
      ...names("a", 12),
      ...names("b", 12),
      "A",
      ...names("c", 9),
      ...names("d", 7),
    ]);
  });

  test("three columns are read one after the other, whatever the distance of their lines", () => {
    const texts = [
      ...prose("a", { x: 30, y: 60, lines: 20, columnWidth: 160 }),
      ...prose("b", { x: 220, y: 66, lines: 18, columnWidth: 160, pitch: 14.5 }),
      ...prose("c", { x: 410, y: 60, lines: 15, columnWidth: 160 }),
    ];
    expect(order(texts)).toEqual([...names("a", 20), ...names("b", 18), ...names("c", 15)]);
  });

  test("a narrow column of short lines beside prose is read on its own", () => {
    const short = ["Skills", "Welding", "Turning", "Languages", "French", "German", "Interests", "Rowing"];
    const texts = [
      ...short.map((text, index) => ({ x: 30, y: 60 + index * 19, text })),
      ...prose("b", { x: 200, y: 63, lines: 24, columnWidth: 340 }),
    ];
    expect(order(texts)).toEqual([...short, ...names("b", 24)]);
  });

  test("the sender and the data of a letter at the same heights are read one after the other", () => {
    const texts = [
      ...atLeft(["Northwind Supplies Ltd", "14 Harbour Street, Bristol", "billing@northwind.example"]),
      ...atRight(["INVOICE", "Number: INV-2026-0147", "Date: 12 March 2026", "Due date: 11 April 2026"]),
      ...atLeft(["Bill to:", "Ada Fleming"], 160),
    ];
    const sender = ["Northwind", "14", "billing@northwind.example"];
    expect(order(texts)).toEqual([...sender, "INVOICE", "Number:", "Date:", "Due", "Bill", "Ada"]);
  });

  test("names and amounts at the same heights are read row by row", () => {
    const texts = [
      ...atLeft(["Almond croissant", "Orange juice", "Flat white"]),
      ...atRight(["GBP 12.90", "GBP 2.40", "GBP 103.20"]),
    ];
    expect(order(texts)).toEqual(["Almond", "Orange", "Flat"]);
  });

  test("a page number below the columns comes last", () => {
    const texts = [
      ...prose("a", { x: 40, y: 60, lines: 12, columnWidth: 250 }),
      ...prose("b", { x: 310, y: 60, lines: 12, columnWidth: 250 }),
      { x: 40, y: 700, text: "17" },
    ];
    expect(order(texts).at(-1)).toBe("17");
  });

  test("dirt between the columns does not mix them", () => {
    const texts = [
      ...prose("a", { x: 40, y: 60, lines: 12, columnWidth: 250 }),
      ...prose("b", { x: 310, y: 60, lines: 12, columnWidth: 250 }),
      { x: 297, y: 118, text: "." },
    ];
    const found = order(texts).filter((name) => name !== ".");
    expect(found).toEqual([...names("a", 12), ...names("b", 12)]);
  });
});

describe("rows", () => {
  const linesOf = (texts: readonly PlacedText[]) => toReadingOrder(layOut(texts)).lines.map((line) => line.text);

  test("a table is read row by row, with a line for each row", () => {
    const rows = readTable(`
      Oak chair with leather seat | 12 | 145.50
      Ash table                   | 3  | 99.00
      Elm bench, oiled by hand    | 1  | 310.20
      Fitting on site             | 6  | 48.00
    `);
    expect(linesOf(grid(rows, { xs: [40, 350, 480], pitch: 16 }))).toEqual(rows.map((row) => row.join(" ")));
  });

  test("a table of long words is read row by row, too", () => {
    const rows = readTable(`
      Watercolour for beginners     | Harriet Longbottom, painter
      Bread from your own sourdough | Piotr Wasilewski, baker
      Bicycle repair for everybody  | Samuel Okonkwo, mechanic
      Italian conversation at noon  | Giulia Ferraresi, teacher
    `);
    expect(linesOf(grid(rows, { xs: [40, 300], pitch: 14 }))).toEqual(rows.map((row) => row.join(" ")));
  });

  test("labels and values of a form stay together", () => {
    const form = readTable(`
      Surname       | Moreau
      Given names   | Camille Jeanne
      Date of birth | 21 June 1989
      Nationality   | French
    `);
    expect(linesOf(grid(form, { xs: [40, 220], pitch: 18 }))).toEqual(form.map((row) => row.join(" ")));
  });

  test("Hebrew cells are joined from right to left", () => {
    const texts = [
      { x: 40, y: 100, text: "שלוש" },
      { x: 400, y: 100, text: "אחת" },
    ];
    expect(linesOf(texts)[0]).toBe("אחת שלוש");
  });
});

test.each([
  ["in one row", (index: number) => ({ x: index * 0.02, y: 100 })],
  ["in one column", (index: number) => ({ x: 100, y: index * 0.02 })],
  ["on a diagonal", (index: number) => ({ x: index * 0.02, y: index * 0.02 })],
  ["all at one place", () => ({ x: 100, y: 100 })],
  ["scattered", (index: number) => ({ x: (index * 7919) % 600, y: (index * 104_729) % 800 })],
] as const)("30,000 words %s are all kept", (_name, place) => {
  const texts = Array.from({ length: 30_000 }, (_, index) => ({ ...place(index), text: "w", size: 4 }));
  const { lines } = toReadingOrder(layOut(texts));
  expect(lines.reduce((total, line) => total + line.words.length, 0)).toBe(30_000);
});
