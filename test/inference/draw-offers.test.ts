// The order in which offers of one pool are tried.

import { describe, expect, test } from "bun:test";
import { drawByChance, drawByWeight } from "../../src/inference/route-planner.ts";

const names = (items: readonly { readonly name: string }[]) => items.map(({ name }) => name);
const nameOf = ({ name }: { readonly name: string }) => name;
const weightOf = ({ weight }: { readonly weight: number }) => weight;

describe("drawn by chance", () => {
  /** The share of draws in which each item comes first. The limits below are ten standard deviations wide. */
  function shareOfFirst(items: readonly { readonly name: string; readonly weight: number }[], name: string): number {
    const draws = Array.from({ length: 4_000 }, () => drawByChance(items, nameOf, weightOf)[0]?.name);
    return draws.filter((first) => first === name).length / draws.length;
  }

  test("an item that weighs three times as much comes first three times as often, wherever it stands", () => {
    const [heavy, light] = [
      { name: "heavy", weight: 3 },
      { name: "light", weight: 1 },
    ];
    for (const items of [
      [heavy, light],
      [light, heavy],
    ]) {
      const share = shareOfFirst(items, "heavy");
      expect(share).toBeGreaterThan(0.68);
      expect(share).toBeLessThan(0.82);
    }
  });

  test("an item without weight comes last, and is still tried", () => {
    const items = [
      { name: "none", weight: 0 },
      { name: "one", weight: 1 },
      { name: "two", weight: 2 },
    ];
    for (let draw = 0; draw < 100; draw++) {
      const drawn = names(drawByChance(items, nameOf, weightOf));
      expect(drawn[2]).toBe("none");
      expect(drawn.toSorted()).toEqual(["none", "one", "two"]);
    }
  });
});

test("drawn by weight, the heaviest comes first, and equals keep their order", () => {
  const items = ["a 1", "b 3", "c 2", "d 3"].map((text) => ({ name: text.slice(0, 1), weight: Number(text.slice(2)) }));
  expect(names(drawByWeight(items, nameOf, weightOf))).toEqual(["b", "d", "c", "a"]);
});
