// Reads an invoice or a receipt by rules: labels in many languages, the forms of values, the columns of the item table, and the arithmetic of
// the amounts. There is no model, so an unusual layout is read badly. Values that are not found, or that contradict each other, are null.

import { lookUp } from "../../../lib/look-up.ts";
import { mapValues } from "../map-values.ts";
import { type AmountLine, findAmountLines } from "./amount-lines.ts";
import { findAmounts, findNumberStyle, type NumberStyle } from "./amounts.ts";
import { type Currency, findCurrency } from "./currencies.ts";
import { createDocumentText, type DocumentText, type Found, type PageRow, type Place } from "./document-text.ts";
import { readDates } from "./financial-dates.ts";
import { paymentMethods, titles } from "./financial-labels.ts";
import { type Ids, readBank, readIds } from "./financial-numbers.ts";
import type { Item } from "./item.ts";
import { readItems } from "./line-items.ts";
import { findOrigin, toCountryCode } from "./origin.ts";
import type { Page } from "./page.ts";
import { type Party, readParties } from "./parties.ts";
import { toTokens } from "./phrases.ts";
import { type AmountMember, reconcile } from "./reconcile.ts";
import type { Cell } from "./rows.ts";
import { findEmails, findFaxes, findIban, findPhones, findVatNumbers, findWebsites } from "./values.ts";

export type FinancialDocument = ReturnType<typeof readFinancialDocument>;

/** The groups of members have the names of the task's output. `report` is for the caller who wants to judge the values. */
export function readFinancialDocument(rows: readonly PageRow[], pages: readonly Page[]) {
  const document = createDocumentText(rows, pages);
  const { text } = document;
  const style = findNumberStyle(text);
  const { items, cells: itemCells } = readItems(rows, style);
  const parties = readParties(rows, itemCells);
  const { merchant, customer, shipping } = parties;
  const ownText = withoutLines(text, [...customer.lines, ...shipping.lines]);
  const outside = rows.map((row) => withoutCells(row, itemCells));
  const { lines, languages } = findAmountLines(outside, style);
  const {
    ids,
    customerIds,
    languages: idLanguages,
  } = readIds(
    rows,
    new Set([...customer.words, ...shipping.words]),
    new Set([...itemCells].flatMap(({ words }) => words)),
  );
  const iban = findIban(text);
  const vat = findVatNumbers(ownText)[0] ?? ids.vat_number?.value ?? null;
  const printedCountry = merchant.address?.country ?? null;
  const origin = findOrigin({
    text: ownText,
    printedCountry: toCountryCode(printedCountry?.name ?? null),
    numbers: [vat, iban],
    languages: [...languages, ...idLanguages],
  });
  const currency = findCurrency({ ...collectMarks(rows, lines, style), text, ...origin });
  const { amounts, taxes, taxRate, reasons } = reconcile({
    lines,
    unlabelled: findUnlabelled(outside, lines, style),
    itemSum: sumItems(items),
    currency: currency?.code ?? null,
  });
  const isReceipt = looksLikeReceipt(rows, text, lines);
  const dates = readDates(document, { itemCells, isReceipt, origin, currency: currency?.code ?? null });
  const values = { ...amounts, ...ids, ...dates, tax_rate: taxRate };
  const found = <Name extends keyof typeof values>(name: Name) =>
    (values[name]?.value ?? null) as ValueOf<(typeof values)[Name]>;
  const amount = mapValues(amounts, (one) => one?.value ?? null);
  return {
    isReceipt,
    id: ids.invoice_receipt_id?.value ?? null,
    report: {
      currency: describeCurrency(currency),
      taxes,
      fields: toPlaces(document, { amounts, ids, dates, taxRate, merchant, customer }),
      items: items.map(({ words, contradicts }) => ({
        ...document.findPlace({ value: null, words, certainty: contradicts ? 0.5 : 0.9 }),
        ...(contradicts && { reason: "Quantity and unit price do not multiply to the amount." }),
      })),
      reasons: { ...reasons, ...dates.reasons },
    },
    customer_information: {
      ...toAddressMembers(customer),
      ...toContacts(customer, customer.lines.join("\n"), customerIds.vat_number),
      tax_id: customerIds.tax_id?.value ?? null,
      name: customer.name,
      billing_address: customer.address?.formatted ?? null,
      mailling_address: customer.address?.formatted ?? null,
      shipping_address: shipping.name === null ? null : shipping.lines.join(", "),
      customer_number: found("customer_number"),
    },
    merchant_information: {
      ...toAddressMembers(merchant),
      ...toContacts(merchant, ownText, ids.vat_number),
      fax: findFaxes(ownText)[0] ?? null,
      name: merchant.name,
      address: merchant.address?.formatted ?? null,
      country_code: printedCountry?.alpha2 ?? null,
      tax_id: found("tax_id"),
      siret_number: found("siret_number"),
      siren_number: found("siren_number"),
      abn_number: found("abn_number"),
      gst_number: found("gst_number"),
      pan_number: found("pan_number"),
      business_number: found("business_number"),
      coc_number: found("coc_number"),
      registration: found("registration"),
    },
    payment_information: {
      ...amount,
      tax_rate: taxRate?.value ?? null,
      gratuity: amount.amount_tip,
      prior_balance: amount.previous_unpaid_balance,
      payment_terms: dates.payment_terms?.value ?? null,
      payment_method: findPaymentMethod(text, isReceipt),
      payment_card_number:
        /(?<![\p{L}*])[*xX•#][*xX•# -]{1,30}\d{4}(?!\d)/u.exec(text)?.[0].replace(/\s+/g, " ") ?? null,
      payment_auth_code: found("payment_auth_code"),
      transaction_number: found("transaction_number"),
    },
    financial_document_information: {
      invoice_receipt_id: found("invoice_receipt_id"),
      purchase_order: found("purchase_order"),
      reference: found("reference"),
      tracking_number: found("tracking_number"),
      invoice_date: found("invoice_date"),
      invoice_due_date: found("invoice_due_date"),
      order_date: found("order_date"),
      service_start_date: found("service_start_date"),
      service_end_date: found("service_end_date"),
      time: /(?<![\d:])([01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\s?[ap]m)?(?![\d:])/i.exec(text)?.[0] ?? null,
    },
    local: {
      currency: currency?.mark ?? null,
      currency_code: currency?.code ?? null,
      country: printedCountry?.name ?? null,
      language: origin.language,
    },
    bank: { ...readBank(text, iban), iban },
    item_lines: items.map(({ words: _, contradicts: __, ...item }) => item),
  };
}

type ValueOf<T> = T extends Found<infer Value> | null ? Value | null : null;

function describeCurrency(
  currency: Currency | null,
): { mark: string | null; code: string | null; reason?: string } | null {
  if (currency === null || currency.code !== null) return currency;
  return { ...currency, reason: `The sign ${currency.mark} has several meanings, and the document does not decide.` };
}

function toPlaces(
  document: DocumentText,
  values: {
    amounts: Readonly<Record<AmountMember, Found<number> | null>>;
    ids: Ids;
    dates: Readonly<Record<string, unknown>>;
    taxRate: Found<number> | null;
    merchant: Party;
    customer: Party;
  },
): Record<string, Place> {
  const party = ({ name, nameWords }: Party) =>
    name === null ? null : { value: name, words: nameWords, certainty: 0.7 };
  const found: [string, unknown][] = [
    ...Object.entries({ ...values.amounts, tax_rate: values.taxRate }).map(([name, value]): [string, unknown] => [
      `payment_information.${name}`,
      value,
    ]),
    ...Object.entries(values.ids).map(([name, value]): [string, unknown] => [groupOf(name), value]),
    ...Object.entries(values.dates).map(([name, value]): [string, unknown] => [groupOf(name), value]),
    ["merchant_information.name", party(values.merchant)],
    ["customer_information.name", party(values.customer)],
  ];
  return Object.fromEntries(
    found.flatMap(([path, value]) => {
      const place = isFound(value) ? document.findPlace(value) : null;
      return place === null ? [] : [[path, place]];
    }),
  );
}

function isFound(value: unknown): value is Found<unknown> {
  return typeof value === "object" && value !== null && "words" in value && "certainty" in value;
}

const groups: Readonly<Record<string, string>> = {
  customer_number: "customer_information",
  payment_terms: "payment_information",
  payment_auth_code: "payment_information",
  transaction_number: "payment_information",
  ...Object.fromEntries(
    "vat_number tax_id siret_number siren_number abn_number gst_number pan_number business_number coc_number registration"
      .split(" ")
      .map((name) => [name, "merchant_information"]),
  ),
};

function groupOf(name: string): string {
  return `${lookUp(groups, name) ?? "financial_document_information"}.${name}`;
}

/** The signs and codes beside the totals, and beside all amounts. */
function collectMarks(rows: readonly PageRow[], lines: readonly AmountLine[], style: NumberStyle) {
  const totals = lines.filter(({ kind }) => kind === "total" || kind === "due");
  const best = Math.max(0, ...totals.slice(-50).map(({ weight }) => weight));
  return {
    totalMarks: totals.filter(({ weight }) => weight === best).flatMap(({ marks }) => marks),
    marks: rows.flatMap(({ cells }) =>
      cells.flatMap(({ text }) => findAmounts(text.slice(0, 500), style).flatMap(({ marks }) => marks)),
    ),
  };
}

/** Rows outside the items whose only amount has no known label. */
function findUnlabelled(rows: readonly PageRow[], lines: readonly AmountLine[], style: NumberStyle): AmountLine[] {
  const labelled = new Set(lines.map(({ row }) => row));
  return rows.flatMap((row, index): AmountLine[] => {
    if (labelled.has(index)) return [];
    const last = row.cells.at(-1);
    const amounts = last === undefined ? [] : findAmounts(last.text.slice(-80), style).filter(({ isMoney }) => isMoney);
    const [amount] = amounts;
    if (amount === undefined || amounts.length > 1 || last === undefined) return [];
    const facts = { weight: 1, rate: null, base: null, isIncluded: false, isSum: false };
    return [{ kind: "fee", value: amount.value, words: last.words, row: index, marks: amount.marks, ...facts }];
  });
}

function withoutCells(row: PageRow, taken: ReadonlySet<Cell>): PageRow {
  if (!row.cells.some((cell) => taken.has(cell))) return row;
  const cells = row.cells.filter((cell) => !taken.has(cell));
  return { ...row, cells, text: cells.map(({ text }) => text).join("  ") };
}

function sumItems(items: readonly Item[]): number | null {
  if (items.length === 0 || items.some(({ amount_line }) => amount_line === null)) return null;
  return Math.round(items.reduce((sum, { amount_line }) => sum + (amount_line ?? 0), 0) * 1000) / 1000;
}

function withoutLines(text: string, lines: readonly string[]): string {
  return lines.reduce((whole, line) => whole.replace(line, () => ""), text);
}

function toContacts({ phone }: Party, text: string, vat: Found<string> | null) {
  return {
    email: findEmails(text)[0] ?? null,
    phone: findPhones(text)[0] ?? phone,
    website: findWebsites(text)[0] ?? null,
    vat_number: findVatNumbers(text)[0] ?? vat?.value ?? null,
  };
}

function toAddressMembers({ address }: Party) {
  return {
    city: address?.city ?? null,
    country: address?.country?.name ?? null,
    house_number: address?.houseNumber ?? null,
    province: address?.province ?? null,
    street_name: address?.street ?? null,
    zip_code: address?.zipCode ?? null,
  };
}

const methodLabel =
  /(?:payment\s+(?:method|type|by|via)|paid\s+(?:by|with|via)|pay(?:ment)?\s+mode|mode\s+de\s+(?:paiement|règlement)|règlement\s+par|zahlungs(?:art|weise)|forma\s+de\s+(?:pago|pagamento)|método\s+de\s+pag\w+|modalità\s+di\s+pagamento|pagamento|betaalwijze|betaalmethode|forma\s+płatności|sposób\s+(?:płatności|zapłaty)|betalningssätt|betalingsm[åe]\w+|maksutapa|způsob\s+(?:úhrady|platby)|ödeme\s+(?:şekli|yöntemi)|お?支払(?:い)?方法|支付方式|付款方式)\s*[:：]?\s*(.{1,80})/iu;

function findPaymentMethod(text: string, isReceipt: boolean): string | null {
  const searched = methodLabel.exec(text)?.[1] ?? (isReceipt ? text : "");
  return paymentMethods.find(([pattern]) => pattern.test(searched))?.[1] ?? null;
}

/** By its title; without one, by the words that only receipts have. */
function looksLikeReceipt(rows: readonly PageRow[], text: string, lines: readonly AmountLine[]): boolean {
  const hasDueDate = /\bdue date\b|\bpayment due\b|\baccount (?:no|number)\b/i.test(text);
  const kinds = rows.slice(0, 400).flatMap(({ cells }) =>
    cells.flatMap(({ text: cell }) => {
      const match = cell.length > 80 ? null : titles.match(toTokens(cell), 0);
      return match === null ? [] : [match.kind];
    }),
  );
  if (kinds.includes("invoice") || kinds.includes("credit")) return false;
  if (kinds.includes("receipt")) return true;
  // Only a till gives change.
  if (lines.some(({ kind }) => kind === "change")) return true;
  if (
    /\b(?:tax\s+)?invoice\b|\bfacture\b|\brechnung\b|\bfactura\b|\bfattura\b|\bfactuur\b|\bfaktura\b|\blasku\b|請求書|发票/iu.test(
      text,
    )
  )
    return false;
  const signs =
    /\breceipt\b|\bcashier\b|\bchange\b|\bcash\b|\bvisa\b|\bmastercard\b|\bthank you\b|\bticket\b|\bquittung\b|\bkassenbon\b|\bresto\b|\brückgeld\b|\btroco\b|\bkvitto|\bkontokort\b|\bkvittering\b|\bkuitti\b|\bparagon\b|領収|お釣|找零/iu;
  return signs.test(text) || (!hasDueDate && rows.every((row) => row.cells.length <= 3));
}
