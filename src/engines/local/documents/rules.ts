// Finds the rules of tables in a picture of a page: long, thin, dark lines, horizontal or vertical.

import type { GreyPixels } from "./grey.ts";
import type { Turned } from "./page.ts";

/** A straight line. The position across and the ends are relative to the page, 0 to 1. */
export interface Rule {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

export interface Rules {
  readonly horizontal: readonly Rule[];
  readonly vertical: readonly Rule[];
}

type Run = { -readonly [Member in keyof Rule]: Rule[Member] };

// Rules of one pixel at 200 dots per inch are still visible at this size, because a pixel takes the darkest of those that it replaces.
const maxSide = 1_600;
// Pixels. The shade of a pixel is compared with the mean of its surroundings.
const window = 12;
const minDifference = 14;
const maxGap = 3;
// The letters of a line have more gaps.
const minFilled = 0.92;
// Relative to the side of the page. Words are shorter, and letters are lower.
const minLengthAcross = 0.05;
const minLengthDown = 0.022;
// Relative to the side of the page. Photographs have dark edges.
const edge = 0.004;
// Pixels. Beside a rule, at this distance, most pixels are light; beside a row of pixels in a line of text, they are not.
const clearance = 4;
const maxDarkBeside = 0.4;
const maxRuns = 20_000;
// Pixels, for pieces of a line that is not quite straight.
const sameLine = 3;
const maxBreak = 12;

export function findRules(picture: GreyPixels, turned: Turned | null): Rules {
  const upright = turn(shrink(picture), turned);
  const dark = findDark(upright);
  const { width, height } = upright;
  const horizontal = findLines(dark, width, height, minLengthAcross);
  const vertical = findLines(transpose(dark, width, height), height, width, minLengthDown);
  return { horizontal, vertical };
}

function shrink(picture: GreyPixels): GreyPixels {
  const step = Math.ceil(Math.max(picture.width, picture.height) / maxSide);
  if (step <= 1) return picture;
  const [width, height] = [Math.ceil(picture.width / step), Math.ceil(picture.height / step)];
  const pixels = new Uint8Array(width * height).fill(255);
  for (let y = 0; y < picture.height; y++) {
    const row = Math.floor(y / step) * width;
    for (let x = 0; x < picture.width; x++) {
      const value = picture.pixels[y * picture.width + x] ?? 255;
      const at = row + Math.floor(x / step);
      if (value < (pixels[at] ?? 255)) pixels[at] = value;
    }
  }
  return { width, height, pixels };
}

/** The picture rotated like the page: by quarters first, then about the centre. */
function turn(picture: GreyPixels, turned: Turned | null): GreyPixels {
  if (turned === null) return picture;
  const { degrees, radians } = turned;
  const liesOnSide = degrees === 90 || degrees === 270;
  const width = liesOnSide ? picture.height : picture.width;
  const height = liesOnSide ? picture.width : picture.height;
  const [cosine, sine] = [Math.cos(-radians), Math.sin(-radians)];
  const pixels = new Uint8Array(width * height).fill(255);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [dx, dy] = [x - width / 2, y - height / 2];
      const slantedX = Math.round(dx * cosine - dy * sine + width / 2);
      const slantedY = Math.round(dx * sine + dy * cosine + height / 2);
      const [sourceX, sourceY] = turnBack(slantedX, slantedY, degrees, picture);
      if (sourceX < 0 || sourceY < 0 || sourceX >= picture.width || sourceY >= picture.height) continue;
      pixels[y * width + x] = picture.pixels[sourceY * picture.width + sourceX] ?? 255;
    }
  }
  return { width, height, pixels };
}

/** The pixel of the original that a clockwise rotation moved to this place. */
function turnBack(x: number, y: number, degrees: Turned["degrees"], { width, height }: GreyPixels): [number, number] {
  switch (degrees) {
    case 0:
      return [x, y];
    case 90:
      return [y, height - 1 - x];
    case 180:
      return [width - 1 - x, height - 1 - y];
    case 270:
      return [width - 1 - y, x];
  }
}

/** 1: the pixel is darker than its surroundings. */
function findDark({ width, height, pixels }: GreyPixels): Uint8Array {
  const stride = width + 1;
  const sums = new Float64Array(stride * (height + 1));
  for (let y = 0; y < height; y++) {
    let row = 0;
    for (let x = 0; x < width; x++) {
      row += pixels[y * width + x] ?? 255;
      sums[(y + 1) * stride + x + 1] = (sums[y * stride + x + 1] ?? 0) + row;
    }
  }
  const dark = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    const [top, bottom] = [Math.max(0, y - window), Math.min(height, y + window + 1)];
    for (let x = 0; x < width; x++) {
      const [left, right] = [Math.max(0, x - window), Math.min(width, x + window + 1)];
      const sum =
        (sums[bottom * stride + right] ?? 0) -
        (sums[top * stride + right] ?? 0) -
        (sums[bottom * stride + left] ?? 0) +
        (sums[top * stride + left] ?? 0);
      const mean = sum / ((right - left) * (bottom - top));
      if ((pixels[y * width + x] ?? 255) < mean - minDifference) dark[y * width + x] = 1;
    }
  }
  return dark;
}

function transpose(values: Uint8Array, width: number, height: number): Uint8Array {
  const swapped = new Uint8Array(values.length);
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) swapped[x * height + y] = values[y * width + x] ?? 0;
  return swapped;
}

/** Horizontal lines, from top to bottom. */
function findLines(dark: Uint8Array, width: number, height: number, minLength: number): Rule[] {
  const runs = findRuns(dark, width, height, (minLength * width) / 2);
  const lines = joinRuns(runs.filter((run) => isThin(dark, width, height, run)));
  return lines
    .map(({ at, from, to }) => ({ at: at / height, from: from / width, to: to / width }))
    .filter(({ at, from, to }) => to - from >= minLength && at > edge && at < 1 - edge)
    .sort((one, other) => one.at - other.at);
}

/** A dark pixel directly above or below continues a run, because lines are not quite straight. */
function findRuns(dark: Uint8Array, width: number, height: number, minPiece: number): Run[] {
  const runs: Run[] = [];
  for (let y = 0; y < height && runs.length < maxRuns; y++) {
    let from = -1;
    let last = -1;
    let filled = 0;
    for (let x = 0; x <= width; x++) {
      const at = y * width + x;
      const isDark = x < width && (dark[at] === 1 || (y > 0 && dark[at - width] === 1) || dark[at + width] === 1);
      if (isDark) {
        if (from < 0) [from, filled] = [x, 0];
        last = x;
        filled++;
      } else if (from >= 0 && (x - last > maxGap || x === width)) {
        const length = last + 1 - from;
        if (length >= minPiece && filled >= minFilled * length) runs.push({ at: y, from, to: last + 1 });
        from = -1;
      }
    }
  }
  return runs;
}

function isThin(dark: Uint8Array, width: number, height: number, { at, from, to }: Run): boolean {
  return [at - clearance, at + clearance].every((y) => {
    if (y < 0 || y >= height) return true;
    let count = 0;
    for (let x = from; x < to; x++) count += dark[y * width + x] ?? 0;
    return count <= maxDarkBeside * (to - from);
  });
}

/** The runs are sorted from top to bottom. */
function joinRuns(runs: readonly Run[]): Run[] {
  const done: Run[] = [];
  let open: (Run & { last: number })[] = [];
  for (const run of runs) {
    const isNear = (line: Run & { last: number }) => line.last >= run.at - sameLine;
    done.push(...open.filter((line) => !isNear(line)));
    open = open.filter(isNear);
    const touching = open.filter((line) => line.from - maxBreak <= run.to && run.from <= line.to + maxBreak);
    open = open.filter((line) => !touching.includes(line));
    const parts = [...touching, { ...run, last: run.at }];
    const length = parts.reduce((total, part) => total + part.to - part.from, 0);
    open.push({
      at: parts.reduce((total, part) => total + part.at * (part.to - part.from), 0) / length,
      from: parts.reduce((least, part) => Math.min(least, part.from), run.from),
      to: parts.reduce((most, part) => Math.max(most, part.to), run.to),
      last: run.at,
    });
  }
  return [...done, ...open];
}
