// What the vendor reads from each kind of document, in our members. Every field is an object with `value` and `confidence`.

import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asObject, asText, at, objectsIn } from "../lenient.ts";
import { findCountry } from "../shapes/countries.ts";

export function toFinancialDocument(document: JsonObject): JsonObject {
  const fields = asObject(document["fields"]);
  const value = (name: string) => at(fields, name, "value");
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
    item_lines: toLines(fields),
    document_metadata: { document_type: at(document, "model", "type") },
  };
}

const lineMembers: Readonly<Record<string, string>> = {
  Description: "description",
  Quantity: "quantity",
  UnitPrice: "unit_price",
  LineTotal: "amount_line",
};

/** Lines are told as fields with a number: `lineItem1Description`, `lineItem1Quantity`, … */
function toLines(fields: JsonObject): JsonObject[] {
  const lines = new Map<number, Record<string, unknown>>();
  for (const [name, field] of Object.entries(fields)) {
    const [, number, part = ""] = /^lineItem(\d*)(\w+)$/.exec(name) ?? [];
    const member = lookUp(lineMembers, part);
    if (number === undefined || member === undefined) continue;
    const line = lines.get(Number(number)) ?? {};
    line[member] = at(field, "value");
    lines.set(Number(number), line);
  }
  return [...lines].sort(([one], [another]) => one - another).map(([, line]) => line);
}

export function toIdentity(document: JsonObject): JsonObject {
  const fields = asObject(document["fields"]);
  const field = (name: string) => {
    const { value, confidence } = asObject(fields[name]);
    return { value, confidence };
  };
  const country = findCountry(field("countryCode").value);
  const givenNames = field("givenName");
  return {
    last_name: field("familyName"),
    given_names: (asText(givenNames.value) ?? "")
      .split(" ")
      .flatMap((value) => (value === "" ? [] : [{ value, confidence: givenNames.confidence }])),
    birth_place: field("placeOfBirth"),
    birth_date: field("dateOfBirth"),
    issuance_date: field("issueDate"),
    expire_date: field("expirationDate"),
    document_id: field("documentNumber"),
    issuing_state: field("issuingState"),
    address: field("address"),
    age: field("age"),
    country: country === null ? null : { ...country, confidence: field("countryCode").confidence },
    document_type: field("documentType"),
    gender: field("sex"),
    nationality: field("nationality"),
    image_id: imagesOf(at(document, "features", "faces")),
    image_signature: imagesOf(at(document, "features", "signatures")),
  };
}

function imagesOf(features: unknown): JsonObject[] {
  return objectsIn(features).map(({ image, confidence }) => ({ value: image, confidence }));
}

export function toCheck(fields: JsonObject): JsonObject {
  const value = (name: string) => at(fields, name, "value");
  return {
    amount: value("amount"),
    date: value("date"),
    memo: value("memo"),
    payer_address: value("address"),
    // To whom it is payable.
    receiver_name: value("payee"),
    currency: value("currency"),
    micr: {
      raw: value("micr"),
      account_number: value("accountNumber"),
      routing_number: value("routingNumber"),
      check_number: value("checkNumber"),
    },
  };
}
