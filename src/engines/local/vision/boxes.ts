// Boxes in pixels, and removal of duplicate detections.

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Edges {
  readonly x_min: number;
  readonly x_max: number;
  readonly y_min: number;
  readonly y_max: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Non-maximum suppression: keeps the best of overlapping boxes. */
export function keepBest<Found extends { readonly box: Box; readonly score: number }>(
  found: readonly Found[],
  mostOverlap: number,
): Found[] {
  const kept: Found[] = [];
  for (const one of found.toSorted((a, b) => b.score - a.score))
    if (kept.every((other) => overlapOf(one.box, other.box) < mostOverlap)) kept.push(one);
  return kept;
}

/** The overlap relative to the smaller box, so that a part of an object counts as the object. */
function overlapOf(one: Box, other: Box): number {
  const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  if (width <= 0 || height <= 0) return 0;
  return (width * height) / Math.min(areaOf(one), areaOf(other));
}

export function areaOf({ left, top, right, bottom }: Box): number {
  return (right - left) * (bottom - top);
}

/** In parts of the picture, and within it. */
export function toEdges({ left, top, right, bottom }: Box, { width, height }: Size): Edges {
  return {
    x_min: toPart(left, width),
    x_max: toPart(right, width),
    y_min: toPart(top, height),
    y_max: toPart(bottom, height),
  };
}

export function toPart(value: number, whole: number): number {
  return Math.round(Math.min(1, Math.max(0, value / whole)) * 1e4) / 1e4;
}
