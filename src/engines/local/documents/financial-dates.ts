// The dates of an invoice or receipt, and its payment terms. A date such as 03/04/2026 is reported only if the order of day and
// month can be inferred from the document.

import { dayMs } from "../../../lib/time-units.ts";
import type { DocumentText, Found } from "./document-text.ts";
import { findFields, type Reading } from "./fields.ts";
import { type DateKind, dateLabels } from "./financial-labels.ts";
import { findDateOrder, type Origin } from "./origin.ts";
import type { Word } from "./page.ts";
import type { Cell } from "./rows.ts";
import { type DateOrder, findDates, type PrintedDate, resolveDate } from "./values.ts";

interface DateContext {
  /** The cells of the line items. Their dates are not those of the document. */
  readonly itemCells: ReadonlySet<Cell>;
  readonly isReceipt: boolean;
  readonly origin: Origin;
  readonly currency: string | null;
}

/** A field may have several dates, such as the first and the last day of a period. */
type FoundDates = Found<readonly PrintedDate[]>;

// Dates further on belong to the details of a long list.
const maxSearchedLength = 100_000;
const maxCandidates = 50;
const maxFieldLength = 120;
const maxLengthBeforeDate = 40;
const maxSentenceLength = 90;
const longestTermDays = 120;
// A date with a label is more certain than these.
const certaintyOf = { terms: 0.8, dateInSentence: 0.7, unlabelledDate: 0.6 };

export function readDates(document: DocumentText, { itemCells, isReceipt, origin, currency }: DateContext) {
  const { rows, text } = document;
  const fields = findFields(rows, dateLabels, readLabelledDates);
  const firstOf = (kind: DateKind) => fields.find((field) => field.kind === kind) ?? null;
  const printed = findDates(text.slice(0, maxSearchedLength));
  const terms = findTerms(document);
  const otherWords = new Set([...fields, ...itemCells].flatMap(({ words }) => words));
  const issued = firstOf("invoice_date") ?? findUnlabelledDate(document, printed, { otherWords, isReceipt });
  const due = firstOf("invoice_due_date") ?? findDueDateInSentence(document, printed, issued);
  const period = fields.find(({ kind, value }) => kind === "period" && value.length >= 2) ?? null;
  const order = findDateOrder(printed, origin, currency) ?? findOrderByTerms(issued, due, terms?.days ?? null);
  const resolve = (dates: FoundDates | null, index = 0): Found<string> | null => {
    const date = dates?.value[index];
    const value = date === undefined ? null : resolveDate(date, order);
    return dates === null || value === null ? null : { value, words: dates.words, certainty: dates.certainty };
  };
  const reasons: Record<string, string> = {};
  for (const [name, dates] of Object.entries({ invoice_date: issued, invoice_due_date: due }))
    if (dates !== null && resolve(dates) === null) reasons[name] = "The order of day and month is not certain.";
  return {
    invoice_date: resolve(issued),
    invoice_due_date: resolve(due),
    order_date: resolve(firstOf("order_date")),
    service_start_date: resolve(period),
    service_end_date: resolve(period, 1),
    payment_terms: terms?.found ?? null,
    /** Why a printed invoice date or due date is not reported, by the name of the member. */
    reasons,
  };
}

function readLabelledDates(text: string): Reading<readonly PrintedDate[]> | null {
  const dates = findDates(text.slice(0, maxFieldLength));
  const first = dates[0];
  const last = dates.at(-1);
  // A date after a whole sentence does not belong to the label.
  if (first === undefined || last === undefined || first.start > maxLengthBeforeDate) return null;
  return { value: dates, start: first.start, end: last.end };
}

/** Finds the first date that belongs to no other field, such as in "Lyon, le 3 février 2026". */
function findUnlabelledDate(
  { wordsAt }: DocumentText,
  printed: readonly PrintedDate[],
  { otherWords, isReceipt }: { readonly otherWords: ReadonlySet<Word>; readonly isReceipt: boolean },
): FoundDates | null {
  for (const date of printed.slice(0, maxCandidates)) {
    if (!date.isCertainlyDate && !isReceipt) continue;
    const words = wordsAt(date.start, date.end);
    if (words.some((word) => otherWords.has(word))) continue;
    return { value: [date], words, certainty: certaintyOf.unlabelledDate };
  }
  return null;
}

/** Parts of words about payment, in a sentence such as "Bitte überweisen Sie den Betrag bis zum 3. Mai 2026". */
const paymentWords =
  /pay|due|settle|remit|zahl|überweis|ueberweis|fällig|faellig|begleich|règle|regler|paiement|échéance|echeance|virement|pag[aáou]|abon[ae]|vencim|vence|scaden|saldare|bonific|betal|voldoen|overmak|vervalt|płat|zapł|termin|förfall|forfald|forfall|maks|eräpäivä|splat|uhrad|zaplat|öde|vade|fizet|plăt|支払|振込|付款|支付|到期/iu;

/** Finds the date after words about payment in the same line, unless several dates follow such words. */
function findDueDateInSentence(
  { text, wordsAt }: DocumentText,
  printed: readonly PrintedDate[],
  issued: FoundDates | null,
): FoundDates | null {
  const [only = null, ...others] = printed.slice(0, maxCandidates).flatMap((date) => {
    const lineStart = text.lastIndexOf("\n", date.start) + 1;
    const before = text.slice(Math.max(lineStart, date.start - maxSentenceLength), date.start);
    // Two spaces separate columns, and four digits end an earlier date: what follows them is about this date.
    const sentence = before.split(/ {2}|\d{4}/).at(-1) ?? "";
    const words = wordsAt(date.start, date.end);
    const isIssued = words.some((word) => issued?.words.includes(word));
    return date.isCertainlyDate && !isIssued && paymentWords.test(sentence)
      ? [{ value: [date], words, certainty: certaintyOf.dateInSentence }]
      : [];
  });
  return others.length === 0 ? only : null;
}

/**
 * Returns the order of day and month in which the due date fits the invoice date, or null when both orders fit or neither does. It fits when it
 * is as many days later as the terms state, give or take one, or at most `longestTermDays` later when no number of days is stated.
 */
function findOrderByTerms(
  issued: FoundDates | null,
  due: FoundDates | null,
  termDays: number | null,
): DateOrder | null {
  const issuedDate = issued?.value[0];
  const dueDate = due?.value[0];
  if (issuedDate === undefined || dueDate === undefined) return null;
  const [only = null, ...others] = (["day", "month"] as const).filter((order) => {
    const from = resolveDate(issuedDate, order);
    const to = resolveDate(dueDate, order);
    if (from === null || to === null) return false;
    const days = (Date.parse(to) - Date.parse(from)) / dayMs;
    return termDays === null ? days >= 0 && days <= longestTermDays : Math.abs(days - termDays) <= 1;
  });
  return others.length === 0 ? only : null;
}

const labelledTerms =
  /(?:payment\s+terms|terms\s+of\s+payment|terms|zahlungsbedingungen|zahlungskonditionen|zahlungsziel|conditions\s+de\s+(?:paiement|règlement)|condiciones\s+de\s+pago|forma\s+de\s+pago|condizioni\s+di\s+pagamento|condições\s+de\s+pagamento|betalingscondities|betalingsvoorwaarden|betaaltermijn|warunki\s+płatności|betalningsvillkor|betalingsbetingelser|betalingsvilkår|maksuehto|maksuehdot|platební\s+podmínky|ödeme\s+koşulları|お?支払(?:い)?条件|付款条件)(?!\s*(?:and|&))[ \t]*[:：]?[ \t]*([^\n]{1,80})/iu;
const bareTerms = /\b(net\s?\d{1,3}(?:\s?days)?|due\s+(?:on|upon)\s+receipt)\b/i;

function findTerms({ text, wordsAt }: DocumentText): { found: Found<string>; days: number | null } | null {
  const match = labelledTerms.exec(text) ?? bareTerms.exec(text);
  // The next column is not a part of the terms.
  const value = match?.[1]?.split("  ", 1)[0]?.trim() ?? "";
  if (match === null || value === "") return null;
  const start = match.index + match[0].indexOf(value);
  const words = wordsAt(start, start + value.length);
  const days = /\b\d{1,3}\b/.exec(value)?.[0];
  return { found: { value, words, certainty: certaintyOf.terms }, days: days === undefined ? null : Number(days) };
}
