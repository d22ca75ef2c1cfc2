// The arithmetic of sliding windows: sums, waiting times and cells.

import { describe, expect, test } from "bun:test";
import {
  CellPacker,
  countIn,
  countOf,
  pack,
  resetMs,
  sealBefore,
  stepMs,
  stepOf,
  subtract,
  sumOf,
  sumSealed,
  toSteps,
  waitFor,
} from "../../src/access/window-cells.ts";

/** The cells of one window, which begins at the first of them. */
function createCells(values: Readonly<Record<number, bigint>> = {}) {
  const words = new BigUint64Array(8);
  for (const [cell, value] of Object.entries(values)) words[Number(cell)] = value;
  return { words, numbers: new Int32Array(words.buffer) };
}

test("a window has six steps", () => {
  expect([stepMs("perSecond"), stepMs("perMinute"), stepMs("tokens")]).toEqual([1_000 / 6, 10_000, 10_000]);
  expect([toSteps("perMinute", 25_000), toSteps("tokens", 60_000), toSteps("perSecond", 1_500)]).toEqual([2.5, 6, 9]);
});

describe("the sum of a window", () => {
  test.each([
    ["of nothing is 0", [0, 0, 0, 0, 0, 0, 0], 0.3, 0],
    ["counts the current step and the five before it in full", [1, 2, 3, 4, 5, 6, 0], 0.9, 21],
    ["counts all of the oldest step when the current one begins", [0, 0, 0, 0, 0, 0, 10], 0, 10],
    ["counts a part of the oldest step that shrinks with the time, rounded up", [0, 0, 0, 0, 0, 0, 10], 0.75, 3],
    ["counts one of the oldest step to the last moment", [0, 0, 0, 0, 0, 0, 1], 0.999, 1],
  ] as const)("%s", (_title, counts, elapsed, expected) => {
    expect(sumOf({ step: 100, elapsed, counts })).toBe(expected);
  });
});

describe("the time until an amount fits", () => {
  test.each([
    ["is 0 when it fits already", [4, 0, 0, 0, 0, 0, 0], 0.5, 10, 6, 0],
    ["is infinite above the limit", [0, 0, 0, 0, 0, 0, 0], 0, 10, 11, Number.POSITIVE_INFINITY],
    ["is that until enough of the oldest step has faded", [0, 0, 0, 0, 0, 0, 10], 0.25, 10, 5, 2_500],
    ["is a whole window and a step for an amount as large as the limit", [1, 0, 0, 0, 0, 0, 0], 0, 10, 10, 70_000],
    ["ends with the step when all of the oldest must be gone", [0, 0, 0, 0, 0, 6, 4], 0.5, 10, 4, 5_000],
    ["is that until a part of the second oldest step has faded", [0, 0, 0, 0, 0, 8, 2], 0, 10, 6, 15_000],
  ] as const)("%s", (_title, counts, elapsed, limit, amount, expected) => {
    expect(waitFor({ step: 100, elapsed, counts }, { kind: "perMinute", limit, amount })).toBe(expected);
  });

  test("of seconds is a sixtieth of that of minutes", () => {
    const window = { step: 100, elapsed: 0, counts: [0, 0, 0, 0, 0, 8, 2] };
    expect(waitFor(window, { kind: "perSecond", limit: 10, amount: 6 })).toBe(250);
  });
});

describe("the time until a window is empty", () => {
  test.each([
    ["is 0 when it is", [0, 0, 0, 0, 0, 0, 0], 0.5, 0],
    ["counts from the newest step", [1, 5, 0, 0, 0, 0, 9], 0.5, 65_000],
    ["is the rest of the step for the oldest one", [0, 0, 0, 0, 0, 0, 9], 0.25, 7_500],
  ] as const)("%s", (_title, counts, elapsed, expected) => {
    expect(resetMs({ step: 100, elapsed, counts }, "tokens")).toBe(expected);
  });
});

describe("a cell", () => {
  test("holds a step, a seal and a count", () => {
    for (const [step, count] of [
      [0, 0],
      [7, 3],
      [2 ** 31 - 1, 0xffff_ffff],
    ] as const)
      for (const isSealed of [false, true]) {
        const value = pack(step, isSealed, count);
        expect([stepOf(value), countOf(value)]).toEqual([step, count]);
        expect(new CellPacker().pack(step * 2 + (isSealed ? 1 : 0), count)).toBe(value);
      }
  });

  test("counts for its own step only, sealed or not", () => {
    const cells = createCells({ 2: pack(10, false, 5), 3: pack(11, true, 6) });
    expect([countIn(cells, 2, 10), countIn(cells, 3, 11)]).toEqual([5, 6]);
    expect([countIn(cells, 2, 18), countIn(cells, 2, 2), countIn(cells, 4, 12)]).toEqual([0, 0, 0]);
  });

  test("is lowered for its own step only, never below zero, and stays sealed", () => {
    const cells = createCells({ 2: pack(10, true, 5) });
    const lower = (step: number, amount: number) => {
      subtract(cells, 2, { step, amount }, new CellPacker());
      return cells.words[2];
    };
    expect(lower(18, 1)).toBe(pack(10, true, 5));
    expect(lower(10, 2)).toBe(pack(10, true, 3));
    expect(lower(10, 4)).toBe(pack(10, true, 0));
  });
});

describe("the steps before the current one", () => {
  const at = { step: 20, elapsed: 0.5 };
  /** Steps 13 to 20, each in its cell: 13 is too old to count, and 20 is the current step. */
  const createWindow = (isSealed: boolean) =>
    createCells(
      Object.fromEntries([13, 14, 15, 16, 17, 18, 19, 20].map((step) => [step % 8, pack(step, isSealed, step)])),
    );
  const expected = 7 + 15 + 16 + 17 + 18 + 19;

  test("are sealed, and have the same sum before and after", () => {
    const cells = createWindow(false);
    expect(sumSealed(cells, 0, at)).toBe("open");
    expect(sealBefore(cells, 0, at)).toBe(expected);
    expect(sumSealed(cells, 0, at)).toBe(expected);
    expect(cells.words[20 % 8]).toBe(pack(20, false, 20));
    expect(cells.words[13 % 8]).toBe(pack(13, false, 13));
  });

  test("that were never counted are sealed with nothing, whatever their cells held long ago", () => {
    const cells = createCells({ 3: pack(11, true, 99) });
    expect(sealBefore(cells, 0, at)).toBe(0);
    expect(sumSealed(cells, 0, at)).toBe(0);
  });

  test("are not summed when another process is in a later step already", () => {
    const cells = createWindow(true);
    cells.words[22 % 8] = pack(22, false, 1);
    expect(sumSealed(cells, 0, at)).toBe("later");
  });
});
