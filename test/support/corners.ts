// The corners of a rectangle, as vendors name them.

interface Edges {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** From the left upper corner on, clockwise. */
export function cornersOf({ left, top, right, bottom }: Edges) {
  return [
    { x: left, y: top },
    { x: right, y: top },
    { x: right, y: bottom },
    { x: left, y: bottom },
  ];
}
