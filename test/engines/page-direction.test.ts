// The direction of a page, by the sizes of its words and lines. A few characters are about as high as wide and say nothing about it.

import { describe, expect, test } from "bun:test";
import { asSent, type Page, toBox, toLine, turnUpright } from "../../src/engines/local/documents/page.ts";
import { liesOnSide } from "../../src/engines/local/documents/pp-ocr/lies-on-side.ts";

interface Size {
  readonly text: string;
  readonly width: number;
  readonly height: number;
}

// The sizes of the boxes that PP-OCRv6 draws around print of ten points, at 200 dots per inch.
const name: Size = { text: "Thornbury", width: 125, height: 45 };
const mark: Size = { text: "7,5", width: 45, height: 51 };
const figure: Size = { text: "4", width: 24, height: 40 };

/** A column of names and columns of cells. */
function listCells(cell: Size, columns: number, rows: number): Size[][] {
  return Array.from({ length: rows }, () => [name, ...Array.from({ length: columns }, () => cell)]);
}

function toPage(rows: readonly (readonly Size[])[]): Page {
  const [width, height] = [1_652, 900];
  const lines = rows.flatMap((row, rowIndex) =>
    row.map((size, column) => {
      const [left, top] = [100 + column * 180, 60 + rowIndex * 67];
      const box = toBox(left / width, top / height, (left + size.width) / width, (top + size.height) / height);
      return toLine([{ text: size.text, box, confidence: 0.9 }]);
    }),
  );
  return { width, height, source: "scan", turned: null, lines };
}

function layOnSide({ text, width, height }: Size): Size {
  return { text, width: height, height: width };
}

describe("words", () => {
  test("a table of short figures whose boxes are a little higher than wide stays upright", () => {
    const page = toPage(listCells(mark, 7, 12));
    expect(turnUpright(page)).toBe(page);
  });

  test("a page whose words stand on end is turned, also if it has many short figures", () => {
    const page = toPage(listCells(mark, 3, 12).map(([first = name, ...marks]) => [layOnSide(first), ...marks]));
    const upright = turnUpright(page);
    expect(upright.turned?.degrees).toBe(270);
    expect([upright.width, upright.height]).toEqual([page.height, page.width]);
    expect(asSent(upright).lines.map(({ text }) => text)).toEqual(page.lines.map(({ text }) => text));
  });

  test("an empty page, and one without words of three characters, stay as they are", () => {
    for (const page of [toPage([]), toPage(listCells(figure, 3, 4).map((row) => row.slice(1)))])
      expect(turnUpright(page)).toBe(page);
  });
});

describe("lines", () => {
  test("a register of single figures, which are higher than wide, does not lie on its side", () => {
    const lines = listCells(figure, 14, 6).flat();
    expect(liesOnSide(lines)).toBe(false);
    expect(liesOnSide(lines.map(layOnSide))).toBe(true);
  });

  test("long lines count more than many shorter ones", () => {
    const notes = Array.from({ length: 6 }, () => ({ width: 40, height: 160 }));
    const lines = Array.from({ length: 5 }, () => ({ width: 1_200, height: 40 }));
    expect(liesOnSide([...notes, ...lines])).toBe(false);
  });

  test("without a long line, the short ones decide", () => {
    expect(liesOnSide([figure, figure])).toBe(true);
    expect(liesOnSide([figure, figure].map(layOnSide))).toBe(false);
    expect(liesOnSide([])).toBe(false);
  });
});
