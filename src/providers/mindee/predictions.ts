// What the vendor reads from each kind of document, in our members. Every field is an object with `value` and `confidence`.

import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asObject, asText, at, objectsIn } from "../lenient.ts";
import { findCountry } from "../shapes/countries.ts";
import { asLanguage } from "../shapes/languages.ts";

/** The vendor's kinds of registration → ours. */
const registrations: Readonly<Record<string, string>> = {
  "VAT NUMBER": "vat_number",
  ABN: "abn_number",
  GSTIN: "gst_number",
  SIREN: "siren_number",
  SIRET: "siret_number",
  "TAX ID": "tax_id",
};

export function toFinancialDocument(prediction: JsonObject, pageNumber: number): JsonObject {
  const value = (field: string) => at(prediction, field, "value");
  const taxes = objectsIn(prediction["taxes"]);
  const [account] = objectsIn(prediction["supplier_payment_details"]);
  return {
    customer_information: {
      ...toRegistrations(prediction["customer_company_registrations"]),
      name: value("customer_name"),
      id_reference: value("customer_id"),
      billing_address: asText(value("billing_address")) ?? value("customer_address"),
      shipping_address: value("shipping_address"),
    },
    merchant_information: {
      ...toRegistrations(prediction["supplier_company_registrations"]),
      name: value("supplier_name"),
      address: value("supplier_address"),
      phone: value("supplier_phone_number"),
      email: value("supplier_email"),
      website: value("supplier_website"),
    },
    payment_information: {
      total: value("total_amount"),
      subtotal: value("total_net"),
      total_tax: value("total_tax"),
      amount_tip: value("tip"),
      // One rate speaks for the whole only when it is the only one.
      tax_rate: taxes.length === 1 ? taxes[0]?.["rate"] : null,
    },
    financial_document_information: {
      invoice_receipt_id:
        asText(value("invoice_number")) ?? asText(value("receipt_number")) ?? value("document_number"),
      purchase_order: value("po_number"),
      invoice_date: value("date"),
      time: value("time"),
      invoice_due_date: value("due_date"),
      reference: at(prediction, "reference_numbers", 0, "value"),
    },
    local: {
      currency: at(prediction, "locale", "currency"),
      currency_code: at(prediction, "locale", "currency"),
      country: at(prediction, "locale", "country"),
      language: asLanguage(at(prediction, "locale", "language")),
    },
    bank: {
      iban: account?.["iban"],
      swift: account?.["swift"],
      account_number: account?.["account_number"],
      routing_number: account?.["routing_number"],
    },
    item_lines: objectsIn(prediction["line_items"]).map((line) => ({
      description: line["description"],
      quantity: line["quantity"],
      unit_price: line["unit_price"],
      unit_type: line["unit_measure"],
      amount_line: line["total_amount"],
      tax: line["tax_amount"],
      tax_rate: line["tax_rate"],
      product_code: line["product_code"],
    })),
    document_metadata: { document_page_number: pageNumber, document_type: value("document_type") },
  };
}

function toRegistrations(list: unknown): Record<string, unknown> {
  const known = objectsIn(list).flatMap(({ type, value }) => {
    const member = lookUp(registrations, String(type).toUpperCase());
    return member === undefined ? [] : [[member, value]];
  });
  return Object.fromEntries(known);
}

export function toIdentity(prediction: JsonObject): JsonObject {
  const field = (name: string) => toField(prediction[name]);
  const country = findCountry(at(prediction, "country", "value"));
  const lines = [prediction["mrz1"], prediction["mrz2"]].map(toField);
  const zone = lines.flatMap(({ value }) => asText(value) ?? []).join("\n");
  return {
    last_name: field("surname"),
    given_names: objectsIn(prediction["given_names"]).map(toField),
    birth_place: field("birth_place"),
    birth_date: field("birth_date"),
    issuance_date: field("issuance_date"),
    expire_date: field("expiry_date"),
    document_id: field("id_number"),
    gender: field("gender"),
    country: country === null ? null : { ...country, confidence: at(prediction, "country", "confidence") },
    mrz: zone === "" ? {} : { value: zone, confidence: lines[0]?.confidence },
  };
}

export function toCheck(prediction: JsonObject): JsonObject {
  const value = (field: string) => at(prediction, field, "value");
  return {
    amount: value("amount"),
    date: value("date"),
    // Those to whom the check is payable.
    receiver_name: objectsIn(prediction["payees"])
      .flatMap((payee) => asText(payee["value"]) ?? [])
      .join(", "),
    micr: {
      account_number: value("account_number"),
      routing_number: value("routing_number"),
      check_number: value("check_number"),
    },
  };
}

/** The confidence of what was not found says nothing. */
function toField(field: unknown): { readonly value: unknown; readonly confidence: unknown } {
  const { value, confidence } = asObject(field);
  return { value, confidence: value === null || value === undefined ? null : confidence };
}
