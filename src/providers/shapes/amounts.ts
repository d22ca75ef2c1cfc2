// Amounts of money and quantities as they are written in documents.

/** From `1,234.50`, `1.234,50 €`, `$ 12` and numbers; null for any other value. */
export function asAmount(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string") return null;
  const found = /-?\d[\d.,'\s]*/.exec(value);
  if (found === null) return null;
  // OCR of a bad scan may read a separator twice.
  const digits = found[0]
    .replaceAll(/['\s]/g, "")
    .replaceAll(/([.,])[.,]+/g, "$1")
    .replace(/[.,]$/, "");
  const number = Number(withDecimalPoint(digits));
  return Number.isFinite(number) ? number : null;
}

/**
 * Of points and commas, the one that comes last separates the decimals. If only one of them occurs, it groups thousands when it occurs
 * twice, and when it is a comma before exactly three digits.
 */
function withDecimalPoint(digits: string): string {
  const comma = digits.lastIndexOf(",");
  const point = digits.lastIndexOf(".");
  if (comma >= 0 && point >= 0)
    return comma > point ? digits.replaceAll(".", "").replace(",", ".") : digits.replaceAll(",", "");
  const groups = digits.split(comma >= 0 ? "," : ".");
  const groupsThousands = groups.length > 2 || (comma >= 0 && groups[1]?.length === 3);
  return groupsThousands ? groups.join("") : digits.replace(",", ".");
}
