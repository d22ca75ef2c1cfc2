// The angle by which the lines of a page deviate from the horizontal.

import { median } from "../median.ts";
import type { Rectangle } from "./regions.ts";

// The rectangle of a shorter region has a random angle, because its sides are a few pixels long.
const elongated = 3;
// The angle of a line of print is exact.
const long = 20;
const minLong = 3;
const minCells = 8;
// How much better cells must form rows at another angle than near that of the lines. At some other angles, cells form rows with those of the row below.
const clearlyBetter = 1.3;
// Radians. Pages of short cells are searched in this range, in these steps.
const maxSlant = 0.14;
const step = 0.00175;
// Radians. The angle of short lines is that far from the one of their rows, and another set of rows is farther away.
const maxCorrection = 0.026;
// Relative to the height of a line: the cells of a row are as close to each other.
const rowHeight = 0.5;
const nearlyBest = 0.98;

/** The angle of most lines, unless short ones, such as the cells of a table, form rows at another angle: the angle of a short line is a guess. */
export function findSlant(rectangles: readonly Rectangle[]): number {
  const longerThan = (ratio: number) =>
    rectangles.filter(({ width, height }) => width >= ratio * height || height >= ratio * width);
  const lines = longerThan(long);
  if (lines.length >= minLong) return medianAngle(lines);
  const shorter = longerThan(elongated);
  const byLines = medianAngle(shorter);
  const cells = rectangles.filter(({ width, height }) => width >= height);
  if (cells.length < minCells) return byLines;
  const height = rowHeight * median(cells.map((cell) => cell.height));
  const byRows = alignmentAngle(cells, height, 0, maxSlant);
  const nearLines = alignmentAngle(cells, height, byLines, shorter.length === 0 ? 2 * step : maxCorrection);
  return scoreRows(cells, byRows, height) >= clearlyBetter * scoreRows(cells, nearLines, height) ? byRows : nearLines;
}

/** Each counts by its length. */
function medianAngle(rectangles: readonly Rectangle[]): number {
  const sorted = rectangles
    .map(({ width, height, angle }) => ({ angle, length: Math.max(width, height) }))
    .toSorted((a, b) => a.angle - b.angle);
  const half = sorted.reduce((sum, { length }) => sum + length, 0) / 2;
  let passed = 0;
  for (const { angle, length } of sorted) {
    passed += length;
    if (passed >= half) return angle;
  }
  return 0;
}

/** The angle at which the cells form rows best, within a distance from another angle. */
function alignmentAngle(cells: readonly Rectangle[], height: number, about: number, distance: number): number {
  const range = Math.round(distance / step);
  const scores = Array.from({ length: 2 * range + 1 }, (_, index) => {
    const angle = about + (index - range) * step;
    return { angle, score: scoreRows(cells, angle, height) };
  });
  const byScore = scores.toSorted((a, b) => b.score - a.score || Math.abs(a.angle - about) - Math.abs(b.angle - about));
  const [best] = byScore;
  if (best === undefined) return about;
  // Neighbouring angles are nearly as good, and so may be another angle, at which cells form rows with those of the row below.
  const isGood = (index: number) => (scores[index]?.score ?? 0) >= nearlyBest * best.score;
  let [first, last] = [scores.indexOf(best), scores.indexOf(best)];
  while (isGood(first - 1)) first--;
  while (isGood(last + 1)) last++;
  return about + ((first + last) / 2 - range) * step;
}

/** The more cells share a row, the higher. Two sets of rows, because a cell may lie at the border of one. */
function scoreRows(cells: readonly Rectangle[], angle: number, height: number): number {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const counts = new Map<number, number>();
  for (const { x, y } of cells) {
    const row = (y * cos - x * sin) / height;
    for (const key of [2 * Math.floor(row), 2 * Math.floor(row + 0.5) + 1]) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts.values()].reduce((sum, count) => sum + count * count, 0);
}
