// The slant of a page, by the rectangles of its text.

import { expect, test } from "bun:test";
import type { Rectangle } from "../../src/engines/local/documents/pp-ocr/regions.ts";
import { findSlant } from "../../src/engines/local/documents/pp-ocr/slant.ts";

function turn({ x, y, ...rest }: Rectangle, radians: number): Rectangle {
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)];
  return { ...rest, x: x * cos - y * sin, y: x * sin + y * cos };
}

/** The angles of short rectangles are wrong by several degrees, in both directions. */
function cell(x: number, y: number, index: number): Rectangle {
  return { x, y: y + (index % 3) - 1, width: 44, height: 15, angle: ((index * 7) % 9) * 0.03 - 0.12 };
}

test.each([-0.06, 0, 0.059, 0.1])("short cells show it by their rows: %f", (slant) => {
  const cells = Array.from({ length: 49 }, (_, index) =>
    cell(100 + (index % 7) * 110, 200 + Math.floor(index / 7) * 31, index),
  );
  const title: Rectangle = { x: 140, y: 120, width: 90, height: 24, angle: 0.13 };
  const page = [title, ...cells].map((one) => turn(one, slant));
  expect(Math.abs(findSlant(page) - slant)).toBeLessThan(0.006);
});

test("longer cells with wrong angles do not outweigh the rows that they form", () => {
  const cells = Array.from({ length: 18 }, (_, index) => ({
    ...cell(100 + (index % 3) * 250, 200 + Math.floor(index / 3) * 47, index),
    width: 80,
    height: 9,
    angle: -0.02,
  }));
  const page = cells.map((one) => turn(one, -0.087));
  expect(Math.abs(findSlant(page) + 0.087)).toBeLessThan(0.006);
});

test("many rows of two cells do not form rows with their neighbours", () => {
  const page = Array.from({ length: 80 }, (_, index) =>
    turn(cell(100 + (index % 2) * 900, 100 + Math.floor(index / 2) * 30, 0), -0.12),
  );
  expect(Math.abs(findSlant(page) + 0.12)).toBeLessThan(0.006);
});

test.each([
  [420, 0.009],
  [600, 0.012],
])("two columns, %d apart, whose angles are all off by %f, show it by their rows", (distance, error) => {
  const cells = Array.from({ length: 28 }, (_, index) => ({
    ...cell(100 + (index % 2) * distance, 200 + Math.floor(index / 2) * 40, index),
    width: 110,
    angle: 0.0175 + error,
  }));
  const page = cells.map((one) => turn(one, 0.0175));
  expect(Math.abs(findSlant(page) - 0.0175)).toBeLessThan(0.005);
});

test("long lines show it by their angles, whatever short ones say", () => {
  const lines = Array.from({ length: 5 }, (_, index) => ({
    x: 400,
    y: 100 + index * 30,
    width: 600,
    height: 15,
    angle: 0.2,
  }));
  expect(findSlant([...lines, ...Array.from({ length: 20 }, (_, index) => cell(index * 40, 500, index))])).toBe(0.2);
});

test("an empty page has none", () => {
  expect(findSlant([])).toBe(0);
});
