// Percentiles from a histogram.

/** `bounds`: the upper bounds of the buckets in ascending order; `counts` has one more, for values above the last bound. Null without values. */
export function findPercentile(bounds: readonly number[], counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = total * share;
  for (const [index, count] of counts.entries()) {
    if (left <= count && count > 0) {
      const low = index === 0 ? 0 : (bounds[index - 1] ?? 0);
      const high = bounds[index] ?? low;
      return low + (high - low) * (left / count);
    }
    left -= count;
  }
  return bounds.at(-1) ?? null;
}
