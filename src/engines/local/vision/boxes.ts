// Boxes in pixels, and removal of duplicate detections.

import { round } from "../numbers.ts";

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Non-maximum suppression: keeps the best of overlapping boxes. */
export function keepBest<Found extends { readonly box: Box; readonly score: number }>(
  found: readonly Found[],
  maxOverlap: number,
): Found[] {
  const best: Found[] = [];
  for (const one of found.toSorted((a, b) => b.score - a.score))
    if (best.every((other) => overlapOf(one.box, other.box) < maxOverlap)) best.push(one);
  return best;
}

/** The overlap relative to the smaller box, so that a part of an object counts as the object. */
function overlapOf(a: Box, b: Box): number {
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  return (width * height) / Math.min(areaOf(a), areaOf(b));
}

export function areaOf({ left, top, right, bottom }: Box): number {
  return (right - left) * (bottom - top);
}

/** As shares of the width and height, limited to the picture. */
export function toEdges({ left, top, right, bottom }: Box, { width, height }: { width: number; height: number }) {
  return {
    x_min: toPart(left, width),
    x_max: toPart(right, width),
    y_min: toPart(top, height),
    y_max: toPart(bottom, height),
  };
}

/** The same as the corner at the top left and the size. */
export function toSides(box: Box, picture: { width: number; height: number }) {
  const { x_min, x_max, y_min, y_max } = toEdges(box, picture);
  return { top: y_min, left: x_min, height: round(y_max - y_min), width: round(x_max - x_min) };
}

export function toPart(value: number, whole: number): number {
  return Math.round(Math.min(1, Math.max(0, value / whole)) * 1e4) / 1e4;
}
