// Azure AI Document Intelligence: a document is handed in, and asked for until it has been read.
// https://learn.microsoft.com/en-us/azure/ai-services/document-intelligence/prebuilt/invoice has the fields of invoices;
// receipts and identity papers have pages beside it.

import type { TaskName } from "../../contract/tasks.ts";
import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asObject, asText, at, objectsIn } from "../lenient.ts";
import { findCountry } from "../shapes/countries.ts";
import { fileOf, languageOf } from "../shapes/inputs.ts";
import { boxAround, nowhere } from "../shapes/pages.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { FileLimits, ProviderTask, TaskCall, TaskResponse, TaskResult } from "../task.ts";
import { nextOfOperation } from "./operation.ts";

const version = { "api-version": "2024-11-30" };

// https://learn.microsoft.com/en-us/azure/ai-services/document-intelligence/service-limits: of a paid resource.
export const maxBytes = 500 * 1_000_000;
export const pictures = [
  "application/pdf",
  "image/jpeg",
  "image/png",
  "image/bmp",
  "image/x-ms-bmp",
  "image/tiff",
  "image/heic",
  "image/heif",
];
const texts = [
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  "text/html",
];

interface Mapping {
  readonly task: TaskName;
  readonly files: FileLimits;
  modelOf(call: TaskCall): string;
  toOutput(result: JsonObject): JsonObject;
}

export function createTask({ task, files, modelOf, toOutput }: Mapping): ProviderTask {
  const pathOf = (call: TaskCall) => `/documentintelligence/documentModels/${modelOf(call)}`;
  return {
    task,
    docs: "https://learn.microsoft.com/en-us/rest/api/aiservices/document-models/analyze-document-from-stream",
    files,
    toRequest: async (call) => ({
      path: `${pathOf(call)}:analyze`,
      query: { ...version, stringIndexType: "unicodeCodePoint", locale: languageOf(call) },
      body: { kind: "bytes", bytes: await fileOf(call).read(), mediaType: "application/octet-stream" },
    }),
    next: (answer, call, asked) =>
      nextOfOperation(answer, asked, (id) => ({ path: `${pathOf(call)}/analyzeResults/${id}`, query: version })),
    fromResponse: (answer) => toResult(answer, toOutput),
  };
}

function toResult(answer: TaskResponse, toOutput: (result: JsonObject) => JsonObject): TaskResult {
  const result = at(answer.json, "analyzeResult");
  if (result === undefined) throw new TypeError("there is no result in the answer");
  const pages = Math.max(1, asList(at(result, "pages")).length);
  return { output: toOutput(asObject(result)), units: { page: pages, request: 1 } };
}

export const readText = createTask({
  task: "ocr/ocr",
  files: { maxBytes, mediaTypes: [...pictures, ...texts] },
  modelOf: () => "prebuilt-read",
  toOutput: (result) => ({
    text: asText(result["content"]) ?? "",
    bounding_boxes: objectsIn(result["pages"]).flatMap(toWordBoxes),
  }),
});

/** Inches for documents and pixels for pictures: relative to the page they are the same. */
function toWordBoxes(page: JsonObject): JsonObject[] {
  const { width, height } = page;
  return objectsIn(page["words"]).map((word) => {
    const polygon = asList(word["polygon"]);
    const box = polygon.length < 8 ? null : boxAround(polygon, width, height);
    return { text: asText(word["content"]), ...(box ?? nowhere) };
  });
}

export const parseFinancialDocument = createTask({
  task: "ocr/financial_parser",
  files: { maxBytes, mediaTypes: pictures },
  modelOf: ({ input }) => (input["document_type"] === "receipt" ? "prebuilt-receipt" : "prebuilt-invoice"),
  toOutput: (result) =>
    toShape("ocr/financial_parser", {
      extracted_data: objectsIn(result["documents"]).map((document, index) =>
        String(document["docType"]).startsWith("receipt") ? toReceipt(document, index) : toInvoice(document, index),
      ),
    }),
});

function toInvoice(document: JsonObject, index: number): JsonObject {
  const field = fieldsOf(document);
  const payment = fieldsOf(elementsOf(document, "PaymentDetails")[0]);
  const [vendor, customer] = [addressOf(document, "VendorAddress"), addressOf(document, "CustomerAddress")];
  return {
    customer_information: {
      name: field("CustomerName"),
      id_reference: field("CustomerId"),
      mailling_address: field("CustomerAddress"),
      billing_address: field("BillingAddress"),
      shipping_address: field("ShippingAddress"),
      service_address: field("ServiceAddress"),
      remittance_address: field("RemittanceAddress"),
      tax_id: field("CustomerTaxId"),
      remit_to_name: field("RemittanceAddressRecipient"),
      ...customer,
    },
    merchant_information: {
      name: field("VendorName"),
      address: field("VendorAddress"),
      tax_id: field("VendorTaxId"),
      coc_number: field("KVKNumber"),
      ...vendor,
    },
    payment_information: {
      amount_due: field("AmountDue"),
      total: field("InvoiceTotal"),
      subtotal: field("SubTotal"),
      total_tax: field("TotalTax"),
      tax_rate: fieldsOf(elementsOf(document, "TaxDetails")[0])("Rate"),
      discount: field("TotalDiscount"),
      previous_unpaid_balance: field("PreviousUnpaidBalance"),
      payment_terms: field("PaymentTerm"),
    },
    financial_document_information: {
      invoice_receipt_id: field("InvoiceId"),
      purchase_order: field("PurchaseOrder"),
      invoice_date: field("InvoiceDate"),
      invoice_due_date: field("DueDate"),
      service_start_date: field("ServiceStartDate"),
      service_end_date: field("ServiceEndDate"),
      biller_code: payment("BPayBillerCode"),
      reference: payment("BPayReference"),
    },
    local: { ...currencyOf(document, ["InvoiceTotal", "AmountDue", "SubTotal", "TotalTax"]) },
    bank: { iban: payment("IBAN"), swift: payment("SWIFT"), account_number: payment("BankAccountNumber") },
    item_lines: elementsOf(document, "Items").map((item) => {
      const value = fieldsOf(item);
      return {
        amount_line: value("Amount"),
        description: value("Description"),
        quantity: value("Quantity"),
        unit_price: value("UnitPrice"),
        unit_type: value("Unit"),
        date: value("Date"),
        product_code: value("ProductCode"),
        tax: value("Tax"),
        tax_rate: value("TaxRate"),
      };
    }),
    document_metadata: metadataOf(document, index),
  };
}

function toReceipt(document: JsonObject, index: number): JsonObject {
  const field = fieldsOf(document);
  return {
    customer_information: {},
    merchant_information: {
      name: field("MerchantName"),
      address: field("MerchantAddress"),
      phone: field("MerchantPhoneNumber"),
      ...addressOf(document, "MerchantAddress"),
    },
    payment_information: {
      total: field("Total"),
      subtotal: field("Subtotal"),
      total_tax: field("TotalTax"),
      amount_tip: field("Tip"),
      tax_rate: fieldsOf(elementsOf(document, "TaxDetails")[0])("Rate"),
    },
    financial_document_information: { invoice_date: field("TransactionDate"), time: field("TransactionTime") },
    local: { country: field("CountryRegion"), ...currencyOf(document, ["Total", "Subtotal", "TotalTax"]) },
    bank: {},
    item_lines: elementsOf(document, "Items").map((item) => {
      const value = fieldsOf(item);
      return {
        amount_line: value("TotalPrice"),
        description: value("Description"),
        quantity: value("Quantity"),
        unit_price: value("Price"),
        unit_type: value("QuantityUnit"),
        product_code: value("ProductCode"),
      };
    }),
    document_metadata: metadataOf(document, index),
  };
}

export const parseIdentity = createTask({
  task: "ocr/identity_parser",
  files: { maxBytes, mediaTypes: pictures },
  modelOf: () => "prebuilt-idDocument",
  toOutput: (result) =>
    toShape("ocr/identity_parser", { extracted_data: objectsIn(result["documents"]).map(toIdentity) }),
});

function toIdentity(document: JsonObject): JsonObject {
  const fields = asObject(document["fields"]);
  const told = (name: string) => {
    const value = readValue(asObject(fields[name]));
    return { value, confidence: value === null ? null : asNumber(at(fields, name, "confidence")) };
  };
  const country = findCountry(told("CountryRegion").value);
  const zone = asObject(fields["MachineReadableZone"]);
  return {
    last_name: told("LastName"),
    given_names: [told("FirstName"), told("MiddleName")].filter(({ value }) => value !== null),
    birth_place: told("PlaceOfBirth"),
    birth_date: told("DateOfBirth"),
    issuance_date: told("DateOfIssue"),
    expire_date: told("DateOfExpiration"),
    document_id: told("DocumentNumber"),
    issuing_state: told("Region").value === null ? told("IssuingAuthority") : told("Region"),
    address: told("Address"),
    country: {
      name: country?.name ?? null,
      alpha2: country?.alpha2 ?? null,
      alpha3: country?.alpha3 ?? null,
      confidence: country === null ? null : told("CountryRegion").confidence,
    },
    // `idDocument.passport` is a passport.
    document_type: {
      value: String(document["docType"] ?? "").replace(/^idDocument\.?/, ""),
      confidence: asNumber(document["confidence"]),
    },
    gender: told("Sex"),
    mrz: { value: asText(zone["content"]), confidence: asNumber(zone["confidence"]) },
    nationality: told("Nationality"),
  };
}

type Value = string | number | null;

/** The values of a document, or of one element of a list, by name. */
function fieldsOf(holder: JsonObject | undefined): (name: string) => Value {
  const fields = asObject(holder?.["fields"] ?? holder?.["valueObject"]);
  return (name) => readValue(asObject(fields[name]));
}

/** What was understood, else what was read. */
function readValue(field: JsonObject): Value {
  const read = asText(field["content"]);
  switch (field["type"]) {
    case "currency":
      return asNumber(at(field, "valueCurrency", "amount")) ?? read;
    case "number":
      return asNumber(field["valueNumber"]) ?? read;
    case "integer":
      return asNumber(field["valueInteger"]) ?? read;
    case "date":
      return asText(field["valueDate"]) ?? read;
    case "time":
      return asText(field["valueTime"]) ?? read;
    case "phoneNumber":
      return asText(field["valuePhoneNumber"]) ?? read;
    case "countryRegion":
      return asText(field["valueCountryRegion"]) ?? read;
    case "address":
      return read?.replaceAll("\n", " ") ?? null;
    default:
      return asText(field["valueString"]) ?? read;
  }
}

function elementsOf(document: JsonObject, name: string): readonly JsonObject[] {
  return objectsIn(at(document, "fields", name, "valueArray"));
}

function addressOf(document: JsonObject, name: string): JsonObject {
  const address = asObject(at(document, "fields", name, "valueAddress"));
  return {
    city: asText(address["city"]),
    country: asText(address["countryRegion"]),
    house_number: asText(address["houseNumber"]),
    province: asText(address["state"]),
    street_name: asText(address["road"]),
    zip_code: asText(address["postalCode"]),
  };
}

function currencyOf(document: JsonObject, names: readonly string[]): JsonObject {
  for (const name of names) {
    const currency = asObject(at(document, "fields", name, "valueCurrency"));
    const code = asText(currency["currencyCode"]);
    if (code !== null) return { currency_code: code, currency: asText(currency["currencySymbol"]) ?? code };
  }
  return {};
}

function metadataOf(document: JsonObject, index: number): JsonObject {
  return {
    document_index: index + 1,
    document_page_number: asNumber(at(document, "boundingRegions", 0, "pageNumber")),
    document_type: asText(document["docType"]),
  };
}
