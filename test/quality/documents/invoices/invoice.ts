// An invented invoice, credit note or receipt: its parties, lines and sums, before any layout.

import { fillDate } from "../dates.ts";
import { inventIban, inventVatNumber } from "../identifiers.ts";
import type { LabelledDocument, Value } from "../labelled-document.ts";
import { createRandom, type Random } from "../random.ts";
import type { Sheet } from "../sheet.ts";

/** How a country writes invoices. `Labels` are the words that the layouts of a split use. */
export interface Locale<Labels> {
  readonly language: string;
  /** ISO 3166. */
  readonly country: string;
  readonly currency: string;
  readonly symbol: string;
  readonly number: NumberStyle;
  /** `symbol-first`: £1.00; `symbol-last`: 1,00 €; `code-first`: CHF 1.00; `code-last`: 1,00 PLN. */
  readonly money: "symbol-first" | "symbol-last" | "code-first" | "code-last";
  /** With DD, MM, YYYY, and MMMM for the name of the month. */
  readonly date: string;
  readonly months: readonly string[];
  readonly labels: Labels;
  /** In per cent; the first is the usual one. */
  readonly rates: readonly number[];
  readonly sellers: readonly Party[];
  readonly buyers: readonly Party[];
  /** With a price without tax. */
  readonly goods: readonly (readonly [string, number])[];
  /** Names of banks with their BIC. */
  readonly bics?: readonly string[];
}

export interface NumberStyle {
  readonly decimal: "." | ",";
  readonly group: "." | "," | " " | "’" | "'" | "\u00a0" | "";
  readonly digits?: 0 | 2;
  readonly grouping?: "thousands" | "lakh";
}

export interface Party {
  readonly name: string;
  readonly street: string;
  readonly zip: string;
  readonly city: string;
  /** The line with the postal code and the city, as the country writes it. */
  readonly place: string;
  readonly country?: string;
  readonly phone?: string;
  readonly email?: string;
}

export interface Line {
  readonly code: string;
  readonly description: string;
  readonly quantity: number;
  readonly unitPrice: number;
  readonly rate: number;
  readonly amount: number;
}

export interface Invoice<Labels> {
  readonly locale: Locale<Labels>;
  /** Those of the locale. */
  readonly labels: Labels;
  readonly random: Random;
  readonly seller: Party & { readonly vat: string; readonly iban: string; readonly bic: string };
  readonly buyer: Party & { readonly vat: string; readonly number: string };
  readonly id: string;
  /** ISO dates. */
  readonly date: string;
  readonly due: string;
  readonly order: string;
  readonly lines: readonly Line[];
  /** Positive. It lowers the sums of the first rate. */
  readonly discount: number;
  readonly subtotal: number;
  readonly taxes: readonly { readonly rate: number; readonly base: number; readonly tax: number }[];
  readonly tax: number;
  readonly total: number;
  /** -1 for credit notes whose amounts are printed as negative ones. */
  readonly sign: 1 | -1;
}

export interface InvoiceOptions {
  readonly lines?: number;
  /** How many tax rates its lines have. */
  readonly rates?: number;
  readonly discount?: boolean;
  /** Receipts state prices that include the tax. */
  readonly sign?: 1 | -1;
  readonly idPattern?: string;
}

export function inventInvoice<Labels>(
  locale: Locale<Labels>,
  seed: string,
  options: InvoiceOptions = {},
): Invoice<Labels> {
  const { lines: count = 3, rates: rateCount = 1, discount: isDiscounted = false, sign = 1 } = options;
  const random = createRandom(`${locale.country} ${seed}`);
  const { idPattern = random.pick(["YYYY-####", "R######", "AA-#####", "######", "AA/YYYY/###"]) } = options;
  const rates = locale.rates.slice(0, rateCount);
  const lines = random.some(locale.goods, count).map(([description, price], index): Line => {
    const quantity = random.pick([1, 1, 2, 3, 4, 6, 10, 12]);
    const unitPrice = price + (locale.number.digits === 0 ? random.between(0, 9) * 10 : random.between(0, 3) / 4);
    return {
      code: `${random.pick(["A", "K", "M", "T"])}${random.digits(4)}`,
      description,
      quantity,
      unitPrice,
      rate: rates[index % rates.length] ?? 0,
      amount: round(quantity * unitPrice),
    };
  });
  const subtotal = round(lines.reduce((sum, { amount }) => sum + amount, 0));
  const discount = isDiscounted ? Math.max(1, Math.round(subtotal * 0.05)) : 0;
  const round2 = (value: number) => (locale.number.digits === 0 ? Math.floor(value) : round(value));
  const taxes = rates.map((rate, index) => {
    const gross = lines.filter((one) => one.rate === rate).reduce((sum, { amount }) => sum + amount, 0);
    const base = round(gross - (index === 0 ? discount : 0));
    return { rate, base, tax: round2((base * rate) / 100) };
  });
  const tax = round(taxes.reduce((sum, one) => sum + one.tax, 0));
  const seller = random.pick(locale.sellers);
  const buyer = random.pick(locale.buyers);
  const date = `2026-${pad(random.between(1, 10))}-${pad(random.between(1, 28))}`;
  return {
    locale,
    labels: locale.labels,
    random,
    seller: {
      ...seller,
      vat: inventVatNumber(locale.country, random),
      iban: hasIban(locale.country) ? inventIban(locale.country, random) : "",
      bic: locale.bics === undefined ? "" : random.pick(locale.bics),
    },
    buyer: { ...buyer, vat: inventVatNumber(locale.country, random), number: random.digits(5) },
    id: fillPattern(idPattern, random),
    date,
    due: addDays(date, random.pick([14, 21, 30])),
    order: `PO${random.digits(6)}`,
    lines,
    discount,
    subtotal,
    taxes,
    tax,
    total: round(subtotal - discount + tax),
    sign,
  };
}

function hasIban(country: string): boolean {
  return !["US", "IN", "BR", "AU", "JP", "MX", "CA"].includes(country);
}

function fillPattern(pattern: string, random: Random): string {
  return pattern
    .replace("YYYY", "2026")
    .replace(/A+/g, (run) => Array.from(run, () => random.pick([..."BDFGHKLMNRSTV"])).join(""))
    .replace(/#+/g, (run) => random.digits(run.length));
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}

function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

export function round(value: number): number {
  return Math.round((value + Number.EPSILON) * 100) / 100;
}

export function formatNumber(
  value: number,
  { decimal, group, digits = 2, grouping = "thousands" }: NumberStyle,
): string {
  const [whole = "", cents] = Math.abs(value).toFixed(digits).split(".");
  const marks = grouping === "lakh" ? /\B(?=(?:\d{2})*\d{3}$)/g : /\B(?=(?:\d{3})+$)/g;
  const grouped = whole.replace(marks, group);
  return `${value < 0 ? "-" : ""}${cents === undefined ? grouped : `${grouped}${decimal}${cents}`}`;
}

export function formatMoney<Labels>(value: number, locale: Locale<Labels>, style = locale.money): string {
  const figures = formatNumber(Math.abs(value), locale.number);
  const sign = value < 0 ? "-" : "";
  if (style === "symbol-first") return `${sign}${locale.symbol}${figures}`;
  if (style === "symbol-last") return `${sign}${figures} ${locale.symbol}`;
  if (style === "code-first") return `${locale.currency} ${sign}${figures}`;
  return `${sign}${figures} ${locale.currency}`;
}

export function formatDate<Labels>(date: string, { date: pattern, months }: Locale<Labels>): string {
  return fillDate(pattern, date, months);
}

export function formatRate(rate: number, decimal: string): string {
  return String(rate).replace(".", decimal);
}

export type Field =
  | "seller.name"
  | "seller.city"
  | "seller.zip"
  | "seller.vat"
  | "seller.phone"
  | "seller.email"
  | "buyer.name"
  | "buyer.city"
  | "buyer.zip"
  | "buyer.vat"
  | "buyer.number"
  | "id"
  | "date"
  | "due"
  | "order"
  | "subtotal"
  | "discount"
  | "tax"
  | "rate"
  | "total"
  | "currency"
  | "iban"
  | "bic"
  | "items";

/** What a perfect reader says about the fields that a layout shows. */
export function expectFields<Labels>(invoice: Invoice<Labels>, fields: readonly Field[]): Record<string, Value> {
  const { seller, buyer, sign, taxes } = invoice;
  const values: Readonly<Record<Exclude<Field, "items">, readonly [string, Value | undefined]>> = {
    "seller.name": ["merchant_information.name", seller.name],
    "seller.city": ["merchant_information.city", seller.city],
    "seller.zip": ["merchant_information.zip_code", seller.zip],
    "seller.vat": [
      "merchant_information.vat_number|tax_id|gst_number|abn_number|business_number|fiscal_number|registration",
      seller.vat.replace(/ MWST$/, ""),
    ],
    "seller.phone": ["merchant_information.phone", seller.phone],
    "seller.email": ["merchant_information.email", seller.email],
    "buyer.name": ["customer_information.name", buyer.name],
    "buyer.city": ["customer_information.city", buyer.city],
    "buyer.zip": ["customer_information.zip_code", buyer.zip],
    "buyer.vat": [
      "customer_information.vat_number|tax_id|gst_number|abn_number|business_number|fiscal_number|registration_number",
      buyer.vat.replace(/ MWST$/, ""),
    ],
    "buyer.number": ["customer_information.customer_number|id_reference", buyer.number],
    id: ["financial_document_information.invoice_receipt_id", invoice.id],
    date: ["financial_document_information.invoice_date", invoice.date],
    due: ["financial_document_information.invoice_due_date", invoice.due],
    order: ["financial_document_information.purchase_order", invoice.order],
    subtotal: ["payment_information.subtotal", sign * invoice.subtotal],
    discount: ["payment_information.discount", invoice.discount],
    tax: ["payment_information.total_tax", sign * invoice.tax],
    rate: ["payment_information.tax_rate", taxes.length === 1 ? (taxes[0]?.rate ?? null) : null],
    total: ["payment_information.total", sign * invoice.total],
    currency: ["local.currency_code", invoice.locale.currency],
    iban: ["bank.iban", seller.iban],
    bic: ["bank.bic|swift", seller.bic],
  };
  const expected: Record<string, Value> = {};
  for (const field of fields) {
    if (field === "items") {
      expected["count:item_lines"] = invoice.lines.length;
      for (const [index, item] of invoice.lines.entries()) {
        expected[`item_lines.${index}.description`] = item.description;
        expected[`item_lines.${index}.amount_line`] = sign * item.amount;
      }
      continue;
    }
    const [path, value] = values[field];
    if (value === undefined || value === "") throw new Error(`The invoice has no ${field}.`);
    expected[path] = value;
  }
  return expected;
}

/** Fields that many layouts show together. */
const groups: Readonly<Record<string, readonly Field[]>> = {
  heading: ["seller.name", "buyer.name", "id", "date", "total", "currency"],
  terms: ["due", "order"],
  amounts: ["subtotal", "tax", "rate"],
  cities: ["seller.city", "buyer.city"],
  zips: ["seller.zip", "buyer.zip"],
  bank: ["iban", "bic"],
};

/** The names of fields and of groups of them, without the fields that this invoice does not have. */
function fieldsOf<Labels>({ seller, discount }: Invoice<Labels>, names: string): Field[] {
  const absent = new Set<Field>([
    ...(seller.iban === "" ? (["iban", "bic"] as const) : []),
    ...(discount > 0 ? [] : (["discount"] as const)),
    ...(seller.phone === undefined ? (["seller.phone"] as const) : []),
    ...(seller.email === undefined ? (["seller.email"] as const) : []),
  ]);
  // `expectFields` throws when there is no field of this name.
  const fields = names.split(" ").flatMap((name) => groups[name] ?? [name as Field]);
  return fields.filter((field) => !absent.has(field));
}

export interface Drawn {
  readonly sheet: Sheet;
  /** The names of fields and of groups of them, with spaces in between. */
  readonly fields: string;
  /** What the layout shows besides, by path. */
  readonly also?: Readonly<Record<string, Value>>;
}

export type Layout<Labels> = (invoice: Invoice<Labels>) => Drawn;

type Cases<Labels> = readonly (readonly [locale: Locale<Labels>, options?: InvoiceOptions])[];

/** One document for each case. The seeds of their random numbers are `seed` with 1, 2 and so on. */
export function toDocuments<Labels>(name: string, layout: Layout<Labels>, seed: string, cases: Cases<Labels>) {
  return cases.map(([locale, options], index) =>
    toDocument(name, layout, inventInvoice(locale, `${seed} ${index + 1}`, options)),
  );
}

export function toDocument<Labels>(
  layoutName: string,
  layout: Layout<Labels>,
  invoice: Invoice<Labels>,
): LabelledDocument {
  const { sheet, fields, also = {} } = layout(invoice);
  const { language, country } = invoice.locale;
  return {
    name: `${layoutName}-${language}-${country}-${invoice.id.replace(/\W/g, "")}`,
    language,
    layout: layoutName,
    pages: sheet.pages,
    expected: { ...expectFields(invoice, fieldsOf(invoice, fields)), ...also },
  };
}
