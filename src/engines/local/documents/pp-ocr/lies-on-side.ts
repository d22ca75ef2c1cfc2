// Whether the text of a picture runs across it, or down or up.

import type { Area } from "../../vision/sampler.ts";

type Size = Pick<Area, "width" | "height">;

// Lines of one to three characters say nothing: they are about as high as wide, and a single figure may be 1.7 times as high as wide.
const elongated = 1.8;

/** Whether most of the text runs down or up the picture. */
export function liesOnSide(lines: readonly Size[]): boolean {
  const telling = lines.filter(({ width, height }) => Math.max(width, height) >= elongated * Math.min(width, height));
  const decisive = telling.length > 0 ? telling : lines;
  return lengthOf(decisive.filter(isTall)) > lengthOf(decisive.filter(isAcross));
}

export const isAcross = ({ width, height }: Size) => width > height;
export const isTall = ({ width, height }: Size) => height > width;

/** Relative to the height of the letters, and the longer a line is, the more it counts. */
function lengthOf(lines: readonly Size[]): number {
  return lines.reduce((sum, { width, height }) => sum + Math.max(width, height) ** 2 / Math.min(width, height), 0);
}
