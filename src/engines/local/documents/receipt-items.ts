// Reads the items of a receipt, which has no head of columns, by the price at the end of each line.

import { roundTo2 } from "../numbers.ts";
import { isAmount, readAmountLabel } from "./amount-lines.ts";
import { findAmounts, type NumberStyle, readAmount, toNumber } from "./amounts.ts";
import type { PageRow } from "./document-text.ts";
import type { Item, ItemLines } from "./line-items.ts";
import type { Word } from "./page.ts";

const timesPrice =
  /^(\d{1,4}(?:[.,]\d{1,3})?)\s*(?:(kg|g|lb|lbs|l|st|stk|szt|pcs|ks|kpl)\.?\s*)?(?:x|×|@|\*|à|a)\s*(.{1,40})$/iu;
const trailingTimes =
  /^(.{1,80}?)\s+(\d{1,4}(?:[.,]\d{1,3})?)\s*(?:[x×@*]|szt\.?\s*[x*]|st\.?\s*[x*àá])\s*(\S{1,15})$/iu;
const leadingQuantity = /^(\d{1,3})\s*(?:[x×]\s*)?(?=\p{L})/iu;
const endKinds = new Set(["subtotal", "total", "due", "tax", "paid", "change", "tip", "rounding"]);
const maxLineLength = 200;

export function readReceiptItems(rows: readonly PageRow[], style: NumberStyle): ItemLines {
  const items: Item[] = [];
  const used = new Set<number>();
  for (const [index, row] of rows.entries()) {
    const label = row.cells
      .map(({ text }) => readAmountLabel(text))
      .find((found) => found !== null && isAmount(found.kind));
    if (label !== undefined && label !== null && endKinds.has(label.kind)) {
      // A total may be repeated above the items, a subtotal is not.
      if (items.length > 0 || label.kind === "subtotal") break;
      continue;
    }
    const line = row.text.replace(/\s+/g, " ").trim();
    if (label !== undefined || line.length > maxLineLength) continue;
    const previous = items.at(-1);
    const [, count, unit, rest = ""] = timesPrice.exec(line) ?? [];
    if (count !== undefined && previous !== undefined && !/\p{L}{3}/u.test(rest)) {
      const unitPrice = readAmount(rest.split(/[\s/]/)[0] ?? "", style);
      const quantity = toNumber(count, style);
      const isRight =
        unitPrice !== null && quantity !== null && isProduct(quantity, unitPrice, previous.amount_line ?? Number.NaN);
      if (isRight) items[items.length - 1] = { ...previous, quantity, unit_price: unitPrice, unit_type: unit ?? null };
      used.add(index);
      continue;
    }
    const amount = findAmounts(line, style).findLast(({ isMoney }) => isMoney);
    if (amount === undefined || line.slice(amount.end).trim() !== "") continue;
    const words = line.slice(0, amount.start).trim();
    if (!/\p{L}{2}|\p{Script=Han}|\p{Script=Katakana}|\p{Script=Hiragana}/u.test(words)) continue;
    items.push(
      toItem(
        words,
        amount.value,
        style,
        row.cells.flatMap((cell) => cell.words),
      ),
    );
    used.add(index);
  }
  return { items, rows: used };
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

function isProduct(quantity: number, price: number, amount: number): boolean {
  return Math.abs(Math.abs(quantity * price) - Math.abs(amount)) <= 0.011 + Math.abs(amount) * 0.002;
}
