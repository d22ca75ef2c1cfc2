// Lists in few lengths. To the server each length of a list is a statement of its own, which every connection reads and plans anew.

/** All of them, in their order, in as few lots as there are that have a power of two as their length. */
export function toBatches<Item>(items: readonly Item[], largestLot = 64): Item[][] {
  const lots: Item[][] = [];
  for (let from = 0; from < items.length; ) {
    const left = Math.min(items.length - from, largestLot);
    const length = 2 ** Math.floor(Math.log2(left));
    lots.push(items.slice(from, from + length));
    from += length;
  }
  return lots;
}

/** With its last one repeated until the length is a power of two: for lists in which something is looked up. */
export function padList<Item>(items: readonly Item[]): Item[] {
  const padded = [...items];
  const last = items.at(-1);
  if (last === undefined) return padded;
  for (const length = 2 ** Math.ceil(Math.log2(items.length)); padded.length < length; ) padded.push(last);
  return padded;
}
