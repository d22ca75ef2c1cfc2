export function median(values: number[]): number {
  return percentile(values, 50);
}

/** Nearest rank; the middle of an even count is the mean of its two middle values. */
export function percentile(values: number[], rank: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((left, right) => left - right);
  if (rank === 50 && sorted.length % 2 === 0) {
    const upper = sorted.length / 2;
    return ((sorted[upper - 1] ?? Number.NaN) + (sorted[upper] ?? Number.NaN)) / 2;
  }
  return sorted[Math.min(sorted.length - 1, Math.ceil((rank / 100) * sorted.length) - 1)] ?? Number.NaN;
}
