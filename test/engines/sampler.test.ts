// Areas of a picture as networks receive them.

import { expect, test } from "bun:test";
import { createSampler, wholeArea } from "../../src/engines/local/vision/sampler.ts";

function createPicture(width: number, height: number, colour: readonly [number, number, number, number]) {
  const data = new Uint8Array(width * height * 4).map((_, index) => colour[index % 4] as number);
  return createSampler({ width, height, data, colourProfile: null, format: "png" });
}

test("a picture of one colour that is scaled down keeps it up to its edges, whatever its size", () => {
  for (const [width, height] of [
    [4, 4],
    [5, 5],
    [5, 4],
    [7, 1],
    [1, 7],
    [1023, 511],
  ] as const) {
    const picture = createPicture(width, height, [10, 20, 30, 255]);
    for (const side of [1, 2, 3]) {
      const [outputWidth, outputHeight] = [Math.min(side, width), Math.min(side, height)];
      const found = picture.crop(wholeArea(picture), outputWidth, outputHeight);
      const expected = Array.from({ length: outputWidth * outputHeight }, () => [10, 20, 30]).flat();
      expect([width, height, side, ...found.map(Math.round)]).toEqual([width, height, side, ...expected]);
    }
  }
});

test("transparent pixels are white, and pixels beyond the edges are black", () => {
  const picture = createPicture(2, 2, [10, 20, 30, 0]);
  const found = picture.crop({ x: 0, y: 1, width: 4, height: 2 }, 2, 1);
  expect([...found]).toEqual([0, 0, 0, 255, 255, 255]);
});

test("an angle turns the area clockwise", () => {
  const redAboveBlue = Uint8Array.from([255, 0, 0, 255, 0, 0, 255, 255]);
  const picture = createSampler({ width: 1, height: 2, data: redAboveBlue, colourProfile: null, format: "png" });
  const found = picture.crop({ x: 0.5, y: 1, width: 2, height: 1, angle: Math.PI / 2 }, 2, 1);
  expect([...found].map(Math.round)).toEqual([255, 0, 0, 0, 0, 255]);
});
