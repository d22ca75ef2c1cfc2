import { describe, expect, test } from "bun:test";
import { padList, toBatches } from "../../src/storage/batches.ts";

const lengths = Array.from({ length: 200 }, (_, length) => length);

describe("lists of few different lengths", () => {
  test("batches contain every item once and in order, and their sizes are powers of two", () => {
    for (const largest of [8, 64]) {
      const seen = new Set<number>();
      for (const length of lengths) {
        const items = Array.from({ length }, (_, index) => index);
        const batches = toBatches(items, largest);
        expect(batches.flat()).toEqual(items);
        for (const batch of batches) seen.add(batch.length);
        expect(batches.length).toBeLessThanOrEqual(Math.floor(length / largest) + Math.log2(largest));
      }
      expect([...seen].sort((one, other) => one - other)).toEqual(
        [1, 2, 4, 8, 16, 32, 64].filter((length) => length <= largest),
      );
    }
  });

  test("a padded list contains the same values, and an empty list stays empty", () => {
    const seen = new Set<number>();
    for (const length of lengths) {
      const items = Array.from({ length }, (_, index) => String(index));
      const padded = padList(items);
      expect(padded.slice(0, length)).toEqual(items);
      expect(new Set(padded)).toEqual(new Set(items));
      seen.add(padded.length);
    }
    expect([...seen]).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256]);
  });
});
