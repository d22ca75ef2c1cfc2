// Amounts of money and quantities as documents write them.

/** `1,234.50`, `1.234,50 €`, `$ 12` and numbers; null for what is none of these. */
export function asAmount(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string") return null;
  const found = /-?\d[\d.,'\s]*/.exec(value);
  if (found === null) return null;
  // Readers of bad scans see a sign twice.
  const digits = found[0]
    .replaceAll(/['\s]/g, "")
    .replaceAll(/([.,])[.,]+/g, "$1")
    .replace(/[.,]$/, "");
  const number = Number(withDecimalPoint(digits));
  return Number.isFinite(number) ? number : null;
}

/**
 * With both signs, the last one stands before the decimals. With one kind alone it groups thousands when it occurs twice, or when it
 * is a comma before exactly three digits.
 */
function withDecimalPoint(digits: string): string {
  const comma = digits.lastIndexOf(",");
  const point = digits.lastIndexOf(".");
  if (comma >= 0 && point >= 0)
    return comma > point ? digits.replaceAll(".", "").replace(",", ".") : digits.replaceAll(",", "");
  const sign = comma >= 0 ? "," : ".";
  const groups = digits.split(sign);
  if (groups.length > 2) return groups.join("");
  if (sign === "," && groups.length === 2 && groups[1]?.length === 3) return groups.join("");
  return digits.replace(",", ".");
}
