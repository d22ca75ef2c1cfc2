// Rounds scores and confidences.

/** To four decimals: further digits are noise. */
export function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

export function roundTo2(value: number): number {
  return Math.round(value * 100) / 100;
}
