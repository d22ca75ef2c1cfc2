import { asNumber, at, rounded } from "../lenient.ts";

export interface Box {
  readonly x_min: number;
  readonly x_max: number;
  readonly y_min: number;
  readonly y_max: number;
}

/** The vendor tells left, top, width and height, relative to the image. */
export function toBox(box: unknown): Box {
  const [left, top, width, height] = [0, 1, 2, 3].map((index) => asNumber(at(box, index)) ?? 0) as [
    number,
    number,
    number,
    number,
  ];
  return { x_min: rounded(left), x_max: rounded(left + width), y_min: rounded(top), y_max: rounded(top + height) };
}
