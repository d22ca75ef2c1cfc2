// Documents in the shape of our outputs. Every field of the vendor is an object with `value` and `confidence`.

import { lookUp } from "../../lib/look-up.ts";
import { asText, at, objectsIn } from "../lenient.ts";
import { type Field, pick, soleItem, toCountryField, toField } from "../shapes/documents.ts";
import { asLanguage } from "../shapes/languages.ts";

/** Kind of registration → member of the output. */
const registrations = {
  "VAT NUMBER": "vat_number",
  ABN: "abn_number",
  GSTIN: "gst_number",
  SIREN: "siren_number",
  SIRET: "siret_number",
  "TAX ID": "tax_id",
} as const;
type Registrations = Partial<Record<(typeof registrations)[keyof typeof registrations], unknown>>;

export function toFinancialDocument(prediction: unknown) {
  const value = (field: string) => at(prediction, field, "value");
  const account = (name: string) => at(prediction, "supplier_payment_details", 0, name);
  return {
    customer_information: {
      ...toRegistrations(at(prediction, "customer_company_registrations")),
      name: value("customer_name"),
      id_reference: value("customer_id"),
      billing_address: asText(value("billing_address")) ?? value("customer_address"),
      shipping_address: value("shipping_address"),
    },
    merchant_information: {
      ...toRegistrations(at(prediction, "supplier_company_registrations")),
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
      tax_rate: soleItem(objectsIn(at(prediction, "taxes")))?.["rate"],
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
    bank: pick(account, ["iban", "swift", "account_number", "routing_number"]),
    item_lines: objectsIn(at(prediction, "line_items")).map((line) => ({
      ...pick((name) => line[name], ["description", "quantity", "unit_price", "tax_rate", "product_code"]),
      unit_type: line["unit_measure"],
      amount_line: line["total_amount"],
      tax: line["tax_amount"],
    })),
    document_metadata: { document_page_number: 1, document_type: value("document_type") },
  };
}

function toRegistrations(list: unknown): Registrations {
  const known: Registrations = {};
  for (const { type, value } of objectsIn(list)) {
    const member = lookUp(registrations, String(type).toUpperCase());
    if (member !== undefined) known[member] = value;
  }
  return known;
}

export function toIdentity(prediction: unknown) {
  const field = (name: string) => toFoundField(at(prediction, name));
  const lines = [field("mrz1"), field("mrz2")];
  const zone = lines.flatMap(({ value }) => asText(value) ?? []).join("\n");
  return {
    last_name: field("surname"),
    given_names: objectsIn(at(prediction, "given_names")).map(toFoundField),
    ...pick(field, ["birth_place", "birth_date", "issuance_date", "gender"]),
    expire_date: field("expiry_date"),
    document_id: field("id_number"),
    country: toCountryField(field("country")),
    mrz: zone === "" ? {} : { value: zone, confidence: lines[0]?.confidence },
  };
}

/** The vendor sends a confidence for missing values as well. */
function toFoundField(field: unknown): Field {
  const { value, confidence } = toField(field);
  return { value, confidence: value === null || value === undefined ? null : confidence };
}

export function toCheck(prediction: unknown) {
  const value = (field: string) => at(prediction, field, "value");
  const payees = objectsIn(at(prediction, "payees")).flatMap((payee) => asText(payee["value"]) ?? []);
  return {
    ...pick(value, ["amount", "date"]),
    receiver_name: payees.join(", "),
    micr: pick(value, ["account_number", "routing_number", "check_number"]),
  };
}
