// Finds the areas of text in a map of probabilities: connected regions, and the smallest rectangle around each. The time is linear in the size of
// the map, whatever it contains.

import type { Area } from "../../vision/sampler.ts";

/** The probability of text in each pixel, 0 to 1, row by row. */
export interface ProbabilityMap {
  readonly width: number;
  readonly height: number;
  readonly data: Float32Array;
}

/** The corners of the smallest convex polygon around a region, in pixels of the map. */
export type Hull = readonly Point[];

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Rectangle extends Area {
  /** Clockwise, in radians: the direction of the width, between -π/4 and π/4. */
  readonly angle: number;
}

/** Pixels of a region that follow each other in a row. */
interface Run {
  readonly y: number;
  readonly from: number;
  readonly to: number;
  /** The index of an earlier run of the same region, or of itself. */
  parent: number;
}

/** The largest regions whose pixels have at least this probability, including pixels that touch only at a corner. */
export function findRegions(map: ProbabilityMap, threshold: number, maxRegions: number): Hull[] {
  const runs = findRuns(map, threshold);
  const regions = Map.groupBy(runs.keys(), (index) => findRoot(runs, index));
  const sized = [...regions.values()].map((members) => {
    const parts = members.map((index) => runs[index] as Run);
    return { parts, pixels: parts.reduce((total, { from, to }) => total + to - from + 1, 0) };
  });
  const largest =
    sized.length > maxRegions ? sized.toSorted((a, b) => b.pixels - a.pixels).slice(0, maxRegions) : sized;
  return largest.map(({ parts }) => toHull(parts));
}

function findRuns({ width, height, data }: ProbabilityMap, threshold: number): Run[] {
  const runs: Run[] = [];
  let above = 0;
  let aboveEnd = 0;
  for (let y = 0; y < height; y++) {
    const rowStart = runs.length;
    for (let x = 0; x < width; x++) {
      if ((data[y * width + x] as number) < threshold) continue;
      const from = x;
      while (x + 1 < width && (data[y * width + x + 1] as number) >= threshold) x++;
      const index = runs.length;
      runs.push({ y, from, to: x, parent: index });
      while (above < aboveEnd && (runs[above] as Run).to < from - 1) above++;
      for (let other = above; other < aboveEnd && (runs[other] as Run).from <= x + 1; other++) join(runs, other, index);
    }
    above = rowStart;
    aboveEnd = runs.length;
  }
  return runs;
}

function join(runs: Run[], one: number, other: number): void {
  const [first, second] = [findRoot(runs, one), findRoot(runs, other)];
  // The earlier run is the root, so that the runs of a region stay in the order of rows.
  (runs[Math.max(first, second)] as Run).parent = Math.min(first, second);
}

function findRoot(runs: Run[], index: number): number {
  let root = index;
  while ((runs[root] as Run).parent !== root) root = (runs[root] as Run).parent;
  for (let at = index; at !== root; ) {
    const run = runs[at] as Run;
    at = run.parent;
    run.parent = root;
  }
  return root;
}

/** Andrew's monotone chain, over the ends of the rows, which are sorted from top to bottom. */
function toHull(runs: readonly Run[]): Hull {
  const rows: { y: number; from: number; to: number }[] = [];
  for (const { y, from, to } of runs) {
    const row = rows.at(-1);
    if (row === undefined || row.y !== y) rows.push({ y, from, to });
    else row.to = Math.max(row.to, to);
  }
  const points = rows.flatMap(({ y, from, to }) =>
    from === to
      ? [{ x: from, y }]
      : [
          { x: from, y },
          { x: to, y },
        ],
  );
  if (points.length < 3) return points;
  const chainOf = (ordered: readonly Point[]) => {
    const chain: Point[] = [];
    for (const point of ordered) {
      while (chain.length >= 2 && turns(chain.at(-2) as Point, chain.at(-1) as Point, point) <= 0) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...chainOf(points), ...chainOf(points.toReversed())];
}

function turns(a: Point, b: Point, c: Point): number {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/** The rectangle of the smallest area around the hull. One of its sides contains a side of the hull. */
export function surroundTightly(hull: Hull): Rectangle {
  let best = surroundAt(hull, 0);
  for (const [index, point] of hull.entries()) {
    const next = hull[(index + 1) % hull.length] as Point;
    if (next.x === point.x || next.y === point.y) continue;
    const rectangle = surroundAt(hull, toQuarter(Math.atan2(next.y - point.y, next.x - point.x)));
    if ((rectangle.width + 1) * (rectangle.height + 1) < (best.width + 1) * (best.height + 1)) best = rectangle;
  }
  return best;
}

/** The rectangle around the hull whose width has this direction. */
export function surroundAt(hull: Hull, angle: number): Rectangle {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [top, bottom] = [left, right];
  for (const { x, y } of hull) {
    const along = x * cos + y * sin;
    const across = y * cos - x * sin;
    left = Math.min(left, along);
    right = Math.max(right, along);
    top = Math.min(top, across);
    bottom = Math.max(bottom, across);
  }
  const [along, across] = [(left + right) / 2, (top + bottom) / 2];
  // The hull goes through the centres of pixels.
  return {
    x: along * cos - across * sin + 0.5,
    y: along * sin + across * cos + 0.5,
    width: right - left + 1,
    height: bottom - top + 1,
    angle,
  };
}

/** The same direction or one at right angles to it, between -π/4 and π/4. */
function toQuarter(angle: number): number {
  const quarter = Math.PI / 2;
  return angle - quarter * Math.round(angle / quarter);
}

/** The mean probability in the rectangle, from a limited number of samples. */
export function meanProbability(map: ProbabilityMap, { x, y, width, height, angle }: Rectangle): number {
  const [columns, rows] = [Math.min(128, Math.ceil(width)), Math.min(32, Math.ceil(height))];
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  let sum = 0;
  for (let row = 0; row < rows; row++) {
    const down = ((row + 0.5) / rows - 0.5) * height;
    for (let column = 0; column < columns; column++) {
      const right = ((column + 0.5) / columns - 0.5) * width;
      const atX = Math.floor(x + right * cos - down * sin);
      const atY = Math.floor(y + right * sin + down * cos);
      if (atX >= 0 && atY >= 0 && atX < map.width && atY < map.height) sum += map.data[atY * map.width + atX] as number;
    }
  }
  return sum / (rows * columns);
}
