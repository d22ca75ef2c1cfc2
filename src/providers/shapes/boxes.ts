// Positions on a page or image, relative to its size: 0..1.

import { asNumber, limitToOne, rounded } from "../lenient.ts";

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Edges {
  readonly x_min: number;
  readonly x_max: number;
  readonly y_min: number;
  readonly y_max: number;
}

/** In place of a box or edges that the vendor did not send. */
export const nowhere = { left: null, top: null, width: null, height: null };
export const noEdges = { x_min: null, x_max: null, y_min: null, y_max: null };

/** The corners, clockwise from the top left. */
export function toVertices({ x_min, x_max, y_min, y_max }: Edges | typeof noEdges) {
  return [
    { x: x_min, y: y_min },
    { x: x_max, y: y_min },
    { x: x_max, y: y_max },
    { x: x_min, y: y_max },
  ];
}

/** The box around the corners `x, y, x, y, …` on a page of that size, with six decimals. */
export function boxAround(corners: readonly unknown[], width: unknown, height: unknown): Box | null {
  const edges = edgesAround(toPoints(corners, width, height));
  return edges === null ? null : roundBox(toBox(edges));
}

type Point = { readonly x: number; readonly y: number };

/** Empty when a coordinate or the size is missing. A vendor's box may extend beyond the edge of the image. */
export function toPoints(corners: readonly unknown[], width: unknown, height: unknown): readonly Point[] {
  const [across, down] = [asNumber(width) ?? 0, asNumber(height) ?? 0];
  const numbers = corners.flatMap((value) => asNumber(value) ?? []);
  if (numbers.length < corners.length || across <= 0 || down <= 0) return [];
  return Array.from({ length: numbers.length >> 1 }, (_, index) => ({
    x: limitToOne((numbers[2 * index] ?? 0) / across),
    y: limitToOne((numbers[2 * index + 1] ?? 0) / down),
  }));
}

export function edgesAround(points: readonly Point[]): Edges | null {
  if (points.length < 2) return null;
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  return { x_min: Math.min(...xs), x_max: Math.max(...xs), y_min: Math.min(...ys), y_max: Math.max(...ys) };
}

export function toBox({ x_min, x_max, y_min, y_max }: Edges): Box {
  return { left: x_min, top: y_min, width: x_max - x_min, height: y_max - y_min };
}

export function roundBox({ left, top, width, height }: Box): Box {
  return { left: rounded(left), top: rounded(top), width: rounded(width), height: rounded(height) };
}

/** A position or length in pixels, relative to the size of the image; null if one of them is missing. */
export function toRelative(pixels: unknown, imageSize: number | undefined): number | null {
  const number = asNumber(pixels);
  return number === null || !imageSize ? null : rounded(number / imageSize);
}
