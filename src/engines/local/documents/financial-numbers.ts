// The numbers by which invoices are identified, and the bank account.

import type { Found, PageRow } from "./document-text.ts";
import { wordsIn } from "./document-text.ts";
import { type Field, findFields, type Reading } from "./fields.ts";
import { type IdKind, idLabels, titles } from "./financial-labels.ts";
import type { Word } from "./page.ts";
import { toTokens } from "./phrases.ts";
import { findDates } from "./values.ts";

type WeakKind = "weak_id" | "order_id" | "bare_id" | "none";

export type Ids = Readonly<Record<Exclude<IdKind, WeakKind>, Found<string> | null>>;

/** A code with a figure, perhaps after a short prefix: "FV 12/2026", "2026-0093", "F2026/118". */
const code =
  /^(?:(?:no|nr|nro|num|n)[.:][°º]?[.:]?\s*|(?:no|nr|nro)\s+|(?:n?[°º][.:]?|№|#|č\.?)\s*)?((?:\p{Lu}{1,5}[ -])?(?:[\p{L}\d][\p{L}\d./_-]{0,40})?\d[\p{L}\d./_-]{0,40})/iu;
const groupedDigits = /^[:\s]*((?:[A-Z]{1,3}[- ]?)?\d[\d\s.-]{5,18}\d)/;
const patterns: Readonly<Partial<Record<IdKind, RegExp>>> = {
  siret_number: groupedDigits,
  siren_number: groupedDigits,
  abn_number: groupedDigits,
  gst_number: /^[:\s]*([\dA-Z]{15}|\d{9}\s?RT\s?\d{4}|\d[\d\s-]{6,14}\d)/,
  pan_number: /^[:\s]*([A-Z]{5}\d{4}[A-Z])\b/,
  vat_number: /^[:\s]*((?:[A-Z]{2,3}[- ]?)?[A-Z\d]?\d[\d\sA-Z.-]{5,16}\d[A-Z]?\d{0,2})(?![\p{L}\d])/u,
  tax_id: /^[:\s]*([A-Z]{0,3}[- ]?\d[\dA-Z./-]{5,20}|\d{2,3}[\d\s/.-]{5,16}\d)/i,
};

/** `customerWords` are those of the customer's block: numbers in it are the customer's. `itemWords` have no number of the document. */
export function readIds(
  rows: readonly PageRow[],
  customerWords: ReadonlySet<Word> = new Set(),
  itemWords: ReadonlySet<Word> = new Set(),
): { ids: Ids; customerIds: Pick<Ids, "vat_number" | "tax_id">; languages: string[] } {
  const all = findFields(rows, idLabels, readId);
  const isCustomers = ({ words }: Found<string>) => words.some((word) => customerWords.has(word));
  const fields = all.filter(
    (field) =>
      (!(field.kind === "vat_number" || field.kind === "tax_id") || !isCustomers(field)) &&
      !(field.kind === "bare_id" && field.words.some((word) => itemWords.has(word))),
  );
  const ofCustomer = (kind: IdKind) => all.find((field) => field.kind === kind && isCustomers(field)) ?? null;
  const first = (...kinds: readonly IdKind[]): Found<string> | null =>
    fields.find(({ kind }) => kinds.includes(kind)) ?? null;
  const ownId = first("invoice_receipt_id") ?? findIdInTitle(rows) ?? first("bare_id");
  const ids: Record<Exclude<IdKind, WeakKind>, Found<string> | null> = {
    invoice_receipt_id:
      ownId ??
      withLess(first("order_id", "weak_id") ?? first("transaction_number") ?? onlyReference(rows, fields, itemWords)),
    purchase_order: first("purchase_order") ?? (ownId === null ? null : first("order_id")),
    customer_number: first("customer_number"),
    vat_number: first("vat_number"),
    tax_id: first("tax_id"),
    siret_number: first("siret_number"),
    siren_number: first("siren_number"),
    abn_number: first("abn_number"),
    gst_number: first("gst_number"),
    pan_number: first("pan_number"),
    business_number: first("business_number"),
    coc_number: first("coc_number"),
    registration: first("registration"),
    transaction_number: first("transaction_number"),
    payment_auth_code: first("payment_auth_code"),
    tracking_number: first("tracking_number"),
    reference: first("reference"),
  };
  const customerIds = { vat_number: ofCustomer("vat_number"), tax_id: ofCustomer("tax_id") };
  return { ids, customerIds, languages: fields.flatMap(({ language }) => language ?? []) };
}

/** A reference that is the only number of the document, or the only one above the items, serves as its number. */
function onlyReference(
  rows: readonly PageRow[],
  fields: readonly Field<IdKind, string>[],
  itemWords: ReadonlySet<Word>,
): Found<string> | null {
  const references = fields.filter(({ kind }) => kind === "reference");
  const items = rows.findIndex(({ cells }) => cells.some(({ words }) => words.some((word) => itemWords.has(word))));
  const above = references.filter(({ row }) => row < items);
  const candidates = above.length > 0 ? above : references;
  return candidates.length === 1 ? (candidates[0] ?? null) : null;
}

function withLess(found: Found<string> | null): Found<string> | null {
  return found === null ? null : { ...found, certainty: 0.6 };
}

function readId(text: string, kind: IdKind): Reading<string> | null {
  if (kind === "none") return null;
  const match = (patterns[kind] ?? code).exec(text);
  const found = match?.[1]?.replace(/[.,/-]+$/, "").trim();
  if (match === null || found === undefined || found === "") return null;
  // "Invoice 12/05/2026" has a date and no number.
  const [date] = findDates(text);
  if (
    date !== undefined &&
    date.start <= match[0].indexOf(found) &&
    date.end >= match[0].indexOf(found) + found.length &&
    date.isCertainlyDate
  )
    return null;
  const start = match[0].indexOf(found);
  // "No. 5, Foundry Lane" is an address.
  if (kind === "bare_id" && (found.length < 3 || start + found.length < text.trimEnd().length)) return null;
  // VAT numbers are printed in groups.
  const value = kind === "vat_number" ? found.replace(/[\s.]/g, "") : found;
  return { value, start, end: start + found.length };
}

/** "BIC: X", "BIC (SWIFT) X", "Code BIC / SWIFT : X". Codes are in capitals; the name of a bank is not. */
const labelledBic =
  /\b(?:[Bb][Ii][Cc]|[Ss][Ww][Ii][Ff][Tt])(?:[\s/().:·|-]{1,6}(?:[Bb][Ii][Cc]|[Ss][Ww][Ii][Ff][Tt]|[CcKk][óo]d\p{L}{0,3}|[Nn][ro]\.?))*[\s/().:·|-]{1,6}([A-Z]{6}[A-Z\d]{2}(?:[A-Z\d]{3})?)(?![\p{L}\d])/u;

/** A code of the country of the account, in a document that asks for payment to it. Without a label, it is on the line of the account or beside it. */
function findBic(text: string, iban: string | null): string | null {
  if (iban === null) return null;
  const isNamed = /\b(?:bic|swift)\b/i.test(text);
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.replace(/[\s.-]/g, "").includes(iban.replace(/\s/g, "")));
  const near = isNamed || at < 0 ? lines : lines.slice(Math.max(0, at - 1), at + 2);
  for (const line of near)
    for (const [code] of line.matchAll(/(?<![\p{L}\d])[A-Z]{6}[A-Z\d]{2}(?:[A-Z\d]{3})?(?![\p{L}\d])/gu))
      if (code.slice(4, 6) === iban.slice(0, 2)) return code;
  return null;
}

/** "INVOICE 10482" or "Facture F-2026-7" without a word for "number". */
function findIdInTitle(rows: readonly PageRow[]): Found<string> | null {
  for (const row of rows.slice(0, 60)) {
    for (const cell of row.cells) {
      if (cell.text.length > 80) continue;
      const tokens = toTokens(cell.text);
      const match = titles.match(tokens, 0);
      if (match === null || match.kind === "other") continue;
      const rest = cell.text.slice(match.end);
      const skipped = /^[\s:#.·•|–—-]*/.exec(rest)?.[0].length ?? 0;
      const found = readId(rest.slice(skipped), "invoice_receipt_id");
      if (found === null) continue;
      const start = match.end + skipped;
      return { value: found.value, words: wordsIn(cell, start, start + found.end), certainty: 0.8 };
    }
  }
  return null;
}

export function readBank(text: string, iban: string | null) {
  const find = (pattern: RegExp) => pattern.exec(text)?.[1]?.trim() ?? null;
  const bic = find(labelledBic) ?? findBic(text, iban);
  return {
    swift: bic,
    bic,
    account_number: find(/\b(?:account|acct?|a\/c)\.?\s*(?:no|number|#|num)?\.?\s*[:\s]\s*(\d[\d -]{4,20}\d)(?!\d)/i),
    sort_code: find(/\bsort\s*code\s*[:\s]\s*(\d{2}[\s-]?\d{2}[\s-]?\d{2})\b/i),
    routing_number: find(/\b(?:routing|aba)\s*(?:no|number|#)?\.?\s*[:\s]\s*(\d{9})\b/i),
    bsb: find(/\bbsb\s*(?:no|number)?\s*[:\s]\s*(\d{3}[\s-]?\d{3})\b/i),
  };
}
