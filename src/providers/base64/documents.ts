// Documents in the shape of our outputs. Every field of the vendor is an object with `value` and `confidence`.

import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asObject, asText, at, objectsIn } from "../lenient.ts";
import { pick, splitNames, toCountryField, toField } from "../shapes/documents.ts";

export function toFinancialDocument(document: JsonObject) {
  const value = (name: string) => at(document, "fields", name, "value");
  return {
    customer_information: {
      name: value("billTo"),
      mailling_address: value("address"),
      billing_address: value("billTo"),
      shipping_address: value("shipTo"),
      remittance_address: value("soldTo"),
    },
    merchant_information: {
      name: value("companyName"),
      address: asText(value("from")) ?? value("addressBlock"),
      phone: value("phoneNumber"),
      email: value("email"),
      website: value("website"),
      tax_id: value("taxId"),
    },
    payment_information: {
      amount_due: value("balanceDue"),
      amount_tip: value("tip"),
      total: value("total"),
      subtotal: value("subtotal"),
      total_tax: value("tax"),
      discount: value("discount"),
      payment_terms: value("paymentTerms"),
      payment_method: value("cardType"),
      payment_card_number: value("cardNumber"),
    },
    financial_document_information: {
      invoice_receipt_id: asText(value("invoiceNumber")) ?? value("receiptNo"),
      purchase_order: value("purchaseOrder"),
      invoice_date: asText(value("invoiceDate")) ?? value("date"),
      time: asText(value("invoiceTime")) ?? value("time"),
      invoice_due_date: value("dueDate"),
    },
    local: { currency: value("currency"), currency_code: value("currency") },
    bank: { iban: value("iban"), account_number: value("accountNumber") },
    item_lines: toLines(document["fields"]),
    document_metadata: { document_type: at(document, "model", "type") },
  };
}

const lineMembers = {
  Description: "description",
  Quantity: "quantity",
  UnitPrice: "unit_price",
  LineTotal: "amount_line",
} as const;
type Line = Partial<Record<(typeof lineMembers)[keyof typeof lineMembers], unknown>>;

/** The fields of a line are numbered: `lineItem1Description`, `lineItem1Quantity`, … */
function toLines(fields: unknown): Line[] {
  const lines = new Map<number, Line>();
  for (const [name, field] of Object.entries(asObject(fields))) {
    const [, number, part = ""] = /^lineItem(\d*)(\w+)$/.exec(name) ?? [];
    const member = lookUp(lineMembers, part);
    if (number === undefined || member === undefined) continue;
    lines.set(Number(number), { ...lines.get(Number(number)), [member]: at(field, "value") });
  }
  return [...lines].sort(([one], [another]) => one - another).map(([, line]) => line);
}

export function toIdentity(document: JsonObject) {
  const field = (name: string) => toField(at(document, "fields", name));
  return {
    last_name: field("familyName"),
    given_names: splitNames(field("givenName")),
    birth_place: field("placeOfBirth"),
    birth_date: field("dateOfBirth"),
    issuance_date: field("issueDate"),
    expire_date: field("expirationDate"),
    document_id: field("documentNumber"),
    issuing_state: field("issuingState"),
    ...pick(field, ["address", "age", "nationality"]),
    country: toCountryField(field("countryCode")),
    document_type: field("documentType"),
    gender: field("sex"),
    image_id: imagesOf(at(document, "features", "faces")),
    image_signature: imagesOf(at(document, "features", "signatures")),
  };
}

function imagesOf(features: unknown) {
  return objectsIn(features).map(({ image, confidence }) => ({ value: image, confidence }));
}

export function toCheck(document: JsonObject) {
  const value = (name: string) => at(document, "fields", name, "value");
  return {
    ...pick(value, ["amount", "date", "memo", "currency"]),
    payer_address: value("address"),
    receiver_name: value("payee"),
    micr: {
      raw: value("micr"),
      account_number: value("accountNumber"),
      routing_number: value("routingNumber"),
      check_number: value("checkNumber"),
    },
  };
}
