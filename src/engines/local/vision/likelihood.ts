// A share of 0..1 as a step from 0, not at all, to 5, almost certainly.

export function toLikelihood(share: number): number {
  return share <= 0 ? 0 : Math.min(5, Math.floor(share * 5) + 1);
}
