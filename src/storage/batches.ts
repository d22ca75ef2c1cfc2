// Lists in few different lengths. PostgreSQL prepares a statement for each length of a list, once per connection.

/** For `in (…)` lists of any number of items, with `toBatches`: PostgreSQL accepts 65,535 parameters in a statement. */
export const maxListLength = 1_024;

/** Splits the items, in order, into the fewest batches whose size is a power of two. */
export function toBatches<Item>(items: readonly Item[], maxSize = 64): Item[][] {
  const batches: Item[][] = [];
  for (let from = 0; from < items.length; ) {
    const left = Math.min(items.length - from, maxSize);
    const size = 2 ** Math.floor(Math.log2(left));
    batches.push(items.slice(from, from + size));
    from += size;
  }
  return batches;
}

/** Repeats the last item until the length is a power of two: for `in (…)` lists, where duplicates do no harm. */
export function padList<Item>(items: readonly Item[]): Item[] {
  const padded = [...items];
  const last = items.at(-1);
  if (last === undefined) return padded;
  for (const length = 2 ** Math.ceil(Math.log2(items.length)); padded.length < length; ) padded.push(last);
  return padded;
}
