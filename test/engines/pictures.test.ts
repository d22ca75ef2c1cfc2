// Pixels of pictures: read, written, cropped, blurred and cut out. The pictures are computed.

import { describe, expect, test } from "bun:test";
import { blur } from "../../src/engines/local/vision/anonymization.ts";
import { cutOut } from "../../src/engines/local/vision/background-removal.ts";
import { areaOf, keepBest, toEdges, toSides } from "../../src/engines/local/vision/boxes.ts";
import { similarityOf, toConfidence } from "../../src/engines/local/vision/face-similarity.ts";
import { type Pixels, readPixels, writePixels } from "../../src/engines/local/vision/pixels.ts";
import { createSampler, wholeArea } from "../../src/engines/local/vision/sampler.ts";

type Colour = readonly [red: number, green: number, blue: number, alpha: number];

function draw(width: number, height: number, colourOf: (x: number, y: number) => Colour): Pixels {
  const data = Uint8Array.from(
    Array.from({ length: width * height }, (_, index) => colourOf(index % width, Math.floor(index / width))).flat(),
  );
  return { width, height, data, colourProfile: null, format: "png" };
}

function colourAt({ width, data }: Pixels, x: number, y: number): number[] {
  return [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
}

const grey = (shade: number): Colour => [shade, shade, shade, 255];

describe("files", () => {
  const picture = draw(5, 3, (x, y) => [x * 50, y * 100, 7, 255]);

  test("a PNG has the pixels that were written", async () => {
    const { bytes, mediaType } = await writePixels(picture);
    expect(mediaType).toBe("image/png");
    const read = await readPixels({ name: "a.png", mediaType, bytes }, "file", 1_000);
    expect(read).toMatchObject({ width: 5, height: 3, format: "png" });
    expect(read.data).toEqual(picture.data);
  });

  test.each([
    ["jpeg", "image/jpeg"],
    ["webp", "image/webp"],
    ["gif", "image/png"],
  ])("a picture that came as %s is written as %s", async (format, mediaType) => {
    const written = await writePixels({ ...picture, format });
    expect(written.mediaType).toBe(mediaType);
    const read = await readPixels({ name: "a", ...written }, "file", 1_000);
    expect(read).toMatchObject({ width: 5, height: 3, format: mediaType.slice("image/".length) });
  });

  test("a picture with too many pixels is scaled down, and keeps its shape", async () => {
    const { bytes, mediaType } = await writePixels(draw(100, 50, () => [200, 100, 50, 255]));
    const read = await readPixels({ name: "a.png", mediaType, bytes }, "file", 200);
    expect([read.width, read.height]).toEqual([20, 10]);
    expect(colourAt(read, 19, 9)).toEqual([200, 100, 50, 255]);
    const thin = await writePixels(draw(100, 1, () => [200, 100, 50, 255]));
    const small = await readPixels({ name: "a.png", ...thin }, "file", 4);
    expect([small.width, small.height]).toEqual([20, 1]);
  });

  test("a missing picture is refused", async () => {
    expect(readPixels(undefined, "file", 100)).rejects.toThrow("The picture is missing.");
  });
});

test("a picture that is scaled down to half has the mean colours, also at odd edges", () => {
  const red = (pixels: Pixels, width: number, height: number) => {
    const sampler = createSampler(pixels);
    const area = { ...wholeArea(pixels), width: width * 2, height: height * 2, x: width, y: height };
    return Array.from(sampler.crop(area, width, height)).flatMap((value, index) =>
      index % 3 === 0 ? [Math.round(value)] : [],
    );
  };
  expect(
    red(
      draw(4, 2, (x, y) => [x * 10 + y * 100, 0, 0, 255]),
      2,
      1,
    ),
  ).toEqual([55, 75]);
  expect(
    red(
      draw(2, 4, (x, y) => [x * 10 + y * 20, 0, 0, 255]),
      1,
      2,
    ),
  ).toEqual([15, 55]);
  expect(
    red(
      draw(3, 3, (x, y) => [x * 10 + y * 50, 0, 0, 255]),
      2,
      2,
    ),
  ).toEqual([30, 45, 105, 120]);
});

describe("a blurred area", () => {
  const box = { left: 2.5, top: 1.5, right: 13.5, bottom: 12.5 };
  const isInside = (x: number, y: number) => x >= 2 && x < 14 && y >= 1 && y < 13;

  test("has no detail, and the rest is as before", () => {
    const picture = draw(20, 16, (x, y) => [(x + y) % 2 === 0 ? 0 : 200, 40, x, 99]);
    blur(picture, box);
    for (let y = 0; y < 16; y++)
      for (let x = 0; x < 20; x++) {
        const [red, green, , alpha] = colourAt(picture, x, y);
        const before = (x + y) % 2 === 0 ? 0 : 200;
        expect([x, y, red, green, alpha]).toEqual([x, y, isInside(x, y) ? 100 : before, 40, 99]);
      }
  });

  test("has its large shapes: a gradient across and one down stay, in steps of a patch at the edges", () => {
    const picture = draw(20, 16, (x, y) => [x * 10, y * 10, 0, 255]);
    blur(picture, box);
    for (let y = 2; y < 12; y++)
      for (let x = 3; x < 13; x++) {
        const [red = 0, green = 0] = colourAt(picture, x, y);
        expect(Math.abs(red - x * 10)).toBeLessThanOrEqual(1);
        expect(Math.abs(green - y * 10)).toBeLessThanOrEqual(1);
      }
    expect(colourAt(picture, 2, 1).slice(0, 2)).toEqual([25, 15]);
    expect(colourAt(picture, 13, 12).slice(0, 2)).toEqual([125, 115]);
  });

  test("may extend beyond the picture", () => {
    const picture = draw(24, 24, (x, y) => grey((x + y) % 2 === 0 ? 0 : 200));
    blur(picture, { left: -10, top: -10, right: 30, bottom: 30 });
    expect(new Set(picture.data)).not.toContain(200);
    const untouched = draw(4, 4, (x) => grey(x));
    blur(untouched, { left: 10, top: 0, right: 20, bottom: 4 });
    blur(untouched, { left: 0, top: -9, right: 4, bottom: -1 });
    expect(untouched.data).toEqual(draw(4, 4, (x) => grey(x)).data);
  });
});

describe("a subject that is cut out", () => {
  const alphas = (pixels: Pixels) =>
    Array.from({ length: pixels.data.length / 4 }, (_, index) => pixels.data[index * 4 + 3]);

  test("has the opacity of the mask, with a smooth transition across and down", () => {
    const across = draw(4, 1, () => [1, 2, 3, 200]);
    cutOut(across, { width: 2, height: 1, data: Float32Array.of(0, 1) });
    expect(alphas(across)).toEqual([0, 50, 150, 200]);
    const down = draw(1, 4, () => [1, 2, 3, 200]);
    cutOut(down, { width: 1, height: 2, data: Float32Array.of(0, 1) });
    expect(alphas(down)).toEqual([0, 50, 150, 200]);
    expect(colourAt(down, 0, 3)).toEqual([1, 2, 3, 200]);
    const square = draw(2, 2, () => [1, 2, 3, 200]);
    cutOut(square, { width: 2, height: 2, data: Float32Array.of(0, 0.25, 0.5, 1) });
    expect(alphas(square)).toEqual([0, 50, 100, 200]);
  });

  test("is neither more opaque than before nor less than transparent", () => {
    const picture = draw(2, 1, () => [1, 2, 3, 200]);
    cutOut(picture, { width: 2, height: 1, data: Float32Array.of(-0.5, 1.5) });
    expect(alphas(picture)).toEqual([0, 200]);
  });
});

describe("boxes", () => {
  const box = (left: number, top: number, right: number, bottom: number) => ({ left, top, right, bottom });

  test("of the same object are reported once, with the best score", () => {
    const found = [
      { score: 0.5, box: box(0, 0, 10, 10) },
      { score: 0.9, box: box(1, 1, 11, 11) },
      // A part of the object.
      { score: 0.4, box: box(2, 2, 4, 4) },
      { score: 0.3, box: box(20, 0, 30, 10) },
      // Half of it overlaps, which is the limit.
      { score: 0.2, box: box(25, 0, 35, 10) },
      { score: 0.1, box: box(31, 11, 41, 21) },
    ];
    expect(keepBest(found, 0.5).map(({ score }) => score)).toEqual([0.9, 0.3, 0.1]);
    expect(keepBest(found, 0.51).map(({ score }) => score)).toEqual([0.9, 0.3, 0.2, 0.1]);
  });

  test("are shares of the picture, limited to it", () => {
    const picture = { width: 200, height: 100 };
    expect(toEdges(box(20, 10, 50, 40), picture)).toEqual({ x_min: 0.1, x_max: 0.25, y_min: 0.1, y_max: 0.4 });
    expect(toEdges(box(-20, -10, 500, 400), picture)).toEqual({ x_min: 0, x_max: 1, y_min: 0, y_max: 1 });
    expect(toSides(box(20, 10, 50, 40), picture)).toEqual({ left: 0.1, top: 0.1, width: 0.15, height: 0.3 });
    expect(areaOf(box(20, 10, 50, 40))).toBe(900);
  });
});

test("faces are more similar the more their vectors point in the same direction", () => {
  const [east, north] = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
  expect([similarityOf(east, east), similarityOf(east, north)]).toEqual([1, 0]);
  expect(similarityOf(Float32Array.of(0.6, 0.8), Float32Array.of(0.8, 0.6))).toBeCloseTo(0.96, 5);
  expect(toConfidence(1)).toBeGreaterThan(0.99);
  expect(toConfidence(0)).toBeLessThan(0.01);
});
