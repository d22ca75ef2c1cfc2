// Reads the items of a receipt, which has no head of columns, by the price at the end of each line.

import { roundTo2 } from "../numbers.ts";
import { isAmount, readAmountLabel } from "./amount-lines.ts";
import { findAmounts, type NumberStyle, readAmount, toNumber } from "./amounts.ts";
import type { PageRow } from "./document-text.ts";
import { idLabels } from "./financial-labels.ts";
import type { Item, ItemLines } from "./item.ts";
import type { Word } from "./page.ts";
import { toTokens } from "./phrases.ts";
import type { Cell } from "./rows.ts";

const timesPrice =
  /^(\d{1,4}(?:[.,]\d{1,3})?)\s*(?:(kg|g|lb|lbs|l|st|stk|szt|pcs|ks|kpl)\.?\s*)?(?:x|×|@|\*|à|a)\s*(.{1,40})$/iu;
const trailingTimes =
  /^(.{1,80}?)\s+(\d{1,4}(?:[.,]\d{1,3})?)\s*(?:[x×@*]|szt\.?\s*[x*]|st\.?\s*[x*àá])\s*(\S{1,15})$/iu;
const leadingQuantity = /^(\d{1,3})\s*(?:[x×]\s*)?(?=\p{L})/iu;
const endKinds = new Set(["subtotal", "total", "due", "tax", "paid", "change", "tip", "rounding"]);
const maxLineLength = 200;

export function readReceiptItems(rows: readonly PageRow[], style: NumberStyle): ItemLines {
  const items: Item[] = [];
  const used = new Set<Cell>();
  const use = (row: PageRow) => {
    for (const cell of row.cells) used.add(cell);
  };
  /** A line of words without a price, which may be the name of the item below. */
  let name: PageRow | undefined;
  let hasTotal = false;
  for (const row of rows) {
    const label = row.cells
      .map(({ text }) => readAmountLabel(text))
      .find((found) => found !== null && isAmount(found.kind));
    if (label !== undefined && label !== null && endKinds.has(label.kind)) {
      // A total may be repeated above the items, a subtotal and a tax are not.
      if (items.length > 0 || label.kind === "subtotal" || (label.kind === "tax" && hasTotal)) break;
      hasTotal ||= label.kind === "total";
      continue;
    }
    const line = row.text.replace(/\s+/g, " ").trim();
    if (label !== undefined || line.length > maxLineLength || beginsWithId(line)) continue;
    const amount = findAmounts(line, style).findLast(({ isMoney }) => isMoney);
    const words = row.cells.flatMap((cell) => cell.words);
    const times = readTimes(line, style);
    const previous = items.at(-1);
    if (
      times !== null &&
      name !== undefined &&
      amount !== undefined &&
      isProduct(times.quantity, times.price, amount.value) &&
      amount.value !== times.price
    ) {
      const source = [...name.cells.flatMap((cell) => cell.words), ...words];
      const item = toItem(name.text.replace(/\s+/g, " ").trim(), amount.value, style, source);
      items.push({ ...item, quantity: times.quantity, unit_price: times.price, unit_type: times.unit });
      use(name);
      use(row);
      name = undefined;
      continue;
    }
    if (times !== null && previous !== undefined) {
      const isRight = isProduct(times.quantity, times.price, previous.amount_line ?? Number.NaN);
      if (isRight)
        items[items.length - 1] = {
          ...previous,
          quantity: times.quantity,
          unit_price: times.price,
          unit_type: times.unit,
        };
      use(row);
      name = undefined;
      continue;
    }
    if (amount === undefined || line.slice(amount.end).trim() !== "") {
      name = amount === undefined && hasWords(line) ? row : undefined;
      continue;
    }
    name = undefined;
    const description = line.slice(0, amount.start).trim();
    if (!hasWords(description)) continue;
    items.push(toItem(description, amount.value, style, words));
    use(row);
  }
  return { items, cells: used };
}

/** "No" may also begin the name of an item. */
function beginsWithId(line: string): boolean {
  const match = idLabels.match(toTokens(line), 0);
  return match !== null && match.kind !== "bare_id";
}

function hasWords(text: string): boolean {
  return /\p{L}{2}|\p{Script=Han}|\p{Script=Katakana}|\p{Script=Hiragana}/u.test(text);
}

/** "12 x 92.00" or "0.452 kg @ 2.99/kg", perhaps before the amount. */
export function readTimes(
  line: string,
  style: NumberStyle,
): { quantity: number; price: number; unit: string | null } | null {
  const [, count, unit = null, rest = ""] = timesPrice.exec(line) ?? [];
  if (count === undefined || /\p{L}{3}/u.test(rest.replace(/\b[A-Z]{3}\b/g, ""))) return null;
  const quantity = toNumber(count, style);
  const price = findAmounts(rest.replace(/\/\p{L}{1,3}/gu, " "), style)[0]?.value ?? null;
  return quantity === null || price === null ? null : { quantity, price, unit };
}

function toItem(words: string, amount: number, style: NumberStyle, source: readonly Word[]): Item {
  const unknown = {
    tax_rate: null,
    tax: null,
    discount_rate: null,
    discount_amount: null,
    product_code: null,
    unit_type: null,
    words: source,
    contradicts: false,
  };
  const [, before, times = "", printed = ""] = trailingTimes.exec(words) ?? [];
  const [quantity, price] = [toNumberOrNull(times, style), readAmount(printed, style)];
  if (before !== undefined && quantity !== null && price !== null && isProduct(quantity, price, amount))
    return { ...unknown, description: before, quantity, unit_price: price, amount_line: amount };
  const plain = /^(.{1,80}?)\s(\d{1,4}(?:[.,]\d{1,3})?)\s(\S{1,15})$/u.exec(words);
  const [number, single] = [toNumberOrNull(plain?.[2] ?? "", style), readAmount(plain?.[3] ?? "", style)];
  if (plain !== null && number !== null && single !== null && isProduct(number, single, amount))
    return { ...unknown, description: plain[1] ?? "", quantity: number, unit_price: single, amount_line: amount };
  const [prefix = "", count] = leadingQuantity.exec(words) ?? [];
  const rest = words.slice(prefix.length).trim();
  const last = findAmounts(rest, style).at(-1);
  if (count !== undefined) {
    const pieces = Number(count);
    // "2 x Coffee 3.00 6.00" states the price of one, too.
    const stated =
      last?.isMoney === true && last.end === rest.length && isProduct(pieces, last.value, amount) ? last : null;
    return {
      ...unknown,
      description: stated === null ? rest : rest.slice(0, stated.start).replace(/[\s@x×]+$/u, ""),
      quantity: pieces,
      unit_price: stated?.value ?? (pieces === 0 ? null : roundTo2(amount / pieces)),
      amount_line: amount,
    };
  }
  return { ...unknown, description: words, quantity: null, unit_price: null, amount_line: amount };
}

function toNumberOrNull(text: string, style: NumberStyle): number | null {
  return text === "" ? null : toNumber(text, style);
}

export function isProduct(quantity: number, price: number, amount: number): boolean {
  return Math.abs(Math.abs(quantity * price) - Math.abs(amount)) <= 0.011 + Math.abs(amount) * 0.002;
}
