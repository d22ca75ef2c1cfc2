// Places on a page: which part of it is covered, where a text was printed, and the way back from a rotated page. Positions are invented.

import { describe, expect, test } from "bun:test";
import { createCoverage } from "../../src/engines/local/documents/coverage.ts";
import { createDocumentText, joinPages, wordsIn } from "../../src/engines/local/documents/document-text.ts";
import { createLocator, locateValues } from "../../src/engines/local/documents/locator.ts";
import { asSent, type Box, type Page, toBox, toLine, turnPage } from "../../src/engines/local/documents/page.ts";
import { layOut } from "../support/layout.ts";

describe("coverage", () => {
  /** In eighths of the page. */
  const box = (left: number, top: number, width: number, height: number): Box => ({
    left: left / 8,
    top: top / 8,
    width: width / 8,
    height: height / 8,
  });
  const draw = (boxes: readonly Box[]) => {
    const [columns, rows] = [8, 4];
    const { cells } = createCoverage(boxes, columns, rows);
    return Array.from({ length: rows }, (_, row) =>
      Array.from(cells.subarray(row * columns, (row + 1) * columns), (cell) => (cell === 1 ? "#" : ".")).join(""),
    );
  };

  test.each<[title: string, boxes: Box[], drawn: string[]]>([
    ["no box", [], ["........", "........", "........", "........"]],
    ["a box on whole cells", [box(1, 2, 3, 4)], ["........", ".###....", ".###....", "........"]],
    ["a box on parts of cells", [box(1.5, 1, 1, 2)], [".##.....", ".##.....", "........", "........"]],
    ["a box within a cell", [box(5.2, 4.2, 0.1, 0.1)], ["........", "........", ".....#..", "........"]],
    ["boxes that overlap", [box(0, 0, 4, 4), box(2, 2, 4, 4)], ["####....", "######..", "..####..", "........"]],
    [
      "boxes with a common corner",
      [box(0, 0, 2, 2), box(0, 0, 4, 4)],
      ["####....", "####....", "........", "........"],
    ],
    ["a box in the last corner", [box(7, 6, 1, 2)], ["........", "........", "........", ".......#"]],
    ["a box without a size at the last edges", [box(8, 8, 0, 0)], ["........", "........", "........", ".......#"]],
    ["a box beyond the page", [box(-2, -2, 12, 4)], ["########", "........", "........", "........"]],
  ])("%s", (_, boxes, drawn) => {
    expect(draw(boxes)).toEqual(drawn);
  });

  test("the share of a box that others cover", () => {
    const { shareOf } = createCoverage([box(0, 0, 4, 4), box(2, 2, 4, 4)], 8, 8);
    expect(shareOf(box(0, 0, 4, 4))).toBe(1);
    expect(shareOf(box(4, 0, 4, 4))).toBe(4 / 16);
    expect(shareOf(box(0, 0, 8, 8))).toBe(28 / 64);
    expect(shareOf(box(6, 6, 2, 2))).toBe(0);
    expect(shareOf(box(5, 5, 0, 0))).toBe(1);
  });
});

describe("rotated pages", () => {
  const page = layOut([{ x: 60, y: 160, text: "Wharf" }]);
  const word = (one: Page) => one.lines[0]?.words[0]?.box;

  test.each([
    [0, [600, 800], toBox(0.1, 0.2, 0.141667, 0.2125)],
    [90, [800, 600], toBox(0.7875, 0.1, 0.8, 0.141667)],
    [180, [600, 800], toBox(0.858333, 0.7875, 0.9, 0.8)],
    [270, [800, 600], toBox(0.2, 0.858333, 0.2125, 0.9)],
  ] as const)("by %p degrees clockwise, and back", (degrees, [width, height], box) => {
    const turned = turnPage(page, { degrees, radians: 0 });
    expect(turned).toMatchObject({ width, height, turned: { degrees } });
    expect(word(turned)).toEqual(box);
    const sent = asSent(turned);
    expect(sent).toMatchObject({ width: 600, height: 800, turned: null });
    expect(word(sent)?.left).toBeCloseTo(0.1, 5);
    expect(word(sent)?.top).toBeCloseTo(0.2, 5);
  });

  test("a slant moves a word about the centre of the page, and back", () => {
    const turned = turnPage(page, { degrees: 0, radians: Math.PI / 2 });
    // The word is left of the centre and above it. A quarter clockwise, it is right of the centre and above.
    expect(word(turned)?.left).toBeCloseTo((300 + 400 - 165 - 12.5) / 600, 4);
    expect(word(turned)?.top).toBeCloseTo((400 - 300 + 72.5 - 5) / 800, 4);
    expect(word(asSent(turned))?.left).toBeCloseTo(0.1, 5);
    expect(word(asSent(turned))?.top).toBeCloseTo(0.2, 5);
  });

  test("a page that was not rotated is the same", () => {
    expect(turnPage(page, null)).toBe(page);
    expect(asSent(page)).toBe(page);
  });
});

describe("the text of a document", () => {
  const pages = [
    layOut([
      { x: 40, y: 40, text: "Wharf Tools Ltd" },
      { x: 300, y: 40, text: "Invoice 7745" },
      { x: 40, y: 60, text: "Total" },
    ]),
    layOut([{ x: 40, y: 20, text: "Page two" }]),
  ];
  const document = createDocumentText(joinPages(pages.map((page, index) => ({ page, index }))), pages);
  const wordsOf = (start: number, end: number) => document.wordsAt(start, end).map(({ text }) => text);

  test("has its rows as lines, with two spaces between cells", () => {
    expect(document.text).toBe("Wharf Tools Ltd  Invoice 7745\nTotal\nPage two");
  });

  test("leads back from each part to the words", () => {
    for (const { 0: text, index } of document.text.matchAll(/\S+/g)) {
      expect(wordsOf(index, index + text.length)).toEqual([text]);
      expect(wordsOf(index, index + 1)).toEqual([text]);
      expect(wordsOf(index + text.length - 1, index + text.length)).toEqual([text]);
      expect(wordsOf(index + text.length, index + text.length + 1)).toEqual([]);
    }
    expect(wordsOf(0, document.text.length)).toEqual("Wharf Tools Ltd Invoice 7745 Total Page two".split(" "));
    expect(wordsOf(6, 24)).toEqual(["Tools", "Ltd", "Invoice"]);
  });

  test("has the places of its words, on the page of the first", () => {
    const find = (text: string) => {
      const start = document.text.indexOf(text);
      const words = document.wordsAt(start, start + text.length);
      return document.findPlace({ value: text, words, certainty: 0.5 });
    };
    const box = toBox(300 / 600, 40 / 800, 360 / 600, 50 / 800);
    expect(find("Invoice 7745")).toEqual({ page: 1, text: "Invoice 7745", box, confidence: 0.45 });
    expect(find("two")?.page).toBe(2);
    expect(find("Total\nPage")).toMatchObject({ page: 1, box: toBox(40 / 600, 60 / 800, 65 / 600, 70 / 800) });
    expect(document.findPlace({ value: null, words: [], certainty: 1 })).toBeNull();
  });

  test("has the words of a part of a cell", () => {
    const [cell] = document.rows[0]?.cells ?? [];
    const wordsOfCell = (start: number, end: number) =>
      wordsIn(cell ?? { words: [] }, start, end).map(({ text }) => text);
    for (const { 0: text, index } of "Wharf Tools Ltd".matchAll(/\S+/g)) {
      expect(wordsOfCell(index, index + 1)).toEqual([text]);
      expect(wordsOfCell(index + text.length - 1, index + text.length)).toEqual([text]);
      expect(wordsOfCell(index + text.length, index + text.length + 1)).toEqual([]);
    }
    expect(wordsOfCell(4, 7)).toEqual(["Wharf", "Tools"]);
  });

  test("has the places of a rotated page as it was sent, and the certainty alone for embedded text", () => {
    const sent = layOut([{ x: 300, y: 40, text: "Invoice 7745" }]);
    const read = turnPage(sent, { degrees: 180, radians: 0 });
    const turned = createDocumentText(joinPages([{ page: read, index: 0 }]), [read]);
    const words = turned.wordsAt(0, turned.text.length);
    const box = sent.lines[0]?.box as Box;
    expect(turned.findPlace({ value: "", words, certainty: 0.5 })?.box).toEqual(box);
    expect(createLocator([read]).findText(turned.text)?.box).toEqual(box);
    const embedded = {
      ...sent,
      lines: sent.lines.map((line) => toLine(line.words.map((word) => ({ ...word, confidence: null })))),
    };
    expect(embedded.lines[0]?.confidence).toBeNull();
    const text = createDocumentText(joinPages([{ page: embedded, index: 0 }]), [embedded]);
    expect(text.findPlace({ value: "", words: text.wordsAt(0, 3), certainty: 0.5 })?.confidence).toBe(0.5);
  });

  test("rows of a later page are below those of an earlier one", () => {
    const tops = document.rows.map(({ top }) => top);
    expect(tops).toEqual(tops.toSorted((one, other) => one - other));
    expect(document.rows.map(({ page }) => page)).toEqual([0, 0, 1]);
  });

  test("values are located in the first cell that has them, and rows by their text", () => {
    const locator = createLocator(pages);
    expect(locator.findText("Tools Ltd")).toMatchObject({
      page: 1,
      text: "Tools Ltd",
      box: toBox(70 / 600, 40 / 800, 115 / 600, 50 / 800),
      confidence: 0.9,
    });
    expect(locator.findText("two")?.page).toBe(2);
    expect(locator.findText("Ltd Invoice")).toBeNull();
    expect(locator.findText("")).toBeNull();
    expect(locator.findRow((text) => text.startsWith("Page"))).toMatchObject({ page: 2, text: "Page two" });
    expect(locator.findRow(() => false)).toBeNull();
    const places = locateValues({ name: "Wharf", items: [{ id: "7745", count: 2 }, null, "Nowhere"] }, locator);
    expect(Object.entries(places).map(([path, { text }]) => [path, text])).toEqual([
      ["name", "Wharf"],
      ["items.0.id", "7745"],
    ]);
  });

  test("values are located in a list of any length", () => {
    const places = locateValues({ skills: ["Wharf", ...Array(1_000_000).fill("")] }, createLocator(pages));
    expect(Object.keys(places)).toEqual(["skills.0"]);
  });
});
