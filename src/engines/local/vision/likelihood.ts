// Converts a probability to a likelihood from 0 (none) to 5 (almost certain).

export function toLikelihood(share: number): number {
  return share <= 0 ? 0 : Math.min(5, Math.floor(share * 5) + 1);
}
