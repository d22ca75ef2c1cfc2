// Which drawn rules form the grid of a table. Positions are relative to the page.

import { describe, expect, test } from "bun:test";
import { findGrids } from "../../src/engines/local/documents/ruled-tables.ts";

function toRules(positions: readonly number[], from: number, to: number) {
  return positions.map((at) => ({ at, from, to }));
}

/** Rules at all of these positions, from the first of the other direction to its last. */
function drawGrid(xs: readonly number[], ys: readonly number[]) {
  return {
    horizontal: toRules(ys, xs[0] ?? 0, xs.at(-1) ?? 0),
    vertical: toRules(xs, ys[0] ?? 0, ys.at(-1) ?? 0),
  };
}

function placesOf(rules: Parameters<typeof findGrids>[0]) {
  return findGrids(rules).map(({ xs, ys }) => ({ xs, ys }));
}

describe("a grid", () => {
  const [xs, ys] = [
    [0.1, 0.5, 0.9],
    [0.2, 0.3, 0.4, 0.5],
  ];

  test("has the positions of its rules, and holds each rule in its own direction", () => {
    const rules = drawGrid([0.1, 0.5, 0.9], [0.2, 0.3, 0.4]);
    const [grid, ...others] = findGrids(rules);
    expect(others).toEqual([]);
    expect(grid).toMatchObject({ xs: [0.1, 0.5, 0.9], ys: [0.2, 0.3, 0.4] });
    expect(grid?.rules.horizontal).toEqual(rules.horizontal);
    expect(grid?.rules.vertical).toEqual(rules.vertical);
  });

  test("needs two columns and two rows", () => {
    expect(placesOf(drawGrid([0.1, 0.9], [0.2, 0.3, 0.4]))).toEqual([]);
    expect(placesOf(drawGrid([0.1, 0.5, 0.9], [0.2, 0.4]))).toEqual([]);
    expect(placesOf(drawGrid([0.1, 0.5, 0.9], [0.2, 0.3, 0.4]))).toHaveLength(1);
  });

  test("has no column at the strokes of letters that cross a rule between two rows", () => {
    const { horizontal, vertical } = drawGrid(xs, ys);
    const strokes = [
      { at: 0.24, from: 0.225, to: 0.372 },
      { at: 0.6, from: 0.325, to: 0.472 },
    ];
    expect(placesOf({ horizontal, vertical: [...vertical, ...strokes] })).toEqual([{ xs, ys }]);
  });

  test("keeps a rule in pieces, and columns whose rules go beyond the only rule across", () => {
    const { horizontal, vertical } = drawGrid(xs, ys);
    const pieces = [
      { at: 0.7, from: 0.2, to: 0.26 },
      { at: 0.702, from: 0.27, to: 0.44 },
    ];
    const [grid] = findGrids({ horizontal, vertical: [...vertical, ...pieces] });
    expect(grid?.xs).toEqual([0.1, 0.5, 0.7, 0.9]);
    expect(grid?.rules.vertical).toEqual(expect.arrayContaining(pieces));
    const underHead = { horizontal: toRules([0.3], 0.1, 0.9), vertical: toRules([0.4, 0.6], 0.2, 0.8) };
    expect(placesOf(underHead)).toEqual([{ xs: [0.1, 0.4, 0.6, 0.9], ys: [0.2, 0.3, 0.8] }]);
  });

  test("has at most sixty columns", () => {
    const positions = (count: number) => Array.from({ length: count }, (_, index) => 0.1 + index * 0.012);
    expect(placesOf(drawGrid(positions(61), [0.2, 0.3, 0.4]))).toHaveLength(1);
    expect(placesOf(drawGrid(positions(62), [0.2, 0.3, 0.4]))).toEqual([]);
  });

  test("is found for each of two tables that do not touch", () => {
    const upper = drawGrid([0.1, 0.5, 0.9], [0.1, 0.2, 0.3]);
    const lower = drawGrid([0.2, 0.4, 0.6], [0.6, 0.7, 0.8]);
    const found = placesOf({
      horizontal: [...upper.horizontal, ...lower.horizontal],
      vertical: [...upper.vertical, ...lower.vertical],
    });
    expect(found.toSorted((one, other) => (one.ys[0] ?? 0) - (other.ys[0] ?? 0))).toEqual([
      { xs: [0.1, 0.5, 0.9], ys: [0.1, 0.2, 0.3] },
      { xs: [0.2, 0.4, 0.6], ys: [0.6, 0.7, 0.8] },
    ]);
  });

  test("that is open at the sides ends where its rules end, and a short overhang adds no column", () => {
    const ys = [0.2, 0.3, 0.4];
    const open = { horizontal: toRules(ys, 0.1, 0.9), vertical: toRules([0.4, 0.6], 0.2, 0.4) };
    expect(placesOf(open)).toEqual([{ xs: [0.1, 0.4, 0.6, 0.9], ys }]);
    const overhanging = { horizontal: toRules(ys, 0.39, 0.81), vertical: toRules([0.4, 0.6, 0.8], 0.2, 0.4) };
    expect(placesOf(overhanging)).toEqual([{ xs: [0.4, 0.6, 0.8], ys }]);
  });

  test("joins rules that miss each other by the width of a pen, and counts a doubled rule once", () => {
    const ys = [0.2, 0.3, 0.4];
    const near = { horizontal: toRules(ys, 0.105, 0.9), vertical: toRules([0.1, 0.5, 0.504, 0.9], 0.2, 0.4) };
    expect(placesOf(near)).toEqual([{ xs: [0.1, 0.5, 0.9], ys }]);
    const apart = { horizontal: toRules(ys, 0.12, 0.9), vertical: toRules([0.1, 0.5, 0.9], 0.2, 0.4) };
    expect(placesOf(apart)).toEqual([{ xs: [0.12, 0.5, 0.9], ys }]);
  });
});
