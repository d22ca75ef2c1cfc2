// The reading order of pages, by the places of their words alone.

import { describe, expect, test } from "bun:test";
import { toReadingOrder } from "../../src/engines/local/documents/reading-order.ts";
import { layOut, type PlacedText, prose } from "../support/layout.ts";

/** The first words of the lines in reading order. The words arrive in any order. */
function order(texts: readonly PlacedText[]): string[] {
  const shuffled = texts.toSorted((one, other) => one.y - other.y || one.x - other.x);
  return toReadingOrder(layOut(shuffled)).lines.map((line) => line.words[0]?.text ?? "");
}

function names(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name}${index}`);
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
  test("a table is read row by row, with a line for each row", () => {
    const rows = [
      ["Oak chair with leather seat", "12", "145.50"],
      ["Ash table", "3", "99.00"],
      ["Elm bench, oiled by hand", "1", "310.20"],
      ["Fitting on site", "6", "48.00"],
    ];
    const texts = rows.flatMap(([name = "", count = "", price = ""], index) => [
      { x: 40, y: 100 + index * 16, text: name },
      { x: 350, y: 100 + index * 16, text: count },
      { x: 480, y: 100 + index * 16, text: price },
    ]);
    const lines = toReadingOrder(layOut(texts)).lines.map((line) => line.text);
    expect(lines).toEqual(rows.map((row) => row.join(" ")));
  });

  test("labels and values of a form stay together", () => {
    const form = [
      ["Surname", "Moreau"],
      ["Given names", "Camille Jeanne"],
      ["Date of birth", "21 June 1989"],
      ["Nationality", "French"],
    ];
    const texts = form.flatMap(([label = "", value = ""], index) => [
      { x: 40, y: 100 + index * 18, text: label },
      { x: 220, y: 100 + index * 18, text: value },
    ]);
    const lines = toReadingOrder(layOut(texts)).lines.map((line) => line.text);
    expect(lines).toEqual(form.map((row) => row.join(" ")));
  });

  test("Hebrew cells are joined from right to left", () => {
    const texts = [
      { x: 40, y: 100, text: "שלוש" },
      { x: 400, y: 100, text: "אחת" },
    ];
    expect(toReadingOrder(layOut(texts)).lines[0]?.text).toBe("אחת שלוש");
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
