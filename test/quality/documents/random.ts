// Numbers that look random and are the same in every run.

export interface Random {
  /** From 0 up to, but without, 1. */
  next(): number;
  /** A whole number; both limits are included. */
  between(low: number, high: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** As many different items as there are, up to `count`, in random order. */
  some<Item>(items: readonly Item[], count: number): Item[];
  digits(count: number): string;
}

export function createRandom(seed: string): Random {
  let state = Bun.hash.crc32(seed) || 1;
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[between(0, items.length - 1)];
    if (item === undefined) throw new Error("There is nothing to pick from.");
    return item;
  };
  const some = <Item>(items: readonly Item[], count: number): Item[] =>
    items
      .map((item) => ({ item, order: next() }))
      .sort((a, b) => a.order - b.order)
      .slice(0, count)
      .map(({ item }) => item);
  const digits = (count: number) =>
    Array.from({ length: count }, (_, index) => (index === 0 ? between(1, 9) : between(0, 9))).join("");
  return { next, between, pick, some, digits };
}
