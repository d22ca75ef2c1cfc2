// Reads the items of an invoice by the head of their table, and those of a receipt, which has no head, by the price at the end of each line.

import { roundTo2 } from "../numbers.ts";
import { isAmount, readAmountLabel } from "./amount-lines.ts";
import { findAmounts, type NumberStyle, readAmount, toNumber } from "./amounts.ts";
import type { PageRow } from "./document-text.ts";
import type { Item, ItemLines } from "./item.ts";
import { type ColumnKind, columnHeads } from "./item-labels.ts";
import type { Extent, Word } from "./page.ts";
import { toTokens } from "./phrases.ts";
import { isProduct, readReceiptItems, readTimes } from "./receipt-items.ts";
import type { Cell } from "./rows.ts";

interface Column extends Extent {
  readonly kind: ColumnKind;
}

const numericKinds: ReadonlySet<ColumnKind> = new Set([
  "quantity",
  "unit_price",
  "gross",
  "amount_line",
  "tax_rate",
  "tax",
  "discount",
]);
const endOfItems =
  /^(?:notes?\b|thank|thanks|payment|bank|iban|terms|remarks?|bemerkung|hinweis|zahlung|bankverbindung|conditions|règlement|forma de pago|observaciones|note\b|pagamento|modalità|opmerking|uwagi|slownie|słownie|amount in words|in words|arrêté|備考|振込先|备注|大写)/i;
// Relative to the height of a row. A wider gap ends the table.
const maxRowGap = 6;
const maxUnknownWords = 2;

export function readItems(rows: readonly PageRow[], style: NumberStyle): ItemLines {
  const items: Item[] = [];
  const used = new Set<Cell>();
  let headRows = 0;
  let columns: readonly Column[] | null = null;
  /** Whether rows belong to the table; after a page break, only a head or a complete row does. */
  let state: "open" | "paused" | "closed" = "closed";
  let pending: { text: string; words: readonly Word[] } | null = null;
  for (const [index, whole] of rows.entries()) {
    const head = readHead(rows, index);
    const row = columns === null ? whole : { ...whole, cells: inside(whole.cells, columns, whole.height) };
    if (head !== null && (items.length === 0 || hasSameKinds(head.columns, columns))) {
      columns = head.columns;
      for (const { cells } of rows.slice(index, index + head.rows))
        for (const cell of inside(cells, columns, row.height)) used.add(cell);
      headRows = index + head.rows;
      state = "open";
      pending = null;
      continue;
    }
    if (columns === null || index < headRows || row.cells.length === 0) continue;
    const previous = rows[index - 1];
    if (state === "open" && previous !== undefined && previous.page !== row.page) state = "paused";
    if (state === "closed") continue;
    const isComplete = isItemRow(row, columns, style) && !isSumRow(row, columns);
    if (state === "paused" && !isComplete) continue;
    const gap = previous === undefined || previous.page !== row.page ? 0 : row.top - previous.bottom;
    if (gap > maxRowGap * row.height && !isComplete) {
      state = "closed";
      continue;
    }
    if (!isComplete && endsTable(row)) {
      state = "closed";
      continue;
    }
    state = "open";
    for (const cell of row.cells) used.add(cell);
    // The sum of a page is not an item.
    if (row.cells.some(({ text }) => readAmountLabel(text)?.kind === "carried")) continue;
    const read = readTableRow(row, columns, style);
    const last = items.at(-1);
    if (read.item.amount_line !== null || read.item.unit_price !== null) {
      const description = pending === null ? read.item.description : `${pending.text} ${read.item.description}`.trim();
      items.push({ ...read.item, description, words: [...(pending?.words ?? []), ...read.item.words] });
      pending = null;
    } else if (read.item.description !== "" && row.cells.length <= 2) {
      const next = rows[index + 1];
      const isNearNext =
        next !== undefined &&
        last !== undefined &&
        next.top - row.bottom < 0.6 * gap &&
        isItemRow(next, columns, style);
      if (last === undefined || isNearNext)
        pending = {
          text: pending === null ? read.item.description : `${pending.text} ${read.item.description}`,
          words: read.item.words,
        };
      else items[items.length - 1] = withTimes(last, read.item, style) ?? appendTo(last, read.item);
    }
  }
  if (columns === null || items.length === 0) return readReceiptItems(rows, style);
  return { items, cells: used };
}

/** The cells within the width of the table. */
function inside(cells: readonly Cell[], columns: readonly Column[], height: number): Cell[] {
  const left = Math.min(...columns.map((column) => column.left)) - height;
  const right = Math.max(...columns.map((column) => column.right)) + 3 * height;
  return cells.filter((cell) => cell.right > left && cell.left < right);
}

/** "6 × 12.50" below an item states its quantity and price. Null: the line does not, or they do not multiply to its amount. */
function withTimes(item: Item, { description, words }: Item, style: NumberStyle): Item | null {
  const times = readTimes(description, style);
  if (times === null || item.amount_line === null || !isProduct(times.quantity, times.price, item.amount_line))
    return null;
  return {
    ...item,
    quantity: times.quantity,
    unit_price: times.price,
    unit_type: times.unit ?? item.unit_type,
    words: [...item.words, ...words],
  };
}

function appendTo(item: Item, { description, words }: Item): Item {
  return { ...item, description: `${item.description} ${description}`.trim(), words: [...item.words, ...words] };
}

/** Where the items have only one number, a row with a sum looks the same. */
function isSumRow(row: PageRow, columns: readonly Column[]): boolean {
  const numbers = columns.filter(({ kind }) => numericKinds.has(kind)).length;
  const kind = readAmountLabel(row.cells[0]?.text ?? "")?.kind;
  return numbers === 1 && (kind === "subtotal" || kind === "tax" || kind === "total" || kind === "due");
}

/** Totals, taxes and notes end the table, in whichever column they are. */
function endsTable(row: PageRow): boolean {
  return row.cells.some(({ text }) => {
    const label = readAmountLabel(text);
    return (label !== null && isAmount(label.kind)) || endOfItems.test(text);
  });
}

/** The columns, if the row contains the head of a description and of numbers. A head may take two rows. */
function readHead(rows: readonly PageRow[], index: number): { columns: Column[]; rows: number } | null {
  const row = rows[index];
  if (row === undefined || row.cells.length > 20) return null;
  const single = toHead(row.cells);
  const below = rows[index + 1];
  if (below === undefined || below.page !== row.page || below.top - row.bottom > row.height || /\d/.test(below.text))
    return single === null ? null : { columns: single, rows: 1 };
  const merged = row.cells.map((cell) => {
    const under = below.cells.filter((other) => other.left < cell.right && cell.left < other.right);
    return under.length === 1 && under[0] !== undefined
      ? {
          ...cell,
          text: `${cell.text} ${under[0].text}`,
          left: Math.min(cell.left, under[0].left),
          right: Math.max(cell.right, under[0].right),
        }
      : cell;
  });
  const [left, right] = [row.cells[0]?.left ?? 0, row.cells.at(-1)?.right ?? 0];
  const alone = below.cells.filter(
    (cell) =>
      cell.right > left &&
      cell.left < right &&
      !row.cells.some((other) => other.left < cell.right && cell.left < other.right),
  );
  const double = toHead([...merged, ...alone].toSorted((one, other) => one.left - other.left));
  if (double !== null && double.length > (single?.length ?? 0)) return { columns: double, rows: 2 };
  return single === null ? null : { columns: single, rows: 1 };
}

function toHead(cells: readonly Cell[]): Column[] | null {
  const columns = addUnknown(cells.map((cell) => ({ cell, columns: toColumns(cell) })));
  const has = (kind: ColumnKind) => columns.some((column) => column.kind === kind);
  const numbers = ["quantity", "unit_price", "amount_line", "gross"].filter((kind) => has(kind as ColumnKind)).length;
  if (!has("description")) return null;
  return numbers >= 2 || (numbers === 1 && columns.length >= 2 && columns.length >= cells.length) ? columns : null;
}

interface HeadCell {
  readonly cell: Cell;
  /** Empty: its words are not known. */
  readonly columns: readonly Column[];
}

/**
 * The columns of a head, some of whose words are not known. Beside a quantity and a price, the position tells what they are: the widest column
 * describes the item, and the last one is the amount. Others are kept apart from their neighbours.
 */
function addUnknown(heads: readonly HeadCell[]): Column[] {
  const known = heads.flatMap(({ columns }) => columns);
  const has = (...kinds: readonly ColumnKind[]) => known.some(({ kind }) => kinds.includes(kind));
  const unknown = heads.filter(({ cell, columns }) => columns.length === 0 && !/\d/.test(cell.text));
  const numbers = known.filter(({ kind }) => numericKinds.has(kind)).length;
  if (unknown.length === 0 || unknown.length > known.length || !has("quantity") || numbers + unknown.length < 3)
    return known;
  const last = heads.at(-1);
  const widthOf = (head: HeadCell) => (heads[heads.indexOf(head) + 1]?.cell.left ?? head.cell.right) - head.cell.left;
  const others = unknown.filter((head) => head !== last);
  const widest = others.reduce<HeadCell | null>(
    (best, head) => (best === null || widthOf(head) > widthOf(best) ? head : best),
    null,
  );
  const kindOf = (head: HeadCell): ColumnKind => {
    if (head === last && !has("amount_line", "gross")) return "amount_line";
    return head === widest && !has("description") ? "description" : "ignored";
  };
  return heads.flatMap((head) => {
    if (!unknown.includes(head)) return head.columns;
    return [{ kind: kindOf(head), left: head.cell.left, right: head.cell.right }];
  });
}

/** The heads of narrow columns can form one cell, such as "Qty Price". Then its phrases follow each other. */
function toColumns(cell: Cell): Column[] {
  const text = cell.text.replace(
    /\((?:[^)]{0,12})\)|\b(?:in\s)?(?:EUR|USD|GBP|CHF|PLN|SEK|DKK|NOK|CZK|INR|AUD|CAD|JPY|BRL|TRY|RMB)\b|[€$£₹¥*]|\bin\s*$/g,
    (part) => " ".repeat(part.length),
  );
  const tokens = toTokens(text.slice(0, 80));
  const width = (cell.right - cell.left) / Math.max(1, cell.text.length);
  const columns: Column[] = [];
  let unknown = 0;
  for (let at = 0; at < tokens.length; ) {
    const match = columnHeads.match(tokens, at);
    const start = tokens[at]?.start ?? 0;
    if (match === null) {
      // A word before the others is the head of a column of its own; after them, it belongs to the last one.
      const end = tokens[at]?.end ?? start;
      if (columns.length === 0)
        columns.push({ kind: "ignored", left: cell.left + start * width, right: cell.left + end * width });
      unknown++;
      at++;
      continue;
    }
    columns.push({ kind: match.kind, left: cell.left + start * width, right: cell.left + match.end * width });
    at += match.length;
  }
  // A sentence may have words of a head, too.
  if (unknown > maxUnknownWords || (unknown > 0 && tokens.length === unknown)) return [];
  const [first, ...rest] = columns;
  // "Product / Service" is one column.
  if (first !== undefined && rest.every(({ kind }) => kind === first.kind))
    return [{ ...first, left: cell.left, right: cell.right }];
  return columns;
}

function hasSameKinds(columns: readonly Column[], others: readonly Column[] | null): boolean {
  const kindsOf = (list: readonly Column[]) => list.map(({ kind }) => kind).join(" ");
  return others === null || kindsOf(columns) === kindsOf(others);
}

/** A row such as "Delivery of sand" is an item if it has a quantity and a price. */
function isItemRow(row: PageRow, columns: readonly Column[], style: NumberStyle): boolean {
  const filled = new Set(
    toPieces(row, columns, style).flatMap(({ column, isNumber }) => (isNumber ? [column.kind] : [])),
  );
  const numeric = new Set(columns.filter(({ kind }) => numericKinds.has(kind)).map(({ kind }) => kind));
  const money = ["unit_price", "amount_line", "gross"].some((kind) => filled.has(kind as ColumnKind));
  return money && filled.size >= Math.min(2, numeric.size) && filled.size >= numeric.size - 2 && row.cells.length >= 2;
}

interface Piece {
  readonly column: Column;
  readonly text: string;
  readonly words: readonly Word[];
  readonly isNumber: boolean;
}

const numberWord = /^[-–−(]?(?:[^\p{L}\d]{0,3}|[A-Z]{2,3}|kr\.?)\d[\d.,'’]*(?:[-–)%*]|[€$£₹¥円元]|[.,][-–—]{1,2})?$/u;

/** The parts of a row by column. A cell that covers several columns is divided at its numbers. */
function toPieces(row: PageRow, columns: readonly Column[], style: NumberStyle): Piece[] {
  return row.cells.flatMap((cell) => {
    const covered = columns.filter((column) => column.left < cell.right && cell.left < column.right);
    const whole = toPiece(cell, columns, style);
    if (covered.length < 2 || cell.words.length < 2 || whole.isNumber || cell.words.length > 60) return [whole];
    return divide(cell, columns, style);
  });
}

function toPiece(cell: Cell, columns: readonly Column[], style: NumberStyle): Piece {
  const isNumber = readAmount(cell.text, style) !== null || /^\d{1,3}(?:[.,]\d{1,3})?\s?%$/.test(cell.text);
  const suitable = columns.filter(({ kind }) => isNumber || !numericKinds.has(kind) || /\d/.test(cell.text));
  return {
    column: findColumn(cell, suitable.length > 0 ? suitable : columns),
    text: cell.text,
    words: cell.words,
    isNumber,
  };
}

function divide(cell: Cell, columns: readonly Column[], style: NumberStyle): Piece[] {
  const [first, last] = [cell.words[0], cell.words.at(-1)];
  if (first === undefined || last === undefined) return [];
  const scale = (cell.right - cell.left) / Math.max(1e-9, last.box.left + last.box.width - first.box.left);
  const parts: { column: Column | null; words: Word[]; left: number; right: number }[] = [];
  for (const word of cell.words) {
    const left = cell.left + (word.box.left - first.box.left) * scale;
    const right = left + word.box.width * scale;
    const nearest = findColumn({ left, right }, columns);
    const column = numberWord.test(word.text) && numericKinds.has(nearest.kind) ? nearest : null;
    const part = parts.at(-1);
    if (part !== undefined && part.column === column) {
      part.words.push(word);
      part.right = right;
    } else parts.push({ column, words: [word], left, right });
  }
  return parts.map(({ column, words, left, right }) => {
    const text = words.map((word) => word.text).join(" ");
    const isNumber = column !== null && readAmount(text, style) !== null;
    const texts = columns.filter(({ kind }) => !numericKinds.has(kind));
    return { column: column ?? findColumn({ left, right }, texts.length > 0 ? texts : columns), text, words, isNumber };
  });
}

function readTableRow(row: PageRow, columns: readonly Column[], style: NumberStyle): { item: Item } {
  const texts: Partial<Record<ColumnKind, string>> = {};
  const pieces = toPieces(row, columns, style);
  for (const { column, text } of pieces) {
    texts[column.kind] = texts[column.kind] === undefined ? text : `${texts[column.kind]} ${text}`;
  }
  const number = (text: string | undefined) => (text === undefined ? null : readMoney(text, style));
  // "Amount" and "Total" may be the net and the gross amount of a line.
  const amounts = columns
    .filter(({ kind }) => kind === "amount_line")
    .flatMap((column) => pieces.find((piece) => piece.column === column)?.text ?? []);
  const [, count, unit] =
    /^(-?\d[\d.,'’ ]{0,15})\s?(\p{L}[\p{L}²³.]{0,12})?$/u.exec(texts.quantity?.trim() ?? "") ?? [];
  const tax = texts.tax_rate ?? "";
  const rate = readRate(tax, style);
  const discount = texts.discount?.includes("%") === true ? readRate(texts.discount, style) : null;
  const discountAmount = discount === null ? number(texts.discount) : null;
  // "Unit" may be the head of the unit price.
  const priceText =
    texts.unit_price ?? (readMoney(texts.unit_type ?? "", style) === null ? undefined : texts.unit_type);
  const printed = {
    quantity: count === undefined ? null : toNumber(count.trim(), style),
    unit_price: number(priceText),
    amount_line:
      (amounts.length > 1
        ? chooseAmount(
            amounts.map(number),
            count === undefined ? null : toNumber(count.trim(), style),
            number(priceText),
          )
        : number(texts.amount_line)) ??
      (columns.some(({ kind }) => kind === "amount_line") ? null : number(texts.gross)),
  };
  const item: Item = {
    ...multiply(
      printed,
      {
        discount: discount ?? discountAmount,
        rate,
        hasAmount: columns.some(({ kind }) => kind === "amount_line" || kind === "gross"),
      },
      count,
      style,
    ),
    description: texts.description ?? "",
    tax_rate: rate,
    tax: number(texts.tax) ?? (rate === null ? number(tax) : null),
    discount_rate: discount,
    discount_amount: discountAmount,
    product_code: texts.product_code ?? null,
    unit_type: (texts.unit_price === undefined && priceText !== undefined ? null : texts.unit_type) ?? unit ?? null,
    words: pieces.flatMap(({ words }) => words),
  };
  return { item };
}

/** The amount that quantity and price multiply to, otherwise the last one. */
function chooseAmount(amounts: readonly (number | null)[], quantity: number | null, price: number | null) {
  const fitting = amounts.find(
    (amount) => amount !== null && quantity !== null && price !== null && isProduct(quantity, price, amount),
  );
  return fitting ?? amounts.at(-1) ?? null;
}

/** A percentage, or one of the usual rates without the sign. */
function readRate(text: string, style: NumberStyle): number | null {
  const [, figures, percent] = /^\D{0,4}(\d{1,2}(?:[.,]\d{1,3})?)\s?(%)?\D{0,4}$/.exec(text.trim()) ?? [];
  const value = figures === undefined ? null : toNumber(figures, { decimal: style.decimal });
  const isUsual = value !== null && /^\d{1,2}(?:[.,][05]0?)?$/.test(figures ?? "") && value <= 27;
  return percent !== undefined || isUsual ? value : null;
}

function readMoney(text: string, style: NumberStyle): number | null {
  const amounts = findAmounts(text, style);
  return readAmount(text, style) ?? (amounts.length === 1 ? (amounts[0]?.value ?? null) : null);
}

interface Product {
  readonly quantity: number | null;
  readonly unit_price: number | null;
  readonly amount_line: number | null;
}

/** Quantity and price are reported only if they multiply to the amount, with the discount or the tax of the line. */
function multiply(
  printed: Product,
  { discount, rate, hasAmount }: { discount: number | null; rate: number | null; hasAmount: boolean },
  count: string | undefined,
  style: NumberStyle,
): Product & { contradicts: boolean } {
  const { quantity, unit_price: price, amount_line: amount } = printed;
  if (price !== null && amount === null && !hasAmount)
    return { ...printed, amount_line: roundTo2(price * (quantity ?? 1)), contradicts: false };
  if (quantity === null || price === null || amount === null) return { ...printed, contradicts: false };
  const fits = (number: number) => {
    const product = number * price;
    const factors = [
      1,
      1 - (discount ?? 0) / 100,
      1 + (rate ?? 0) / 100,
      (1 - (discount ?? 0) / 100) * (1 + (rate ?? 0) / 100),
      0.01,
      0.001,
    ];
    const slack = 0.011 + Math.abs(number) * 0.0051;
    return (
      factors.some((factor) => Math.abs(product * factor - amount) <= slack) ||
      Math.abs(product - Math.abs(discount ?? 0) - amount) <= slack ||
      // On credit notes only one of the figures may have the minus.
      Math.abs(Math.abs(product) - Math.abs(amount)) <= slack
    );
  };
  if (fits(quantity)) return { ...printed, contradicts: false };
  const other = toNumber(count?.trim() ?? "", { decimal: style.decimal === "." ? "," : "." });
  if (other !== null && fits(other)) return { ...printed, quantity: other, contradicts: false };
  return { quantity: null, unit_price: null, amount_line: amount, contradicts: true };
}

/** The nearest column that the cell overlaps, otherwise the nearest one. Numbers are aligned right, words left. */
function findColumn(cell: Extent, columns: readonly Column[]): Column {
  const distance = (column: Column) => {
    const overlap = Math.min(cell.right, column.right) - Math.max(cell.left, column.left);
    const edges = Math.min(Math.abs(cell.left - column.left), Math.abs(cell.right - column.right));
    return overlap > 0 ? edges - 1e6 : edges;
  };
  const [first, ...rest] = columns;
  if (first === undefined) throw new Error("A table has at least one column.");
  return rest.reduce((best, column) => (distance(column) < distance(best) ? column : best), first);
}
