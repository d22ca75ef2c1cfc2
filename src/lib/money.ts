// Money without rounding: integers of pico-dollars (10⁻¹² USD). One token at 1 USD per million is 1,000,000 of them, so every
// price with up to six decimals per million is a whole number per token.

export const picoPerUsd = 1_000_000_000_000;
const picoPerMillionth = 1_000_000;

/** The double nearest to the exact amount: dividing two exact numbers rounds once. */
export function toUsd(amount: number | bigint): number {
  return typeof amount === "bigint" ? Number(`${amount}e-12`) : amount / picoPerUsd;
}

/** USD per million tokens as pico-dollars per token. */
export function toPicoPerToken(usdPerMillion: number): number {
  return Math.round(usdPerMillion * picoPerMillionth);
}

/** Whether a price per million has at most six decimals, so that the conversion is exact. */
export function isExactPrice(usdPerMillion: number): boolean {
  return toPicoPerToken(usdPerMillion) / picoPerMillionth === usdPerMillion;
}

const picoDigits = 12;

/** The exact amount of USD as a decimal number. */
export function formatUsd(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(picoDigits + 1, "0");
  const decimals = digits.slice(-picoDigits).replace(/0+$/, "");
  const whole = `${amount < 0n ? "-" : ""}${digits.slice(0, -picoDigits)}`;
  return decimals === "" ? whole : `${whole}.${decimals}`;
}
