/** The index of the first item whose position is at least `from`, in a list that is sorted by position. */
export function firstFrom<Item>(items: readonly Item[], from: number, positionOf: (item: Item) => number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positionOf(items[middle] as Item) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
