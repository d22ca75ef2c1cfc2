// The lines of goods of an invoice, by the head of their table; of a receipt, which has none, by the price at the end of each line.

import { trimEndOf } from "../text/characters.ts";
import type { Cell, Row } from "./rows.ts";
import { readAmount } from "./values.ts";

export interface Item {
  readonly description: string;
  readonly quantity: number | null;
  readonly unitPrice: number | null;
  readonly amount: number | null;
  readonly taxRate: number | null;
  readonly code: string | null;
  readonly unit: string | null;
}

export interface ItemLines {
  readonly items: readonly Item[];
  /** Rows that the items take, their table's head included; null: none were found. */
  readonly firstRow: number | null;
  readonly lastRow: number | null;
}

type Role = "description" | "quantity" | "unitPrice" | "amount" | "taxRate" | "code" | "unit";

interface Column {
  readonly role: Role;
  readonly left: number;
  readonly right: number;
}

const heads: readonly (readonly [Role, RegExp])[] = [
  ["taxRate", /^(?:(?:vat|tax|gst|tva|mwst|ust|iva|btw)(?:\s?(?:rate|%))?\.?|taux(?:\s+tva)?)$/i],
  [
    "code",
    /^(?:item\s*(?:no|#|code|number)|sku|code|product\s+code|part\s*(?:no|#|number)|réf\.?|référence|ref\.?|art(?:ikel)?\.?-?\s?nr\.?|pos\.?|#|no\.?|nr\.?)$/i,
  ],
  [
    "unitPrice",
    /^(?:unit\s*(?:price|cost)|price(?:\s*\/\s*unit|\s+each)?|rate|hourly\s+rate|cost|each|prix(?:\s+unitaire)?(?:\s+ht)?|p\.?u\.?(?:\s+ht)?|einzelpreis|stückpreis|preis|precio(?:\s+unitario)?|prezzo(?:\s+unitario)?|prijs)(?:\s*[($€£].*)?$/i,
  ],
  [
    "quantity",
    /^(?:qty\.?|quantity|quant\.?|hours|hrs|units?|qté|quantité|menge|anzahl|cantidad|cant\.?|quantità|aantal|days)$/i,
  ],
  ["unit", /^(?:unit|uom|einheit|unité)$/i],
  [
    "amount",
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

/** A row that names a description or code, and at least one column of numbers. */
function readHead(row: Row): Column[] | null {
  const columns = row.cells.flatMap((cell) => toColumns(cell));
  const roles = new Set(columns.map((column) => column.role));
  const isHead = roles.has("description") && (roles.has("amount") || roles.has("unitPrice") || roles.has("quantity"));
  return isHead && columns.length >= 2 ? columns : null;
}

/** Narrow columns run together in one cell: "Qty Price". Then every word or pair of words is tried. */
function toColumns(cell: Cell): Column[] {
  const whole = findRole(cell.text);
  if (whole !== null) return [{ role: whole, left: cell.left, right: cell.right }];
  const words = cell.text.split(" ");
  if (words.length > 4) return [];
  const width = (cell.right - cell.left) / Math.max(1, cell.text.length);
  const columns: Column[] = [];
  let at = cell.left;
  for (let index = 0; index < words.length; ) {
    const pair = words.slice(index, index + 2).join(" ");
    const taken = words.length - index >= 2 && findRole(pair) !== null ? pair : (words[index] ?? "");
    const role = findRole(taken);
    if (role === null) return [];
    columns.push({ role, left: at, right: at + taken.length * width });
    at += (taken.length + 1) * width;
    index += taken === pair && pair.includes(" ") ? 2 : 1;
  }
  return columns;
}

function findRole(text: string): Role | null {
  const clean = trimEndOf(text, /[:*]/).trim();
  return heads.find(([, pattern]) => pattern.test(clean))?.[0] ?? null;
}

function readTable(rows: readonly Row[], head: number, columns: readonly Column[]): ItemLines {
  const items: Item[] = [];
  // "Price" alone is the price of one where there is a total beside it, else the whole.
  const hasAmount = columns.some((column) => column.role === "amount");
  let last = head;
  for (const [offset, row] of rows.slice(head + 1).entries()) {
    const [first] = row.cells;
    if (first === undefined || row.cells.some((cell) => endOfItems.test(cell.text) && !isItemRow(row, columns))) break;
    const previousRow = rows[head + offset];
    if (previousRow !== undefined && row.top - previousRow.bottom > 6 * row.height) break;
    const item = readTableRow(row, columns, hasAmount);
    const previous = items.at(-1);
    if (item.amount !== null || item.unitPrice !== null) items.push(item);
    else if (previous !== undefined && item.description !== "" && row.cells.length === 1) {
      items[items.length - 1] = { ...previous, description: `${previous.description} ${item.description}` };
    }
    last = head + 1 + offset;
  }
  return { items, firstRow: head, lastRow: last };
}

/** "Delivery of sand" is an item where quantity and price stand beside it. */
function isItemRow(row: Row, columns: readonly Column[]): boolean {
  const numbers = row.cells.filter((cell) => readAmount(cell.text) !== null).length;
  const numeric = columns.filter((column) => !["description", "code", "unit"].includes(column.role)).length;
  return numeric >= 2 && numbers >= numeric;
}

function readTableRow(row: Row, columns: readonly Column[], hasAmount: boolean): Item {
  const texts: Partial<Record<Role, string>> = {};
  for (const cell of row.cells) {
    const role = findColumn(cell, columns).role;
    texts[role] = texts[role] === undefined ? cell.text : `${texts[role]} ${cell.text}`;
  }
  const unitPrice = readNumber(texts.unitPrice);
  const quantityText = /^(\d+(?:[.,]\d+)?)\s*(\p{L}+\.?)?$/u.exec(texts.quantity?.trim() ?? "");
  const quantity = quantityText === null ? null : Number(quantityText[1]?.replace(",", "."));
  const amount = hasAmount ? readNumber(texts.amount) : null;
  const rate = /(\d+(?:[.,]\d+)?)\s?%?/.exec(texts.taxRate ?? "")?.[1];
  return {
    description: texts.description ?? "",
    quantity,
    unitPrice,
    amount: amount ?? (unitPrice === null ? null : Math.round(unitPrice * (quantity ?? 1) * 100) / 100),
    taxRate: rate === undefined ? null : Number(rate.replace(",", ".")),
    code: texts.code ?? null,
    unit: texts.unit ?? quantityText?.[2] ?? null,
  };
}

function readNumber(text: string | undefined): number | null {
  return text === undefined
    ? null
    : (readAmount(text)?.value ?? readAmount(text.split(" ").at(-1) ?? "")?.value ?? null);
}

/** The column that the cell overlaps most, else the nearest: numbers stand right of their head, words left of it. */
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
    const last = row.cells.at(-1);
    const price = last === undefined ? null : readPrice(last.text);
    const words = row.cells
      .slice(0, -1)
      .map((cell) => cell.text)
      .join(" ");
    const previous = items.at(-1);
    const repeated = timesPrice.exec(row.text.replace(/\s+/g, " ").trim());
    if (repeated !== null && previous !== undefined && !/\p{L}{3}/u.test(repeated[2] ?? "")) {
      const unitPrice = readAmount((repeated[2] ?? "").split(" ")[0] ?? "")?.value ?? null;
      items[items.length - 1] = { ...previous, quantity: Number((repeated[1] ?? "").replace(",", ".")), unitPrice };
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

/** Prices have cents; dates, tables and telephone numbers have not. */
function readPrice(text: string): number | null {
  return /\d[.,]\d{2}(?!\d)/.test(text) ? (readAmount(text)?.value ?? null) : null;
}

function toReceiptItem(words: string, amount: number): Item {
  const within = /^(.*?)\s+(\d+)\s*[x×@]\s*([\d.,]+)$/i.exec(words);
  if (within !== null) {
    const unitPrice = readAmount(within[3] ?? "")?.value ?? null;
    return {
      description: within[1] ?? "",
      quantity: Number(within[2]),
      unitPrice,
      amount,
      taxRate: null,
      code: null,
      unit: null,
    };
  }
  const leading = leadingQuantity.exec(words);
  const quantity = leading === null ? null : Number(leading[1]);
  const unitPrice = quantity === null || quantity === 0 ? null : Math.round((amount / quantity) * 100) / 100;
  return {
    description: leading === null ? words : words.slice(leading[0].length).trim(),
    quantity,
    unitPrice,
    amount,
    taxRate: null,
    code: null,
    unit: null,
  };
}
