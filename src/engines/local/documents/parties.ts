// Finds the seller and the customer of an invoice or receipt: under their headings, otherwise at the top of the first page.

import { type Address, readAddress } from "./address.ts";
import { readAmountLabel } from "./amount-lines.ts";
import { readBlock } from "./block.ts";
import { type PageRow, wordsIn } from "./document-text.ts";
import { isLabel } from "./fields.ts";
import { contactLine, type PartyKind, partyLabels, titles } from "./financial-labels.ts";
import type { Word } from "./page.ts";
import { toTokens } from "./phrases.ts";
import type { Cell } from "./rows.ts";
import { findDates } from "./values.ts";

export interface Party {
  readonly name: string | null;
  readonly address: Address | null;
  readonly lines: readonly string[];
  /** A number in a line of its own, without a label. */
  readonly phone: string | null;
  readonly nameWords: readonly Word[];
  readonly words: readonly Word[];
}

export type Parties = Readonly<Record<PartyKind, Party>>;

interface Block {
  readonly lines: readonly string[];
  readonly cells: readonly Cell[];
}

const salutation = /^(?:firma|herrn?|frau|an|messrs|m\.|mme|to)[\s.:]*$/i;
const courtesy =
  /^(?:thank|welcome|merci|gracias|danke|vielen|willkommen|bienven|grazie|benvenut|obrigad|bedankt|tack|tak|kiitos|dziękuj|děkuj|teşekkür|ありがとう|谢谢|欢迎)/i;
const noBlock: Block = { lines: [], cells: [] };
const legalForm =
  /\b(?:GmbH|UG|AG|KG|OHG|e\.?K\.?|Ltd|Limited|LLC|LLP|Inc|Corp|Co|PLC|Pty|Pvt|SAS|SARL|S\.?A\.?S?|EURL|SCI|S\.?L\.?U?|S\.?r\.?l\.?s?|S\.?p\.?A|SpA|S\.?n\.?c|B\.?V|N\.?V|V\.?O\.?F|Sp\.?\s?z\s?o\.?o|S\.?C|AB|HB|A\/S|ApS|I\/S|AS|ASA|Oy|Oyj|Ab|s\.?r\.?o|a\.s|A\.?Ş|Şti|Lda|Ltda|S\.?A|ME|EIRELI|Kft|Zrt|SRL|Bros|& Sons?|& Co)\b\.?|株式会社|有限会社|合同会社|有限公司|有限责任公司|商店|公司/;

/** `itemCells` are those of the item table, which belong to no party. */
export function readParties(rows: readonly PageRow[], itemCells: ReadonlySet<Cell>): Parties {
  const ends = (cell: Cell) => itemCells.has(cell) || endsBlock(cell.text);
  const blocks = findBlocks(rows, ends);
  const sender = blocks.customer === undefined ? findSenderLine(rows, ends) : null;
  const named = blocks.customer ?? sender?.customer ?? findHonoured(rows);
  const shipping = blocks.shipping ?? noBlock;
  const taken = new Set([...(named?.cells ?? []), ...shipping.cells, ...itemCells]);
  const readMerchant = () =>
    withAddress(rows, findMerchant(rows, blocks.merchant ?? sender?.merchant, taken, ends), taken);
  const seller = readMerchant();
  const customer = named ?? findAddressee(rows, new Set([...taken, ...seller.cells]), seller, ends) ?? noBlock;
  // Lines of the customer are not the seller's address.
  for (const cell of customer.cells) taken.add(cell);
  const merchant = named === null || named === undefined ? readMerchant() : seller;
  return { merchant: toParty(merchant), customer: toParty(customer), shipping: toParty(shipping) };
}

/** A heading such as "From" may stand above an address without the name, which is then at the top. */
function findMerchant(
  rows: readonly PageRow[],
  block: Block | undefined,
  taken: ReadonlySet<Cell>,
  ends: (cell: Cell) => boolean,
): Block {
  if (block === undefined) return findHead(rows, taken, ends);
  const [first = ""] = block.lines;
  if (legalForm.test(first) || !/\d/.test(first) || readAddress([first])?.street == null) return block;
  const head = findHead(rows, new Set([...taken, ...block.cells]), () => true);
  return head.cells.length === 0
    ? block
    : { lines: [...head.lines, ...block.lines], cells: [...head.cells, ...block.cells] };
}

/** The name may be apart from the address, for instance with the title of the document between them. */
function withAddress(rows: readonly PageRow[], block: Block, taken: ReadonlySet<Cell>): Block {
  const [name, ...others] = block.lines;
  if (name === undefined || others.length > 0 || splitInline(name) !== null) return block;
  const firstPage = rows.filter(({ page }) => page === rows[0]?.page).slice(0, 40);
  for (const [index, row] of firstPage.entries()) {
    const cell = row.cells.find((one) => !taken.has(one) && one.text.length <= 120 && isPlace(one.text));
    if (cell === undefined) continue;
    const above = firstPage[index - 1]?.cells.find(
      (one) =>
        Math.abs(one.left - cell.left) < row.height && !taken.has(one) && !endsBlock(one.text) && /\d/.test(one.text),
    );
    const found = above === undefined ? [cell] : [above, cell];
    return { lines: [name, ...found.map(({ text }) => text)], cells: [...block.cells, ...found] };
  }
  return block;
}

/** A city with its postal code. */
function isPlace(text: string): boolean {
  const address = readAddress(splitParts(text).filter((part) => !contactLine.test(part)));
  return address?.zipCode != null && address.city !== null && !isLabel(text) && readHeading(text) === null;
}

/** Letterheads often have several facts in a line: "Via Roma 1, 20121 Milano – 02 555 010 – info@example.com". */
function splitParts(line: string): string[] {
  return line.split(/\s+[–—·•|∙]\s+|\s*[•|]\s*/);
}

function toParty({ lines: printed, cells }: Block): Party {
  const lines = printed.flatMap(splitParts);
  const [name = null, ...others] = lines.filter(
    (line, index) => index > 0 || !(contactLine.test(line) || salutation.test(line)),
  );
  const inline = others.length === 0 && name !== null ? splitInline(name) : null;
  if (inline !== null) return toParty({ lines: inline, cells });
  return {
    name: name === null ? null : name.replace(/\s*(?:御中|様)$/u, ""),
    address: readAddress(others.filter((line) => !contactLine.test(line) && !hasDate(line))),
    lines,
    phone:
      lines.find(
        (line) => /^\+?[\d\s()./-]{8,20}$/.test(line) && (line.match(/\d/g)?.length ?? 0) >= 8 && !hasDate(line),
      ) ?? null,
    nameWords: cells[0]?.words ?? [],
    words: cells.flatMap(({ words }) => words),
  };
}

/** "Northern Lights Ltd, 4 Quay St, Belfast BT1 3LA" */
function splitInline(line: string): string[] | null {
  const parts = line.split(/\s*[·•|]\s*|,\s+|\s+[–-]\s+/);
  return parts.length >= 2 && readAddress(parts.slice(1))?.zipCode != null ? parts : null;
}

/** The first block of each kind: the lines under its heading, or beside it. */
function findBlocks(rows: readonly PageRow[], ends: (cell: Cell) => boolean): Partial<Record<PartyKind, Block>> {
  const blocks: Partial<Record<PartyKind, Block>> = {};
  for (const [index, row] of rows.entries()) {
    for (const [column, cell] of row.cells.entries()) {
      const heading = readHeading(cell.text);
      if (heading === null || blocks[heading.kind] !== undefined) continue;
      const block = readParty(rows, { index, row, column, cell, nameAt: heading.nameAt }, ends);
      if (block !== null) blocks[heading.kind] = block;
    }
  }
  return blocks;
}

function readParty(
  rows: readonly PageRow[],
  {
    index,
    row,
    column,
    cell,
    nameAt,
  }: { index: number; row: PageRow; column: number; cell: Cell; nameAt: number | null },
  ends: (cell: Cell) => boolean,
): Block | null {
  if (nameAt !== null) {
    const rest = cell.text.slice(nameAt);
    const named = { ...cell, text: rest, words: wordsIn(cell, nameAt, cell.text.length) };
    return toBlock([named, ...readBlock(rows, index, cell, ends)]);
  }
  const below = readBlock(rows, index, cell, ends);
  if (below.length > 0 && below.some(({ text }) => mayBeName(text))) return toBlock(below);
  const beside = row.cells[column + 1];
  if (beside === undefined || ends(beside) || !mayBeName(beside.text)) return null;
  return toBlock([beside, ...readBlock(rows, index, beside, ends)]);
}

function toBlock(cells: readonly Cell[]): Block {
  return { lines: cells.map(({ text }) => text), cells };
}

/** A heading alone, also in two languages ("Kunde / Customer"), or before a colon and a name. */
function readHeading(text: string): { kind: PartyKind; nameAt: number | null } | null {
  if (text.length > 120) return null;
  const tokens = toTokens(text);
  const match = partyLabels.match(tokens, 0);
  if (match === null) return null;
  let at = match.length;
  let end = match.end;
  for (
    let next = partyLabels.match(tokens, at);
    next !== null && /^\s?[/|(]/.test(text.slice(end));
    next = partyLabels.match(tokens, at)
  ) {
    at += next.length;
    end = next.end;
  }
  const rest = text.slice(end);
  if (/^[\s:).]*$/.test(rest)) return { kind: match.kind, nameAt: null };
  const colon = /^\)?\s?[:：]\s*/.exec(rest)?.[0];
  return colon === undefined ? null : { kind: match.kind, nameAt: end + colon.length };
}

/** A sender in one small line above the window of an envelope, with the recipient below it. */
function findSenderLine(
  rows: readonly PageRow[],
  ends: (cell: Cell) => boolean,
): { merchant: Block; customer: Block } | null {
  for (const [index, row] of rows.slice(0, 25).entries()) {
    for (const cell of row.cells) {
      const parts = cell.text.split(/\s+[·•|∙–-]\s+|\s*[·•|]\s*/);
      const source = parts.length >= 2 ? parts : cell.text.split(/,\s+/);
      const address = source.length >= 3 && source.length <= 5 ? readAddress(source.slice(1)) : null;
      if (address?.zipCode == null || address.street === null) continue;
      const below = readBlock(rows, index, cell, ends);
      const recipient = below.length >= 2 ? readAddress(below.slice(1).map(({ text }) => text)) : null;
      if (recipient?.zipCode == null || !mayBeName(below[0]?.text ?? "")) continue;
      return { merchant: { lines: source, cells: [cell] }, customer: toBlock(below) };
    }
  }
  return null;
}

/** The only other name with a street and a city below it, at the top of the first page: the address for the window of an envelope has no heading. */
function findAddressee(
  rows: readonly PageRow[],
  taken: ReadonlySet<Cell>,
  seller: Block,
  ends: (cell: Cell) => boolean,
): Block | null {
  const found: Block[] = [];
  const used = new Set<Cell>(taken);
  for (const [index, row] of rows.slice(0, 40).entries()) {
    if (row.page !== rows[0]?.page) break;
    for (const cell of row.cells) {
      if (used.has(cell) || !mayBeName(cell.text) || ends(cell) || /\d/.test(cell.text)) continue;
      const block = [cell, ...readBlock(rows, index, cell, (one) => ends(one) || used.has(one))];
      const address = readAddress(block.slice(1).map(({ text }) => text));
      if (block.length > 6 || address?.zipCode == null || address.street === null || address.city === null) continue;
      for (const one of block) used.add(one);
      found.push(toBlock(block));
    }
  }
  const others = found.filter(({ lines: [name] }) => name !== seller.lines[0]);
  return others.length === 1 ? (others[0] ?? null) : null;
}

/** Japanese letters mark the recipient by a word after the name. */
function findHonoured(rows: readonly PageRow[]): Block | null {
  const cell = rows
    .slice(0, 30)
    .flatMap((row) => row.cells)
    .find(({ text }) => /(?:御中|様)$/u.test(text) && text.length <= 60);
  return cell === undefined ? null : toBlock([cell]);
}

/** The lines that begin with the largest print at the top of the page, otherwise with a company or the first line that may be a name. */
function findHead(rows: readonly PageRow[], taken: ReadonlySet<Cell>, ends: (cell: Cell) => boolean): Block {
  const firstPage = rows.filter(({ page }) => page === rows[0]?.page);
  const head = firstPage.slice(0, Math.min(40, Math.max(8, Math.ceil(firstPage.length / 3))));
  const cells = head.flatMap((row, index) => row.cells.map((cell) => ({ index, cell, height: row.height })));
  const candidates = cells.filter(({ cell }) => mayBeName(cell.text) && !taken.has(cell) && !endsBlock(cell.text));
  const [first] = candidates;
  if (first === undefined) return noBlock;
  const largest = candidates.reduce((best, other) => (other.height > best.height * 1.15 ? other : best), first);
  const isLarge = largest !== first || candidates.every(({ height }) => height <= first.height);
  const company = candidates.find(({ cell }) => legalForm.test(cell.text));
  const stands = largest.height > 1.15 * (candidates.find((one) => one !== largest)?.height ?? 0);
  const chosen = stands || (isLarge && company === undefined) ? largest : (company ?? largest);
  return toBlock([chosen.cell, ...readBlock(rows, chosen.index, chosen.cell, ends)]);
}

function mayBeName(text: string): boolean {
  if (isTitle(text) || courtesy.test(text) || contactLine.test(text) || text.length > 70) return false;
  // "EUR 4.857,88" is not a name.
  if (/\d/.test(text) && (text.match(/\p{L}/gu)?.length ?? 0) <= 3) return false;
  return /\p{L}{2}/u.test(text) && !/^\d/.test(text) && !hasDate(text) && !isLabel(text);
}

/** House numbers such as 1-2-3 are not dates. */
function hasDate(text: string): boolean {
  return findDates(text).some(({ isCertainlyDate }) => isCertainlyDate);
}

/** The whole text is a title, perhaps with a number or a page count. */
function isTitle(text: string): boolean {
  const tokens = toTokens(text);
  const match = titles.match(tokens, 0);
  if (match === null) return false;
  const rest = tokens.slice(match.length);
  return (
    rest.length === 0 ||
    rest.some((token) => /^(?:\d+|no|nr|#|n|°)$/.test(token.text)) ||
    titles.match(rest, 0) !== null
  );
}

/** Labels and headings that end the lines of a party. */
function endsBlock(text: string): boolean {
  if (readHeading(text) !== null || isLabel(text) || isTitle(text)) return !contactLine.test(text);
  return /\d[.,]\d{2}(?!\d)/.test(text) && readAmountLabel(text) !== null;
}
