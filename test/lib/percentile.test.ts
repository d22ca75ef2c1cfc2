import { expect, test } from "bun:test";
import { findPercentile } from "../../src/lib/percentile.ts";

const bounds = [10, 20, 40];

test.each([
  // [counts, share, percentile]
  [[4, 0, 0, 0], 0.5, 5],
  [[4, 0, 0, 0], 1, 10],
  [[0, 4, 0, 0], 0.25, 12.5],
  [[2, 2, 4, 0], 0.25, 10],
  [[2, 2, 4, 0], 0.5, 20],
  [[2, 2, 4, 0], 0.75, 30],
  [[0, 0, 4, 0], 0, 20],
  [[1, 1, 0, 0], 0.75, 15],
  // Above the last bound nothing more is known.
  [[1, 0, 0, 3], 0.99, 40],
  [[0, 0, 0, 1], 0.5, 40],
] as const)("counts %p at the share %p give %p", (counts, share, percentile) => {
  expect(findPercentile(bounds, counts, share)).toBe(percentile);
});

test("there is no percentile without values, and none below the last bound for a share above all", () => {
  expect(findPercentile(bounds, [0, 0, 0, 0], 0.5)).toBeNull();
  expect(findPercentile([], [], 0.5)).toBeNull();
  // Rounding can leave a remainder after the last bucket.
  expect(findPercentile(bounds, [1, 1, 1, 0], 1.000_001)).toBe(40);
});
