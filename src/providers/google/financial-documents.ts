// Invoices and receipts by Google Document AI, with an invoice or expense parser that the operator has created.
// https://docs.cloud.google.com/document-ai/docs/processors-list lists the entities of both.

import type { JsonObject } from "../dialect.ts";
import { asNumber, asText, at, objectsIn } from "../lenient.ts";
import { soleItem, toDocuments } from "../shapes/documents.ts";
import { requireValue } from "../shapes/require-value.ts";
import { defineTask } from "../task.ts";
import { documentFiles, processDocument } from "./document-ai.ts";

export const parseFinancialDocument = defineTask("ocr/financial_parser", {
  docs: "https://docs.cloud.google.com/document-ai/docs/reference/rest/v1/projects.locations.processors/process",
  service: "documentai-us",
  // `projects/…/locations/us/processors/…`
  requiredSettings: { processor: "GOOGLE_DOCUMENT_AI_INVOICE_PROCESSOR" },
  // The processor determines the kind of document.
  unsupported: ["document_type", "language"],
  files: documentFiles,
  toRequest: processDocument,
  fromResponse({ json }) {
    const document = requireValue(at(json, "document"), "document");
    const pages = objectsIn(at(document, "pages")).length;
    return toDocuments("ocr/financial_parser", [toFinancialDocument(objectsIn(at(document, "entities")))], pages);
  },
});

function toFinancialDocument(entities: readonly JsonObject[]) {
  const find = (type: string) => entities.find((entity) => entity["type"] === type);
  const text = (type: string) => textOf(find(type));
  const amount = (type: string) => amountOf(find(type));
  const date = (type: string) => dateOf(find(type));
  const rate = soleItem(entities.filter(({ type }) => type === "vat"));
  return {
    customer_information: {
      name: text("receiver_name"),
      billing_address: text("receiver_address"),
      shipping_address: text("ship_to_address"),
      remittance_address: text("remit_to_address"),
      remit_to_name: text("remit_to_name"),
      email: text("receiver_email"),
      phone: text("receiver_phone"),
      tax_id: text("receiver_tax_id"),
      website: text("receiver_website"),
    },
    merchant_information: {
      name: text("supplier_name"),
      address: text("supplier_address"),
      phone: text("supplier_phone"),
      email: text("supplier_email"),
      website: text("supplier_website"),
      tax_id: text("supplier_tax_id"),
      registration: text("supplier_registration"),
      city: text("supplier_city"),
    },
    payment_information: {
      total: amount("total_amount"),
      subtotal: amount("net_amount"),
      total_tax: amount("total_tax_amount"),
      amount_tip: amount("tip_amount"),
      amount_shipping: amount("freight_amount"),
      amount_paid: amount("amount_paid_since_last_invoice"),
      payment_terms: text("payment_terms"),
      payment_method: text("payment_type"),
      payment_card_number: text("credit_card_last_four_digits"),
      tax_rate: percentOf(partOf(rate, "vat", "tax_rate")),
      transaction_reference: text("supplier_payment_ref"),
    },
    financial_document_information: {
      invoice_receipt_id: text("invoice_id") ?? text("receipt_id"),
      purchase_order: text("purchase_order"),
      invoice_date: date("invoice_date") ?? date("receipt_date"),
      invoice_due_date: date("due_date"),
      time: text("purchase_time"),
    },
    local: { currency: currencyOf(entities), currency_code: currencyOf(entities) },
    bank: { iban: text("supplier_iban") },
    item_lines: entities.filter(({ type }) => type === "line_item").map(toLine),
    document_metadata: { document_page_number: 1, document_type: text("invoice_type") },
  };
}

function toLine(line: JsonObject) {
  const part = (name: string) => partOf(line, "line_item", name);
  return {
    // A line that the parser did not split is its own description.
    description: textOf(part("description")) ?? textOf(line),
    quantity: amountOf(part("quantity")),
    unit_type: textOf(part("unit")),
    unit_price: amountOf(part("unit_price")),
    amount_line: amountOf(part("amount")),
    product_code: textOf(part("product_code")),
  };
}

/** A part of an entity. Its type is `line_item/amount`, or `amount` in some versions of the processors. */
function partOf(entity: JsonObject | undefined, parent: string, name: string): JsonObject | undefined {
  return objectsIn(entity?.["properties"]).find(({ type }) => type === `${parent}/${name}` || type === name);
}

function textOf(entity: JsonObject | undefined): string | null {
  return asText(at(entity, "mentionText"))?.replaceAll(/\s*\n\s*/g, ", ") ?? null;
}

/** Money in whole units and billionths, otherwise the normalised text, otherwise the text in the document. */
function amountOf(entity: JsonObject | undefined): unknown {
  const money = at(entity, "normalizedValue", "moneyValue");
  if (money !== undefined) {
    const { units, nanos } = { units: asNumber(at(money, "units")) ?? 0, nanos: asNumber(at(money, "nanos")) ?? 0 };
    // Both have the same sign.
    return Math.round((units + nanos / 1_000_000_000) * 10_000) / 10_000;
  }
  return asText(at(entity, "normalizedValue", "text")) ?? asText(at(entity, "mentionText"));
}

function percentOf(entity: JsonObject | undefined): unknown {
  return asText(at(entity, "mentionText"));
}

/** `2026-01-02` */
function dateOf(entity: JsonObject | undefined): string | null {
  const { year, month, day } = {
    year: asNumber(at(entity, "normalizedValue", "dateValue", "year")),
    month: asNumber(at(entity, "normalizedValue", "dateValue", "month")),
    day: asNumber(at(entity, "normalizedValue", "dateValue", "day")),
  };
  if (year && month && day)
    return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
  return asText(at(entity, "normalizedValue", "text")) ?? textOf(entity);
}

/** The code of the currency; the parsers normalise signs, and state the currency of each amount as well. */
function currencyOf(entities: readonly JsonObject[]): string | null {
  const named = entities.find(({ type }) => type === "currency");
  const code = asText(at(named, "normalizedValue", "text"));
  if (code !== null) return code;
  const total = entities.find(({ type }) => type === "total_amount");
  return asText(at(total, "normalizedValue", "moneyValue", "currencyCode")) ?? textOf(named);
}
