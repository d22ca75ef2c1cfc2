// Finds every labelled amount of a document: beside its label, or in the column below it.

import { type AmountKind, amountLabels, prefixes, qualifiers } from "./amount-labels.ts";
import { type Amount, findAmounts, type NumberStyle } from "./amounts.ts";
import { currencyEndPattern } from "./currencies.ts";
import { wordsIn } from "./document-text.ts";
import type { Extent, Word } from "./page.ts";
import { type Token, toTokens } from "./phrases.ts";
import type { Cell, Row } from "./rows.ts";

export interface AmountLine {
  readonly kind: Exclude<AmountKind, "noise" | "carried">;
  readonly value: number;
  readonly words: readonly Word[];
  /** The index of the row, which tells what comes later. */
  readonly row: number;
  /** How specific the label is, 1 to 3. */
  readonly weight: number;
  /** The rate of a tax, and the amount that it applies to. */
  readonly rate: number | null;
  readonly base: number | null;
  /** The total contains this tax already. */
  readonly isIncluded: boolean;
  /** It sums up the other lines of its kind. */
  readonly isSum: boolean;
  /** The currency signs and codes in the line. */
  readonly marks: readonly string[];
}

export interface AmountLabel {
  readonly kind: AmountKind;
  readonly weight: number;
  readonly rate: number | null;
  readonly isIncluded: boolean;
  readonly isSum: boolean;
  readonly language: string | null;
  /** The offset after the label. */
  readonly end: number;
}

// Labels are at the beginning of a cell; a paragraph is not searched to its end.
const maxLabelLength = 160;
/** Words that may be a total, but also the head of a column or a line. */
const weakTotals = new Set(
  "amount betrag montant importe importo belopp belob belop tutar gross brutto bruto sum summe suma summa refund s dph ttc 税込 verollinen 金額 税込金額".split(
    " ",
  ),
);
const markInLabel = new RegExp(`(?<![\\p{L}\\d])${currencyEndPattern}(?![\\p{L}\\d])`, "gu");

const ratePattern = /(?<![\d.,])(\d{1,2}(?:[.,]\d{1,3})?)\s?%|%\s?(\d{1,2}(?:[.,]\d{1,3})?)(?![\d.,])/;

function toRate(text: string): number | null {
  const [, before, after] = ratePattern.exec(text) ?? [];
  const rate = before ?? after;
  return rate === undefined ? null : Number(rate.replace(",", "."));
}

const maxPrefixes = 6;
/** Labels of a tax that say themselves that the total includes it. */
const includedPhrase = /^(?:内|うち|di cui|dont|total includes)| included$/;
const sumWords = /\b(?:total\w*|totaal|summe|suma|razem|gesamt|yhteensa|celkem|toplam|sum|i alt)\b|合計|合计/;

/** The label of an amount at the beginning of a text. */
export function readAmountLabel(text: string): AmountLabel | null {
  const head = text.slice(0, maxLabelLength);
  const tokens = toTokens(head);
  let [at, isIncluded] = [0, false];
  let match = amountLabels.match(tokens, at);
  for (let skipped = 0; match === null && skipped < maxPrefixes; skipped++) {
    const prefix = prefixes.match(tokens, at);
    const step = prefix?.length ?? lengthOfRate(tokens, at);
    if (step === 0) return null;
    isIncluded ||= prefix?.kind === "included";
    at += step;
    match = amountLabels.match(tokens, at);
  }
  if (match === null) return null;
  const qualified = qualify(match.kind, tokens, at + match.length);
  if (qualified === null) return null;
  const label = head.slice(tokens[0]?.start ?? 0, qualified.end ?? match.end);
  const isWeak = weakTotals.has(match.phrase) && qualified.end === null;
  const isSpecific = at + match.length > 1 && match.phrase.includes(" ");
  return {
    kind: qualified.kind,
    weight: isWeak ? 1 : isSpecific || match.kind === "due" ? 3 : 2,
    rate: toRate(head),
    isIncluded: isIncluded || qualified.isIncluded || includedPhrase.test(match.phrase),
    isSum: sumWords.test(match.phrase) || sumWords.test(label.toLowerCase()),
    language: match.language,
    // The amounts after the first word of the label are searched, because "VAT 20 % on 100.00" goes on.
    end: match.end,
  };
}

/** "19 %" or "8.875 %" before the label, a currency, or the letter of a tax class. */
function lengthOfRate(tokens: readonly Token[], at: number): number {
  const token = tokens[at];
  if (token === undefined) return 0;
  if (/^\d+$/.test(token.text)) {
    if (tokens[at + 1]?.text === "%") return 2;
    return tokens[at + 2]?.text === "%" && /^\d+$/.test(tokens[at + 1]?.text ?? "") ? 3 : 0;
  }
  return /^[a-z]$/.test(token.text) || token.text === "%" ? 1 : 0;
}

const maxQualifiers = 6;

/** What the words after a label make of it: "total" is the net amount before "excl. VAT", and the tax before "VAT". */
function qualify(
  kind: AmountKind,
  tokens: readonly Token[],
  from: number,
): { kind: AmountKind; isIncluded: boolean; end: number | null } | null {
  let [resolved, isIncluded]: [AmountKind, boolean] = [kind, false];
  let end: number | null = null;
  let isSettled = false;
  for (let at = from; at < Math.min(tokens.length, from + maxQualifiers); ) {
    const token = tokens[at];
    if (token === undefined || /^\d/.test(token.text)) break;
    const next = amountLabels.match(tokens, at);
    const qualifier = qualifiers.match(tokens, at);
    if (kind === "total" && next?.kind === "due") return { kind: "due", isIncluded: false, end: next.end };
    if (qualifier?.kind === "identifier" && at === from && isName(kind)) return null;
    if (qualifier !== null && qualifier.kind !== "identifier" && !isLetter(tokens, at)) {
      const isWithout = qualifier.kind === "withoutTax";
      if (kind === "total" || kind === "due") [resolved, isSettled] = [isWithout ? "subtotal" : "total", true];
      if (kind === "tax") isIncluded ||= !isWithout;
      end = qualifier.end;
      at += qualifier.length;
      continue;
    }
    if (kind === "total" && next?.kind === "tax" && !isSettled) [resolved, end] = ["tax", next.end];
    at += next?.length ?? 1;
  }
  // "Total due incl. VAT" is due.
  if (kind === "due" && resolved === "total") resolved = "due";
  return { kind: resolved, isIncluded, end };
}

/** Labels that begin a name or number, such as "VAT no". */
function isName(kind: AmountKind): boolean {
  return !["total", "subtotal", "due"].includes(kind);
}

/** The s of "s DPH" and the z of "z VAT" count only before a tax. */
function isLetter(tokens: readonly Token[], at: number): boolean {
  return (tokens[at]?.text.length ?? 0) === 1 && amountLabels.match(tokens, at + 1)?.kind !== "tax";
}

/** An amount and the words that it covers, which are looked up only if it is used: a cell may have thousands of amounts. */
interface PlacedAmount {
  readonly amount: Amount;
  words(): Word[];
}

interface Labelled {
  readonly label: AmountLabel;
  readonly cell: number;
  readonly amounts: readonly PlacedAmount[];
  readonly text: string;
}

/** `rows` without the cells of the items. */
export function findAmountLines(rows: readonly Row[], style: NumberStyle) {
  const lines: AmountLine[] = [];
  const languages: string[] = [];
  let skipUntil = 0;
  for (const [index, row] of rows.entries()) {
    if (index < skipUntil) continue;
    const labelled = readRow(row, style);
    for (const { label } of labelled) if (label.language !== null) languages.push(label.language);
    const heads = labelled.filter(({ label, amounts }) => amounts.length === 0 && isAmount(label.kind));
    if (heads.length > 0 && labelled.every(({ label, amounts }) => amounts.length === 0 || !isAmount(label.kind))) {
      const table = readColumns(rows, index, heads, style);
      lines.push(...table.lines);
      skipUntil = table.nextRow;
      continue;
    }
    lines.push(...labelled.flatMap((entry) => toLines(entry, index)));
  }
  return { lines, languages };
}

/** The labels of a row, each with the amounts up to the next label. */
function readRow(row: Row, style: NumberStyle): Labelled[] {
  const labelled: (Omit<Labelled, "amounts"> & { amounts: PlacedAmount[] })[] = [];
  for (const [index, cell] of row.cells.entries()) {
    let from = 0;
    // A cell may hold several labels: "Net 100.00 VAT 20.00 Total 120.00".
    for (let part = 0; part < 8; part++) {
      const label = readAmountLabel(cell.text.slice(from));
      if (label !== null) labelled.push({ label, cell: index, amounts: [], text: cell.text });
      const searchFrom = label === null ? from : from + label.end;
      const [first] = findAmounts(cell.text.slice(searchFrom), style);
      const end = first === undefined ? cell.text.length : searchFrom + first.end;
      const isEnd = readAmountLabel(cell.text.slice(end)) === null;
      const region = cell.text.slice(searchFrom, isEnd ? cell.text.length : end);
      for (const amount of findAmounts(region, style)) {
        const start = searchFrom + amount.start;
        const words = () => wordsIn(cell, start, start + amount.end - amount.start);
        labelled.at(-1)?.amounts.push({ amount, words });
      }
      if (isEnd) break;
      from = end;
    }
  }
  return labelled;
}

export function isAmount(kind: AmountKind): kind is AmountLine["kind"] {
  return kind !== "noise" && kind !== "carried";
}

/** A total of several columns states net amount and tax, too: "Total 100.00 20.00 120.00". */
function toLines(entry: Labelled, row: number): AmountLine[] {
  const line = toLine(entry, row);
  const money = entry.amounts.filter(({ amount }) => amount.isMoney);
  const [first, second] = money;
  if (line === null) return [];
  if (line.kind !== "total" || first === undefined || second === undefined || money.length > 3) return [line];
  const part = (kind: AmountLine["kind"], { amount, words }: Labelled["amounts"][number]): AmountLine => ({
    ...line,
    kind,
    value: amount.value,
    words: words(),
    weight: 1,
    isSum: true,
  });
  return [
    line,
    part("subtotal", first),
    part("tax", second),
    ...(money.length === 2 ? [{ ...part("total", first), isSum: false }] : []),
  ];
}

function toLine({ label, amounts, text }: Labelled, row: number): AmountLine | null {
  if (!isAmount(label.kind)) return null;
  const money = amounts.filter(({ amount }) => amount.isMoney);
  // "Net 30" states when to pay, and "Due 4" begins a date.
  const needsMoney = ["subtotal", "due", "tax", "tip", "paid"].includes(label.kind);
  const usable = money.length > 0 || needsMoney ? money : amounts;
  const chosen = label.kind === "tax" ? chooseTax(usable, label.rate) : chooseLast(usable);
  if (chosen === undefined) return null;
  const others = usable.filter((entry) => entry !== chosen).map(({ amount }) => amount.value);
  return {
    kind: label.kind,
    value: chosen.amount.value,
    words: chosen.words(),
    row,
    weight: money.length > 0 ? label.weight : label.weight - 1,
    rate: label.rate,
    base: label.kind === "tax" ? (others.at(-1) ?? null) : null,
    isIncluded: label.isIncluded,
    isSum: label.isSum,
    marks: [
      ...chosen.amount.marks,
      ...(text.slice(0, label.end + (/\d/.exec(text.slice(label.end))?.index ?? maxLabelLength)).match(markInLabel) ??
        []),
    ],
  };
}

/** The last amount; the first if the others are in another currency. */
function chooseLast(amounts: Labelled["amounts"]): Labelled["amounts"][number] | undefined {
  const currencies = new Set(amounts.map(({ amount }) => amount.marks.join(" ")));
  return currencies.size > 1 && !currencies.has("") ? amounts[0] : amounts.at(-1);
}

/** Of a base and a tax, or of base, tax and gross amount, the one that is the rate of another. */
function chooseTax(amounts: Labelled["amounts"], rate: number | null): Labelled["amounts"][number] | undefined {
  if (rate === null || rate === 0 || amounts.length < 2) return chooseLast(amounts);
  const values = amounts.map(({ amount }) => amount.value);
  const fits = (tax: number) =>
    values.some((base) => base !== tax && Math.abs((base * rate) / 100 - tax) <= 0.011 + Math.abs(tax) * 0.0005) ||
    values.some((gross) => gross !== tax && Math.abs((gross * rate) / (100 + rate) - tax) <= 0.011);
  return amounts.slice(0, 10).findLast(({ amount }) => fits(amount.value)) ?? chooseLast(amounts);
}

const maxTableRows = 15;
const maxTableColumns = 12;

/** The amounts below labels in a row of their own: totals side by side, or a table of taxes with a row for each rate. */
function readColumns(
  rows: readonly Row[],
  head: number,
  heads: readonly Labelled[],
  style: NumberStyle,
): { lines: AmountLine[]; nextRow: number } {
  const headRow = rows[head] as Row;
  const columns = heads.flatMap(({ label, cell }) => {
    const at = headRow.cells[cell];
    // "Incl. VAT" above a column is the gross amount, and beside an amount the tax.
    const isGross = heads.length > 1 && label.kind === "tax" && label.isIncluded;
    return at === undefined ? [] : [{ label: isGross ? { ...label, kind: "total" as const } : label, cell: at }];
  });
  const lines: AmountLine[] = [];
  let nextRow = head + 1;
  let previous: Row = headRow;
  for (let index = head + 1; index < Math.min(rows.length, head + 1 + maxTableRows); index++) {
    const row = rows[index];
    if (row === null || row === undefined || row.top - previous.bottom > 2.5 * Math.max(row.height, previous.height))
      break;
    const found = row.cells.flatMap((cell) =>
      findAmounts(cell.text, style)
        .filter(({ isMoney }) => isMoney)
        .slice(0, maxTableColumns)
        .map((amount) => ({ amount, cell, words: wordsIn(cell, amount.start, amount.end) })),
    );
    const first = readAmountLabel(row.cells[0]?.text ?? "");
    // Labels beside their amounts follow the table.
    const isSum =
      first !== null &&
      ["total", "subtotal", "due"].includes(first.kind) &&
      found.length >= Math.min(2, columns.length);
    if (found.length === 0 || (first !== null && !isSum && first.kind !== "tax" && row.cells.length <= 2)) break;
    const rate = toRate(row.text);
    const values = found.flatMap(({ amount, cell, words }) => {
      const column = nearest(cell, words, columns);
      return column === null ? [] : [{ amount, words, column }];
    });
    if (values.length === 0) break;
    const base = values.find(({ column }) => column.label.kind === "subtotal")?.amount.value ?? null;
    // The column "VAT %" has the rates.
    const printedRate = values.find(({ column }) => column.cell.text.includes("%"))?.amount.value ?? null;
    for (const { amount, words, column } of values) {
      const { kind } = column.label;
      if (!isAmount(kind) || column.cell.text.includes("%")) continue;
      lines.push({
        kind,
        value: amount.value,
        words,
        row: index,
        weight: columns.length === 1 ? column.label.weight : 2,
        rate: kind === "tax" ? (rate ?? printedRate ?? column.label.rate) : null,
        base: kind === "tax" ? base : null,
        isIncluded: false,
        isSum: isSum || (columns.length === 1 && column.label.isSum),
        marks: amount.marks,
      });
    }
    nextRow = index + 1;
    previous = row;
    if (columns.length === 1) break;
  }
  return { lines: addSums(lines), nextRow };
}

/** A table with a row for each rate states the net and gross amounts of each. The sum of the net amounts is that of the document; a total is printed. */
function addSums(lines: readonly AmountLine[]): AmountLine[] {
  const sums: AmountLine[] = [];
  const summed = new Set<AmountKind>();
  for (const kind of ["subtotal", "total"] as const) {
    const parts = lines.filter((line) => line.kind === kind && !line.isSum);
    if (parts.length < 2 || lines.some((line) => line.kind === kind && line.isSum)) continue;
    summed.add(kind);
    if (kind === "total") continue;
    const value = Math.round(parts.reduce((sum, line) => sum + line.value, 0) * 1000) / 1000;
    sums.push({
      ...(parts.at(-1) as AmountLine),
      value,
      words: parts.flatMap(({ words }) => words),
      weight: 2,
      isSum: true,
    });
  }
  // The parts of a sum are not totals.
  return [...lines.filter(({ kind, isSum }) => kind === "tax" || isSum || !hasSum(lines, kind, summed)), ...sums];
}

function hasSum(lines: readonly AmountLine[], kind: AmountKind, summed: ReadonlySet<AmountKind>): boolean {
  return summed.has(kind) || lines.some((line) => line.kind === kind && line.isSum);
}

/** The column that the words overlap or that ends nearest to them. */
function nearest<T extends { cell: Cell }>(cell: Cell, words: readonly Word[], columns: readonly T[]): T | null {
  const share = cell.words.length > words.length && cell.right > cell.left ? partOf(cell, words) : cell;
  const distance = ({ cell: head }: T) => {
    const overlap = Math.min(share.right, head.right) - Math.max(share.left, head.left);
    return overlap > 0 ? -overlap : Math.min(Math.abs(share.right - head.right), Math.abs(share.left - head.left));
  };
  const [first, ...rest] = columns;
  if (first === undefined) return null;
  const best = rest.reduce((one, other) => (distance(other) < distance(one) ? other : one), first);
  const width = Math.max(best.cell.right - best.cell.left, share.right - share.left);
  return distance(best) > 1.5 * width ? null : best;
}

/** The part of a cell that some of its words cover. */
function partOf(cell: Cell, words: readonly Word[]): Extent {
  const [first, last] = [cell.words[0], cell.words.at(-1)];
  if (first === undefined || last === undefined) return cell;
  const width = last.box.left + last.box.width - first.box.left;
  const scale = width === 0 ? 0 : (cell.right - cell.left) / width;
  const lefts = words.map(({ box }) => cell.left + (box.left - first.box.left) * scale);
  const rights = words.map(({ box }) => cell.left + (box.left + box.width - first.box.left) * scale);
  return { left: Math.min(...lefts), right: Math.max(...rights) };
}
