// Rounds and converts scores and confidences.

/** To four decimals: further digits are noise. */
export function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** A likelihood from 0 (none) to 5 (almost certain). */
export function toLikelihood(probability: number): number {
  return probability <= 0 ? 0 : Math.min(5, Math.floor(probability * 5) + 1);
}

export function roundTo2(value: number): number {
  return Math.round(value * 100) / 100;
}
