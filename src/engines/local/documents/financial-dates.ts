// The dates of an invoice or receipt. A date such as 03/04/2026 is reported only if the document tells the order of day and month.

import type { DocumentText, Found } from "./document-text.ts";
import { type Field, findFields, type Reading } from "./fields.ts";
import { type DateKind, dateLabels } from "./financial-labels.ts";
import { findDateOrder, type Origin } from "./origin.ts";
import type { Word } from "./page.ts";
import type { Cell } from "./rows.ts";
import { type DateOrder, findDates, type PrintedDate, resolveDate } from "./values.ts";

interface DateContext {
  readonly itemCells: ReadonlySet<Cell>;
  readonly isReceipt: boolean;
  readonly origin: Origin;
  readonly currency: string | null;
}

type Labelled = Field<DateKind, readonly PrintedDate[]>;

export function readDates(
  { rows, text, wordsAt }: DocumentText,
  { itemCells, isReceipt, origin, currency }: DateContext,
) {
  const fields = findFields(rows, dateLabels, readDateList);
  const first = (kind: DateKind) => fields.find((field) => field.kind === kind) ?? null;
  const all = findDates(text.slice(0, maxTextLength));
  const terms = findTerms(text);
  const due = first("invoice_due_date");
  const issued =
    first("invoice_date") ??
    findUnlabelled(all, fields, wordsAt, {
      isReceipt,
      itemWords: new Set([...itemCells].flatMap(({ words }) => words)),
    });
  const order =
    findDateOrder(all, origin, currency) ??
    orderByTerms(issued?.value[0] ?? null, due?.value[0] ?? null, terms?.days ?? null);
  const toFound = (field: Pick<Labelled, "value" | "words" | "certainty"> | null, at = 0): Found<string> | null => {
    const date = field?.value[at];
    const value = date === undefined ? null : resolveDate(date, order);
    return field === null || value === null ? null : { value, words: field.words, certainty: field.certainty };
  };
  const period = fields.find(({ kind, value }) => kind === "period" && value.length >= 2) ?? null;
  const reasons = Object.fromEntries(
    [
      ["invoice_date", issued],
      ["invoice_due_date", due],
    ].flatMap(([name, field]) =>
      typeof name === "string" && field !== null && typeof field === "object" && toFound(field) === null
        ? [[name, "The order of day and month is not certain."]]
        : [],
    ),
  );
  return {
    invoice_date: toFound(issued),
    invoice_due_date: toFound(due),
    order_date: toFound(first("order_date")),
    service_start_date: toFound(period),
    service_end_date: toFound(period, 1),
    payment_terms:
      terms === null
        ? null
        : { value: terms.text, words: wordsAt(terms.start, terms.start + terms.text.length), certainty: 0.8 },
    reasons,
  };
}

// Dates further on belong to the details of a long list.
const maxTextLength = 100_000;

function readDateList(text: string): Reading<readonly PrintedDate[]> | null {
  const dates = findDates(text.slice(0, 120));
  const [date] = dates;
  const last = dates.at(-1);
  // The date must follow its label, and not a sentence.
  if (date === undefined || last === undefined || date.start > 40) return null;
  return { value: dates, start: date.start, end: last.end };
}

/** The first date that has no label of another date, such as in "Lyon, le 3 février 2026". */
function findUnlabelled(
  all: readonly PrintedDate[],
  fields: readonly Labelled[],
  wordsAt: DocumentText["wordsAt"],
  { isReceipt, itemWords }: { isReceipt: boolean; itemWords: ReadonlySet<Word> },
): Pick<Labelled, "value" | "words" | "certainty"> | null {
  const taken = new Set([...fields.flatMap(({ words }) => words), ...itemWords]);
  for (const date of all.slice(0, 50)) {
    if (!date.isCertainlyDate && !isReceipt) continue;
    const words = wordsAt(date.start, date.end);
    if (words.some((word) => taken.has(word))) continue;
    return { value: [date], words, certainty: 0.6 };
  }
  return null;
}

/** The order in which the invoice is due after its date: as many days later as the terms say, if they do. */
function orderByTerms(issued: PrintedDate | null, due: PrintedDate | null, days: number | null): DateOrder | null {
  if (issued === null || due === null) return null;
  const fitting = (["day", "month"] as const).filter((order) => {
    const [from, to] = [resolveDate(issued, order), resolveDate(due, order)];
    if (from === null || to === null) return false;
    const distance = (Date.parse(to) - Date.parse(from)) / 86_400_000;
    return days === null ? distance >= 0 && distance <= 120 : Math.abs(distance - days) <= 1;
  });
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}

const termsLabel =
  /(?:payment\s+terms|terms\s+of\s+payment|terms|zahlungsbedingungen|zahlungskonditionen|zahlungsziel|conditions\s+de\s+(?:paiement|règlement)|condiciones\s+de\s+pago|forma\s+de\s+pago|condizioni\s+di\s+pagamento|condições\s+de\s+pagamento|betalingscondities|betalingsvoorwaarden|betaaltermijn|warunki\s+płatności|betalningsvillkor|betalingsbetingelser|betalingsvilkår|maksuehto|maksuehdot|platební\s+podmínky|ödeme\s+koşulları|お?支払(?:い)?条件|付款条件)(?!\s*(?:and|&))[ \t]*[:：]?[ \t]*([^\n]{1,80})/iu;
const bareTerms = /\b(net\s?\d{1,3}(?:\s?days)?|due\s+(?:on|upon)\s+receipt)\b/i;

function findTerms(text: string): { text: string; start: number; days: number | null } | null {
  const labelled = termsLabel.exec(text);
  const match = labelled ?? bareTerms.exec(text);
  const found = match?.[1]?.split(/ {2}/)[0]?.trim();
  if (match === null || found === undefined || found === "") return null;
  const days =
    /(?:net|netto|within|innerhalb|sous|à|in)?\s?\b(\d{1,3})\b\s?(?:days|tage|jours|días|giorni|dias|dagen|dni|dagar|dage|dager|päivää|pv|dnů|dní|gün|日|天)?/i.exec(
      found,
    )?.[1];
  return { text: found, start: match.index + match[0].indexOf(found), days: days === undefined ? null : Number(days) };
}
