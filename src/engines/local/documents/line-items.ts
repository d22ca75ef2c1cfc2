// Reads the items of an invoice by the head of their table, and those of a receipt, which has no head, by the price at the end of each line.

import { roundTo2 } from "../numbers.ts";
import { trimEndOf } from "../text/characters.ts";
import type { Cell, Row } from "./rows.ts";
import { readAmount } from "./values.ts";

/** An item with the member names of the task's output. */
export interface Item {
  readonly description: string;
  readonly quantity: number | null;
  readonly unit_price: number | null;
  readonly amount_line: number | null;
  readonly tax_rate: number | null;
  readonly product_code: string | null;
  readonly unit_type: string | null;
}

export interface ItemLines {
  readonly items: readonly Item[];
  /** The first and last row of the items, including the head of their table; null: there are none. */
  readonly firstRow: number | null;
  readonly lastRow: number | null;
}

interface Column {
  readonly member: keyof Item;
  readonly left: number;
  readonly right: number;
}

/** The heads of columns. The order matters, because some patterns overlap. */
const heads: readonly (readonly [keyof Item, RegExp])[] = [
  ["tax_rate", /^(?:(?:vat|tax|gst|tva|mwst|ust|iva|btw)(?:\s?(?:rate|%))?\.?|taux(?:\s+tva)?)$/i],
  [
    "product_code",
    /^(?:item\s*(?:no|#|code|number)|sku|code|product\s+code|part\s*(?:no|#|number)|réf\.?|référence|ref\.?|art(?:ikel)?\.?-?\s?nr\.?|pos\.?|#|no\.?|nr\.?)$/i,
  ],
  [
    "unit_price",
    /^(?:unit\s*(?:price|cost)|price(?:\s*\/\s*unit|\s+each)?|rate|hourly\s+rate|cost|each|prix(?:\s+unitaire)?(?:\s+ht)?|p\.?u\.?(?:\s+ht)?|einzelpreis|stückpreis|preis|precio(?:\s+unitario)?|prezzo(?:\s+unitario)?|prijs)(?:\s*[($€£].*)?$/i,
  ],
  [
    "quantity",
    /^(?:qty\.?|quantity|quant\.?|hours|hrs|units?|qté|quantité|menge|anzahl|cantidad|cant\.?|quantità|aantal|days)$/i,
  ],
  ["unit_type", /^(?:unit|uom|einheit|unité)$/i],
  [
    "amount_line",
    /^(?:amount|(?:line\s+)?total|total\s+(?:price|ht|amount)|net(?:\s+amount)?|sum|montant(?:\s+ht)?|betrag|gesamt(?:preis)?|summe|importe|importo|totale|bedrag|extended|ext\.?\s+price|value|price)(?:\s*[($€£].*)?$/i,
  ],
  [
    "description",
    /^(?:(?:item\s+)?description(?:\s+of\s+.*)?|items?|products?|services?|details|particulars|activity|work|désignation|libellé|description|beschreibung|bezeichnung|leistung|artikel|concepto|descripción|descrizione|omschrijving|goods)$/i,
  ],
];
const endOfItems =
  /^(?:sub\s*-?\s*total|total|net\b|vat\b|tax\b|gst\b|sales\s+tax|discount|shipping|delivery\s+(?:charge|fee)|amount\s+due|balance|grand|sous-?total|montant|tva\b|zwischensumme|netto|gesamt|summe|mwst|ust\b|zzgl|rabatt|base\s+imponible|iva\b|imponibile|totale|totaal|btw|notes?\b|thank|payment|bank|iban|change|cash|card|visa|mastercard|tip\b|service\s+charge|remise|frais)/i;

export function readItems(rows: readonly Row[]): ItemLines {
  for (const [index, row] of rows.entries()) {
    const columns = readHead(row);
    if (columns !== null) return readTable(rows, index, columns);
  }
  return readReceipt(rows);
}

/** The columns, if the row contains the head of a description and of numbers. */
function readHead(row: Row): Column[] | null {
  const columns = row.cells.flatMap((cell) => toColumns(cell));
  const has = (member: keyof Item) => columns.some((column) => column.member === member);
  return has("description") && (has("amount_line") || has("unit_price") || has("quantity")) ? columns : null;
}

/** The heads of narrow columns can form one cell, such as "Qty Price". Then each word or pair of words is tried. */
function toColumns(cell: Cell): Column[] {
  const whole = findMember(cell.text);
  if (whole !== null) return [{ member: whole, left: cell.left, right: cell.right }];
  const words = cell.text.split(" ");
  if (words.length > 4) return [];
  const width = (cell.right - cell.left) / Math.max(1, cell.text.length);
  const columns: Column[] = [];
  let left = cell.left;
  for (let index = 0; index < words.length; ) {
    const isPair = index + 1 < words.length && findMember(`${words[index]} ${words[index + 1]}`) !== null;
    const head = words.slice(index, index + (isPair ? 2 : 1)).join(" ");
    const member = findMember(head);
    if (member === null) return [];
    columns.push({ member, left, right: left + head.length * width });
    left += (head.length + 1) * width;
    index += isPair ? 2 : 1;
  }
  return columns;
}

function findMember(text: string): keyof Item | null {
  const head = trimEndOf(text, /[:*]/).trim();
  return heads.find(([, pattern]) => pattern.test(head))?.[0] ?? null;
}

function readTable(rows: readonly Row[], head: number, columns: readonly Column[]): ItemLines {
  const items: Item[] = [];
  let last = head;
  for (const [offset, row] of rows.slice(head + 1).entries()) {
    const [first] = row.cells;
    if (first === undefined || row.cells.some((cell) => endOfItems.test(cell.text) && !isItemRow(row, columns))) break;
    const previousRow = rows[head + offset];
    if (previousRow !== undefined && row.top - previousRow.bottom > 6 * row.height) break;
    const item = readTableRow(row, columns);
    const previous = items.at(-1);
    if (item.amount_line !== null || item.unit_price !== null) items.push(item);
    else if (previous !== undefined && item.description !== "" && row.cells.length === 1)
      items[items.length - 1] = { ...previous, description: `${previous.description} ${item.description}` };
    last = head + 1 + offset;
  }
  return { items, firstRow: head, lastRow: last };
}

/** A row such as "Delivery of sand" is an item if it has a quantity and a price. */
function isItemRow(row: Row, columns: readonly Column[]): boolean {
  const numbers = row.cells.filter((cell) => readAmount(cell.text) !== null).length;
  const numeric = columns.filter(({ member }) => !["description", "product_code", "unit_type"].includes(member)).length;
  return numeric >= 2 && numbers >= numeric;
}

function readTableRow(row: Row, columns: readonly Column[]): Item {
  const texts: Partial<Record<keyof Item, string>> = {};
  for (const cell of row.cells) {
    const { member } = findColumn(cell, columns);
    texts[member] = texts[member] === undefined ? cell.text : `${texts[member]} ${cell.text}`;
  }
  const unitPrice = readNumber(texts.unit_price);
  const [, count, unit] = /^(\d+(?:[.,]\d+)?)\s*(\p{L}+\.?)?$/u.exec(texts.quantity?.trim() ?? "") ?? [];
  const quantity = toDecimal(count);
  const amount = readNumber(texts.amount_line);
  return {
    description: texts.description ?? "",
    quantity,
    unit_price: unitPrice,
    amount_line: amount ?? (unitPrice === null ? null : roundTo2(unitPrice * (quantity ?? 1))),
    tax_rate: toDecimal(/(\d+(?:[.,]\d+)?)\s?%?/.exec(texts.tax_rate ?? "")?.[1]),
    product_code: texts.product_code ?? null,
    unit_type: texts.unit_type ?? unit ?? null,
  };
}

function toDecimal(text: string | undefined): number | null {
  return text === undefined ? null : Number(text.replace(",", "."));
}

function readNumber(text: string | undefined): number | null {
  return text === undefined ? null : (readAmount(text) ?? readAmount(text.split(" ").at(-1) ?? ""));
}

/** The nearest column that the cell overlaps, otherwise the nearest one. Numbers are aligned right, words left. */
function findColumn(cell: Cell, columns: readonly Column[]): Column {
  const distance = (column: Column) => {
    const overlap = Math.min(cell.right, column.right) - Math.max(cell.left, column.left);
    const edges = Math.min(Math.abs(cell.left - column.left), Math.abs(cell.right - column.right));
    return overlap > 0 ? edges - 1000 : edges;
  };
  const [first, ...rest] = columns;
  if (first === undefined) throw new Error("A table has at least one column.");
  return rest.reduce((best, column) => (distance(column) < distance(best) ? column : best), first);
}

const timesPrice = /^(\d+(?:[.,]\d+)?)\s*(?:x|×|@|\*)\s*(.+)$/i;
const leadingQuantity = /^(\d{1,3})\s*(?:x\s+)?(?=\p{L})/iu;

function readReceipt(rows: readonly Row[]): ItemLines {
  const items: Item[] = [];
  let firstRow: number | null = null;
  let lastRow: number | null = null;
  for (const [index, row] of rows.entries()) {
    if (row.cells.some((cell) => endOfItems.test(cell.text))) {
      if (items.length > 0) break;
      continue;
    }
    const price = readPrice(row.cells.at(-1)?.text ?? "");
    const words = row.cells
      .slice(0, -1)
      .map((cell) => cell.text)
      .join(" ");
    const previous = items.at(-1);
    const [, count, rest = ""] = timesPrice.exec(row.text.replace(/\s+/g, " ").trim()) ?? [];
    if (count !== undefined && previous !== undefined && !/\p{L}{3}/u.test(rest)) {
      const unitPrice = readAmount(rest.split(" ")[0] ?? "");
      items[items.length - 1] = { ...previous, quantity: toDecimal(count), unit_price: unitPrice };
      lastRow = index;
      continue;
    }
    if (price === null || !/\p{L}{2}/u.test(words)) continue;
    items.push(toReceiptItem(words, price));
    firstRow ??= index;
    lastRow = index;
  }
  return { items, firstRow, lastRow };
}

/** Prices have cents, in contrast to dates and telephone numbers. */
function readPrice(text: string): number | null {
  return /\d[.,]\d{2}(?!\d)/.test(text) ? readAmount(text) : null;
}

function toReceiptItem(words: string, amount: number): Item {
  const unknown = { tax_rate: null, product_code: null, unit_type: null };
  const [, description, times, price = ""] = /^(.*?)\s+(\d+)\s*[x×@]\s*([\d.,]+)$/i.exec(words) ?? [];
  if (description !== undefined)
    return { ...unknown, description, quantity: Number(times), unit_price: readAmount(price), amount_line: amount };
  const [prefix = "", count] = leadingQuantity.exec(words) ?? [];
  const quantity = count === undefined ? null : Number(count);
  return {
    ...unknown,
    description: prefix === "" ? words : words.slice(prefix.length).trim(),
    quantity,
    unit_price: quantity === null || quantity === 0 ? null : roundTo2(amount / quantity),
    amount_line: amount,
  };
}
