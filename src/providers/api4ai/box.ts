import { asNumber, at, rounded } from "../lenient.ts";

export interface Box {
  readonly x_min: number | null;
  readonly x_max: number | null;
  readonly y_min: number | null;
  readonly y_max: number | null;
}

/** The vendor sends left, top, width and height, relative to the image. */
export function toBox(box: unknown): Box {
  const [left, top, width, height] = [
    asNumber(at(box, 0)),
    asNumber(at(box, 1)),
    asNumber(at(box, 2)),
    asNumber(at(box, 3)),
  ];
  if (left === null || top === null || width === null || height === null)
    return { x_min: null, x_max: null, y_min: null, y_max: null };
  return { x_min: rounded(left), x_max: rounded(left + width), y_min: rounded(top), y_max: rounded(top + height) };
}
