// The regions of text in the map of the detection network: their rectangles, and the time for maps that no picture produces.

import { describe, expect, test } from "bun:test";
import {
  findRegions,
  meanProbability,
  type ProbabilityMap,
  surroundAt,
  surroundTightly,
} from "../../src/engines/local/documents/pp-ocr/regions.ts";

function mapOf(width: number, height: number, at: (x: number, y: number) => number): ProbabilityMap {
  const data = Float32Array.from({ length: width * height }, (_, index) =>
    at(index % width, Math.floor(index / width)),
  );
  return { width, height, data };
}

/** A bar of this length and thickness, rotated about its centre. */
function bar(centreX: number, centreY: number, length: number, thickness: number, radians: number) {
  return (x: number, y: number) => {
    const [dx, dy] = [x + 0.5 - centreX, y + 0.5 - centreY];
    const along = dx * Math.cos(radians) + dy * Math.sin(radians);
    const across = dy * Math.cos(radians) - dx * Math.sin(radians);
    return Math.abs(along) <= length / 2 && Math.abs(across) <= thickness / 2 ? 0.9 : 0.01;
  };
}

describe("regions", () => {
  test("each bar is one region with its place, size and angle", () => {
    for (const radians of [0, 0.05, -0.2, 0.6]) {
      const map = mapOf(300, 200, bar(150, 100, 200, 12, radians));
      const regions = findRegions(map, 0.2, 100);
      expect(regions).toHaveLength(1);
      const rectangle = surroundTightly(regions[0] ?? []);
      expect(rectangle.x).toBeCloseTo(150, 0);
      expect(rectangle.y).toBeCloseTo(100, 0);
      expect(Math.abs(rectangle.width - 200)).toBeLessThan(4);
      expect(Math.abs(rectangle.height - 12)).toBeLessThan(4);
      expect(Math.abs(rectangle.angle - radians)).toBeLessThan(0.02);
      expect(meanProbability(map, rectangle)).toBeGreaterThan(0.75);
    }
  });

  test("a vertical bar is higher than wide, and its angle stays small", () => {
    const [region = []] = findRegions(mapOf(100, 300, bar(50, 150, 12, 200, 0.1)), 0.2, 100);
    const rectangle = surroundTightly(region);
    expect(rectangle.height).toBeGreaterThan(190);
    expect(Math.abs(rectangle.angle - 0.1)).toBeLessThan(0.02);
  });

  test("parts that touch at a corner belong together, parts with a gap do not", () => {
    const steps = mapOf(40, 40, (x, y) => (Math.floor(x / 4) === Math.floor(y / 4) ? 1 : 0));
    expect(findRegions(steps, 0.5, 100)).toHaveLength(1);
    const stripes = mapOf(40, 40, (x) => (x % 4 === 0 ? 1 : 0));
    expect(findRegions(stripes, 0.5, 100)).toHaveLength(10);
  });

  test("a shape whose parts meet only in the last row is one region", () => {
    const comb = mapOf(41, 20, (x, y) => (x % 2 === 0 || y === 19 ? 1 : 0));
    expect(findRegions(comb, 0.5, 100)).toHaveLength(1);
    expect(surroundAt(findRegions(comb, 0.5, 100)[0] ?? [], 0)).toMatchObject({
      x: 20.5,
      y: 10,
      width: 41,
      height: 20,
    });
  });

  test("single pixels and empty maps are no problem", () => {
    expect(
      findRegions(
        mapOf(10, 10, () => 0),
        0.5,
        100,
      ),
    ).toEqual([]);
    const [dot = []] = findRegions(
      mapOf(10, 10, (x, y) => (x === 3 && y === 4 ? 1 : 0)),
      0.5,
      100,
    );
    expect(surroundTightly(dot)).toMatchObject({ x: 3.5, y: 4.5, width: 1, height: 1 });
  });

  test("of too many regions the largest are kept", () => {
    const specks = mapOf(1_000, 1_000, (x, y) => (x % 2 === 0 && y % 2 === 0 ? 1 : bar(500, 500, 300, 9, 0)(x, y)));
    const regions = findRegions(specks, 0.5, 50);
    expect(regions).toHaveLength(50);
    expect(Math.max(...regions.map((region) => surroundAt(region, 0).width))).toBeGreaterThan(295);
  });
});
