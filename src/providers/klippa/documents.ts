// Documents in the shape of our outputs.

import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asObject, asText, at, objectsIn } from "../lenient.ts";
import { joinAddress, pick, readAddress, soleItem, splitNames, toCountryField, toField } from "../shapes/documents.ts";
import { asLanguage } from "../shapes/languages.ts";

export function toFinancialDocument(data: JsonObject) {
  const cents = (name: string) => fromCents(data[name]);
  const customer = toParty(data, "customer");
  const merchant = toParty(data, "merchant");
  return {
    customer_information: {
      ...customer,
      id_reference: asText(data["customer_reference"]) ?? data["customer_id"],
      billing_address: data["customer_address"],
      customer_number: data["customer_number"],
      municipality: data["customer_municipality"],
    },
    merchant_information: {
      ...merchant,
      id_reference: data["merchant_id"],
      address: data["merchant_address"],
      country: asText(merchant.country) ?? data["merchant_country_code"],
      country_code: data["merchant_country_code"],
    },
    payment_information: {
      amount_due: cents("amount"),
      total: cents("amount"),
      subtotal: cents("amountexvat"),
      total_tax: cents("vatamount"),
      ...pick(cents, ["amount_change", "amount_shipping", "amount_tip"]),
      tax_rate: soleItem(objectsIn(data["vatitems"]))?.["percentage"],
      payment_method: data["paymentmethod"],
      payment_card_number: asText(data["payment_card_number"]) ?? data["payment_card_account_number"],
      ...pick((name) => data[name], ["payment_auth_code", "transaction_number", "transaction_reference"]),
    },
    financial_document_information: {
      invoice_receipt_id: asText(data["invoice_number"]) ?? data["receipt_number"],
      purchase_order: data["order_number"],
      invoice_date: data["date"],
      order_date: data["purchasedate"],
      // The vendor sends midnight for documents without a time.
      time: data["purchasetime"] === "00:00:00" ? null : data["purchasetime"],
      invoice_due_date: data["payment_due_date"],
      service_start_date: data["service_date"],
      tracking_number: data["package_number"],
      barcodes: objectsIn(data["barcodes"]).map(({ value, type }) => ({ value: String(value), type: String(type) })),
    },
    local: {
      currency: data["currency"],
      currency_code: data["currency"],
      language: asLanguage(data["document_language"]),
    },
    bank: {
      account_number: data["merchant_bank_account_number"],
      bic: data["merchant_bank_account_number_bic"],
      sort_code: data["merchant_bank_domestic_bank_code"],
    },
    item_lines: objectsIn(data["lines"]).flatMap(({ lineitems }) => objectsIn(lineitems).map(toLine)),
    document_metadata: { document_type: data["document_type"] },
  };
}

const contactMembers = ["name", "phone", "email", "website", "vat_number", "fiscal_number", "coc_number"] as const;

function toParty(data: JsonObject, party: "customer" | "merchant") {
  const read = (name: string) => data[`${party}_${name}`];
  return { ...pick(read, contactMembers), ...readAddress(read, { zip_code: "zipcode" }) };
}

function toLine(line: JsonObject) {
  return {
    ...pick((name) => line[name], ["title", "quantity", "discount_code", "order_number"]),
    description: asText(line["description"]) ?? line["title"],
    unit_price: fromCents(line["amount_each"]),
    unit_type: line["unit_of_measurement"],
    amount_line: fromCents(line["amount"]),
    sub_total: fromCents(line["amount_ex_vat"]),
    tax: fromCents(line["vat_amount"]),
    tax_rate: line["vat_percentage"],
    discount_amount: fromCents(line["discount_amount"]),
    discount_rate: line["discount_percentage"],
    product_code: asText(line["sku"]) ?? line["ean"],
  };
}

/** The vendor sends amounts of money in cents. */
function fromCents(value: unknown): number | null {
  const cents = asNumber(value);
  return cents === null ? null : cents / 100;
}

export function toIdentity(parsed: JsonObject) {
  const field = (name: string) => toField(parsed[name]);
  const photos = [at(parsed, "face", "value"), ...objectsIn(parsed["identity_document"]).map(({ image }) => image)];
  return {
    last_name: field("surname"),
    given_names: splitNames(field("given_names")),
    birth_place: field("place_of_birth"),
    birth_date: toDate(field("date_of_birth")),
    issuance_date: toDate(field("date_of_issue")),
    expire_date: toDate(field("date_of_expiry")),
    document_id: field("document_number"),
    issuing_state: field("issuing_institution"),
    address: toAddress(parsed["address"]),
    country: toCountryField(field("issuing_country")),
    ...pick(field, ["age", "document_type", "gender", "mrz", "nationality"]),
    image_id: toValues(photos),
    image_signature: toValues([at(parsed, "signature", "value")]),
  };
}

/** The vendor appends a time to every date. */
function toDate({ value, confidence }: { readonly value: unknown; readonly confidence: unknown }) {
  return { value: asText(value)?.split("T00:00:00", 1)[0], confidence };
}

function toAddress(field: unknown) {
  const { value, confidence } = asObject(field);
  if (typeof value === "string") return { value, confidence };
  const parts = readAddress((name) => at(value, name), { zip_code: "post_code" });
  return { value: joinAddress(parts), confidence };
}

function toValues(values: readonly unknown[]) {
  return values.flatMap((value) => (asText(value) === null ? [] : [{ value }]));
}

export function toResume(parsed: JsonObject) {
  const applicant = asObject(parsed["applicant"]);
  const toNamed = (list: unknown) => textsOf(list).map((name) => ({ name }));
  return {
    personal_infos: {
      name: { raw_name: at(applicant, "name", "value") },
      address: toLocation(applicant["address"]),
      ...pick((name) => at(applicant, name, "value"), ["date_of_birth", "gender", "nationality"]),
      phones: textsOf([applicant["phone_number"]]),
      mails: textsOf([applicant["email_address"]]),
      urls: textsOf(applicant["websites"]),
    },
    education: {
      entries: objectsIn(parsed["education"]).map((entry) => ({
        ...toPeriod(entry),
        title: at(entry, "program", "value"),
        establishment: at(entry, "institution", "value"),
      })),
    },
    work_experience: {
      entries: objectsIn(parsed["work_experience"]).map((entry) => ({
        ...toPeriod(entry),
        title: at(entry, "job_title", "value"),
        company: at(entry, "company_name", "value"),
      })),
    },
    languages: toNamed(parsed["languages"]),
    skills: toNamed(parsed["skills"]),
    interests: toNamed(parsed["other_interests"]),
  };
}

function toPeriod(entry: JsonObject) {
  return {
    start_date: at(entry, "start", "value"),
    end_date: at(entry, "end", "value"),
    location: toLocation(entry["address"]),
    description: at(entry, "description", "value"),
  };
}

function toLocation(address: unknown) {
  const members = ["city", "country", "postal_code", "street"] as const;
  return pick((name) => at(address, name, "value"), members, { postal_code: "post_code" });
}

/** From a list of texts, or of objects that have a text as their `value`. */
function textsOf(list: unknown): string[] {
  return asList(list).flatMap((item) => asText(item) ?? asText(at(item, "value")) ?? []);
}
