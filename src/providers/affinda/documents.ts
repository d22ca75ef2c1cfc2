// Documents in the shape of our outputs. The vendor sends annotations: `raw` is the text in the document, `parsed` is its meaning. Older
// kinds of documents have plain values instead.

import { isObject, type JsonObject } from "../../lib/lenient-json.ts";
import { asList, asObject, asText, at, objectsIn } from "../lenient.ts";
import { readAddress, toCountryField } from "../shapes/documents.ts";
import { asLanguage } from "../shapes/languages.ts";

export function toFinancialDocument(data: JsonObject, meta: JsonObject) {
  const value = (name: string) => readValue(data[name]);
  const amount = (name: string) => readAmount(data[name]);
  return {
    customer_information: {
      name: asText(value("customerCompanyName")) ?? value("customerContactName"),
      billing_address: readRaw(data["customerBillingAddress"]),
      shipping_address: readRaw(data["customerDeliveryAddress"]),
      email: value("customerEmail"),
      phone: value("customerPhoneNumber"),
      vat_number: value("customerVat"),
      business_number: value("customerBusinessNumber"),
      customer_number: value("customerNumber"),
      ...toAddress(data["customerBillingAddress"]),
    },
    merchant_information: {
      name: value("supplierCompanyName"),
      address: readRaw(data["supplierAddress"]),
      phone: value("supplierPhoneNumber"),
      fax: value("supplierFax"),
      email: value("supplierEmail"),
      website: value("supplierWebsite"),
      vat_number: value("supplierVat"),
      business_number: value("supplierBusinessNumber"),
      country_code: readMembers(data["supplierAddress"])["countryCode"],
      ...toAddress(data["supplierAddress"]),
    },
    payment_information: {
      amount_due: amount("paymentAmountDue"),
      amount_paid: amount("paymentAmountPaid"),
      amount_shipping: amount("paymentDelivery"),
      total: amount("paymentAmountTotal"),
      subtotal: amount("paymentAmountBase"),
      total_tax: amount("paymentAmountTax"),
      prior_balance: amount("openingBalance"),
      service_charge: amount("paymentOtherCharges"),
      payment_terms: value("paymentTerms"),
      transaction_reference: value("paymentReference"),
    },
    financial_document_information: {
      invoice_receipt_id: value("invoiceNumber"),
      purchase_order: value("invoicePurchaseOrderNumber"),
      invoice_date: value("invoiceDate"),
      invoice_due_date: value("paymentDateDue"),
      order_date: value("invoiceOrderDate"),
      biller_code: value("bpayBillerCode"),
      reference: value("bpayReference"),
    },
    local: {
      currency: at(data, "currencyCode", "parsed", "label"),
      currency_code: at(data, "currencyCode", "parsed", "value"),
      language: asLanguage(meta["language"]),
    },
    bank: {
      iban: value("bankIban"),
      swift: value("bankSwift"),
      bsb: value("bankBsb"),
      sort_code: value("bankSortCode"),
      account_number: value("bankAccountNumber"),
    },
    item_lines: objectsIn(data["tables"])
      .flatMap((table) => objectsIn(at(table, "parsed", "rows")))
      .map((row) => toLine(asObject(row["parsed"]))),
    document_metadata: { document_page_number: 1, document_type: at(meta, "collection", "extractor", "identifier") },
  };
}

function toAddress(annotation: unknown) {
  const parts = readMembers(annotation);
  const names = { street_name: "street", house_number: "streetNumber", zip_code: "postalCode", province: "state" };
  return readAddress((name) => parts[name], names);
}

function toLine(row: JsonObject) {
  const value = (name: string) => readValue(row[name]);
  const amount = (name: string) => readAmount(row[name]);
  return {
    description: value("itemDescription"),
    quantity: amount("itemQuantity"),
    unit_price: amount("itemUnitPrice"),
    unit_type: value("itemUnit"),
    amount_line: amount("itemTotal"),
    base_total: amount("itemBaseTotal"),
    tax: amount("itemTaxTotal"),
    tax_rate: amount("itemTaxRate"),
    discount_amount: amount("itemDiscount"),
    product_code: value("itemCode"),
    date: value("itemDate"),
  };
}

export function toIdentity(data: JsonObject) {
  const zone = asObject(at(data, "machineReadableZone", "parsed"));
  const confidence = (name: string) => at(data, name, "confidence");
  const field = (name: string) => ({ value: readValue(data[name]), confidence: confidence(name) });
  const lastName = field("surname").value === undefined ? field("familyName") : field("surname");
  return {
    // The machine-readable zone repeats the name and the country.
    last_name: asText(lastName.value) === null ? { value: zone["surname"] } : lastName,
    given_names: asText(readValue(data["givenName"])) === null ? [] : [field("givenName")],
    birth_place: field("birthPlace"),
    birth_date: field("birthDate"),
    issuance_date: field("issueDate"),
    expire_date: field("expiryDate"),
    document_id: field("documentNumber"),
    issuing_state: field("authority"),
    address: field("address"),
    country: toCountryField({
      value: readValue(data["issuingCode"]) ?? zone["country"],
      confidence: confidence("issuingCode"),
    }),
    document_type: field("type"),
    gender: field("sex"),
    mrz: { value: readRaw(data["machineReadableZone"]), confidence: confidence("machineReadableZone") },
    nationality: field("nationality"),
  };
}

export function toResume(data: JsonObject) {
  const name = readMembers(data["name"]);
  const languageCodes = asList(data["languageCodes"]);
  const toNamed = (list: unknown) => textsOf(list).map((text) => ({ name: text }));
  return {
    personal_infos: {
      name: {
        first_name: name["first"],
        last_name: name["last"],
        middle: name["middle"],
        title: name["title"],
        raw_name: name["raw"],
      },
      address: toLocation(data["location"]),
      self_summary: readValue(data["summary"]),
      objective: readValue(data["objective"]),
      date_of_birth: readValue(data["dateOfBirth"]),
      phones: textsOf(data["phoneNumbers"]),
      mails: textsOf(data["emails"]),
      urls: [...new Set([...textsOf(data["websites"]), ...textsOf([data["linkedin"]])])],
      current_profession: readValue(data["profession"]),
    },
    education: {
      entries: objectsIn(data["education"]).map((entry) => ({
        title: at(entry, "accreditation", "education"),
        start_date: at(entry, "dates", "startDate"),
        end_date: at(entry, "dates", "completionDate"),
        location: toLocation(entry["location"]),
        establishment: entry["organization"],
        gpa: asText(at(entry, "grade", "value")) ?? at(entry, "grade", "raw"),
        accreditation: asText(at(entry, "accreditation", "inputStr")) ?? at(entry, "accreditation", "education"),
      })),
    },
    work_experience: {
      total_years_experience: data["totalYearsExperience"],
      entries: objectsIn(data["workExperience"]).map((entry) => ({
        title: entry["jobTitle"],
        start_date: at(entry, "dates", "startDate"),
        end_date: at(entry, "dates", "endDate"),
        company: entry["organization"],
        location: toLocation(entry["location"]),
        description: entry["jobDescription"],
        industry: entry["industry"],
      })),
    },
    languages: textsOf(data["languages"]).map((language, index) => ({
      name: language,
      code: asLanguage(languageCodes[index]),
    })),
    skills: objectsIn(data["skills"]).flatMap((skill) => {
      const skillName = asText(skill["name"]) ?? asText(readValue(skill));
      return skillName === null ? [] : [{ name: skillName, type: skill["type"] }];
    }),
    certifications: toNamed(data["certifications"]),
    publications: toNamed(data["publications"]),
  };
}

function toLocation(annotation: unknown) {
  const parts = readMembers(annotation);
  if (Object.keys(parts).length === 0) return null;
  return {
    formatted_location: parts["formatted"],
    postal_code: parts["postalCode"],
    region: parts["state"],
    country: parts["country"],
    country_code: parts["countryCode"],
    raw_input_location: parts["rawInput"],
    street: parts["street"],
    street_number: parts["streetNumber"],
    appartment_number: parts["apartmentNumber"],
    city: parts["city"],
  };
}

function textsOf(list: unknown): string[] {
  return asList(list).flatMap((annotation) => asText(readValue(annotation)) ?? []);
}

/** The parsed value if it is a text or a number, otherwise the text in the document. */
function readValue(annotation: unknown): unknown {
  const parsed = readAmount(annotation);
  return typeof parsed === "string" || typeof parsed === "number" ? parsed : readRaw(annotation);
}

/** The parsed value alone: a text that the vendor could not parse is not an amount. */
function readAmount(annotation: unknown): unknown {
  return isObject(annotation) ? annotation["parsed"] : annotation;
}

function readRaw(annotation: unknown): unknown {
  return isObject(annotation) ? annotation["raw"] : annotation;
}

/** The members of an address or a name. */
function readMembers(annotation: unknown): JsonObject {
  const members = asObject(annotation);
  return "parsed" in members ? asObject(members["parsed"]) : members;
}
