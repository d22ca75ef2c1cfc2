// Azure AI Document Intelligence.
// https://learn.microsoft.com/en-us/azure/ai-services/document-intelligence/prebuilt/invoice lists the fields of invoices; receipts and
// identity documents have pages beside it.

import type { KnownOutput, TaskInput, TaskName } from "../../contract/tasks.ts";
import { firstFrom } from "../../lib/first-from.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asObject, asScore, asString, asText, at, finiteNumber, objectsIn } from "../lenient.ts";
import { type Box, boxAround, nowhere } from "../shapes/boxes.ts";
import { findCountry } from "../shapes/countries.ts";
import { readAddress } from "../shapes/documents.ts";
import { fileOf, languageOf } from "../shapes/inputs.ts";
import { type ReadCell, type ReadLine, type ReadWord, toPages, toTables } from "../shapes/pages.ts";
import { requireValue } from "../shapes/require-value.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { ProviderTask, ProviderTaskCall } from "../task.ts";
import { pollOperation } from "./operation.ts";

const version = { "api-version": "2024-11-30" };
// https://learn.microsoft.com/en-us/azure/ai-services/document-intelligence/service-limits, for a paid resource.
const maxBytes = 500 * 1_000_000;
const imageTypes = ["jpeg", "png", "bmp", "x-ms-bmp", "tiff", "heic", "heif"].map((type) => `image/${type}`);
const officeTypes = ["wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation"].map(
  (type) => `application/vnd.openxmlformats-officedocument.${type}`,
);
const textTypes = [...officeTypes, "text/html"];

interface Mapping<Name extends TaskName, Output> {
  readonly modelOf: (input: TaskInput<Name>) => string;
  readonly otherTypes?: readonly string[];
  toOutput(result: JsonObject): KnownOutput<Name, Output>;
}

export const documentTasks: readonly ProviderTask[] = [
  createTask("ocr/ocr", {
    modelOf: () => "prebuilt-read",
    otherTypes: textTypes,
    toOutput: ({ content, pages }) => ({
      text: asString(content),
      bounding_boxes: objectsIn(pages).flatMap((page) =>
        objectsIn(page["words"]).map(({ content, polygon }) => ({
          text: asText(content),
          ...(boxOn(page, polygon) ?? nowhere),
        })),
      ),
    }),
  }),
  createTask("ocr/financial_parser", {
    modelOf: (input) => (input.document_type === "receipt" ? "prebuilt-receipt" : "prebuilt-invoice"),
    toOutput: ({ documents }) =>
      toShape("ocr/financial_parser", { extracted_data: objectsIn(documents).map(toFinancialDocument) }),
  }),
  createTask("ocr/identity_parser", {
    modelOf: () => "prebuilt-idDocument",
    toOutput: ({ documents }) =>
      toShape("ocr/identity_parser", { extracted_data: objectsIn(documents).map(toIdentity) }),
  }),
  createTask("ocr/ocr_async", {
    modelOf: () => "prebuilt-read",
    toOutput: ({ content, pages }) => toPages(asString(content), objectsIn(pages).map(toLines)).output,
  }),
  createTask("ocr/ocr_tables_async", {
    modelOf: () => "prebuilt-layout",
    toOutput: ({ pages, tables }) => {
      const byPage = Map.groupBy(objectsIn(tables), (table) => at(table, "boundingRegions", 0, "pageNumber"));
      return toTables(
        objectsIn(pages).map((page) =>
          (byPage.get(page["pageNumber"]) ?? []).map(({ cells }) => objectsIn(cells).map((cell) => toCell(cell, page))),
        ),
      ).output;
    },
  }),
];

function createTask<const Name extends TaskName, Output extends JsonObject>(
  task: Name,
  { modelOf, otherTypes = [], toOutput }: Mapping<Name, Output>,
): ProviderTask {
  type Call = ProviderTaskCall<TaskInput<Name>>;
  const pathOf = ({ input }: Call) => `/documentintelligence/documentModels/${modelOf(input)}`;
  return {
    task,
    docs: "https://learn.microsoft.com/en-us/rest/api/aiservices/document-models/analyze-document-from-stream",
    files: { maxBytes, mediaTypes: ["application/pdf", ...imageTypes, ...otherTypes] },
    toRequest: async (call: Call) => ({
      path: `${pathOf(call)}:analyze`,
      query: { ...version, stringIndexType: "unicodeCodePoint", locale: languageOf(call) },
      body: { kind: "bytes", bytes: await fileOf(call).read(), mediaType: "application/octet-stream" },
    }),
    next: (response, call: Call, request) =>
      pollOperation(response, request, (id) => ({ path: `${pathOf(call)}/analyzeResults/${id}`, query: version })),
    fromResponse: ({ json }) => {
      const result = requireValue(at(json, "analyzeResult"), "result");
      const pages = Math.max(1, asList(at(result, "pages")).length);
      return { output: toOutput(asObject(result)), units: { page: pages, request: 1 } };
    },
  };
}

/** Positions are inches in documents and pixels in images: relative to the page they are the same. */
function boxOn({ width, height }: JsonObject, polygon: unknown): Box | null {
  return boxAround(asList(polygon), width, height);
}

function toWord({ content, polygon, confidence }: JsonObject, page: JsonObject): ReadWord {
  return { text: asString(content), box: boxOn(page, polygon), confidence: asScore(confidence) };
}

function toLines(page: JsonObject): readonly ReadLine[] {
  const words = objectsIn(page["words"])
    .map((word) => ({ offset: asNumber(at(word, "span", "offset")) ?? -1, word: toWord(word, page) }))
    .sort((one, another) => one.offset - another.offset);
  const firstWordFrom = (from: number) => firstFrom(words, from, ({ offset }) => offset);
  return objectsIn(page["lines"]).map((line) => {
    // A word belongs to the line in whose span of the text it begins.
    const own = objectsIn(line["spans"]).flatMap(({ offset, length }) => {
      const start = asNumber(offset) ?? 0;
      return words.slice(firstWordFrom(start), firstWordFrom(start + (asNumber(length) ?? 0)));
    });
    return { ...toWord(line, page), words: own.map(({ word }) => word) };
  });
}

function toCell(cell: JsonObject, page: JsonObject): ReadCell {
  return {
    text: asText(cell["content"]),
    row_index: asNumber(cell["rowIndex"]) ?? 0,
    col_index: asNumber(cell["columnIndex"]) ?? 0,
    row_span: asNumber(cell["rowSpan"]) ?? 1,
    col_span: asNumber(cell["columnSpan"]) ?? 1,
    box: boxOn(page, at(cell, "boundingRegions", 0, "polygon")),
    confidence: null,
    is_header: cell["kind"] === "columnHeader",
  };
}

function toFinancialDocument(document: JsonObject, index: number) {
  const isReceipt = asString(document["docType"]).startsWith("receipt");
  return {
    ...(isReceipt ? toReceipt(document) : toInvoice(document)),
    document_metadata: {
      document_index: index + 1,
      document_page_number: asNumber(at(document, "boundingRegions", 0, "pageNumber")),
      document_type: asText(document["docType"]),
    },
  };
}

function toInvoice(document: JsonObject) {
  const field = fieldsOf(document);
  const payment = fieldsOf(elementsOf(document, "PaymentDetails")[0]);
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
      ...addressOf(document, "CustomerAddress"),
    },
    merchant_information: {
      name: field("VendorName"),
      address: field("VendorAddress"),
      tax_id: field("VendorTaxId"),
      coc_number: field("KVKNumber"),
      ...addressOf(document, "VendorAddress"),
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
    local: currencyOf(document, ["InvoiceTotal", "AmountDue", "SubTotal", "TotalTax"]),
    bank: { iban: payment("IBAN"), swift: payment("SWIFT"), account_number: payment("BankAccountNumber") },
    item_lines: elementsOf(document, "Items").map((item) => ({
      ...toItemLine(item, "Amount", "UnitPrice", "Unit"),
      date: fieldsOf(item)("Date"),
      tax: fieldsOf(item)("Tax"),
      tax_rate: fieldsOf(item)("TaxRate"),
    })),
  };
}

function toReceipt(document: JsonObject) {
  const field = fieldsOf(document);
  return {
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
    item_lines: elementsOf(document, "Items").map((item) => toItemLine(item, "TotalPrice", "Price", "QuantityUnit")),
  };
}

function toItemLine(item: JsonObject, ...[amount, unitPrice, unit]: readonly [string, string, string]) {
  const field = fieldsOf(item);
  return {
    amount_line: field(amount),
    unit_price: field(unitPrice),
    unit_type: field(unit),
    description: field("Description"),
    quantity: field("Quantity"),
    product_code: field("ProductCode"),
  };
}

function toIdentity({ fields, docType, confidence }: JsonObject) {
  const field = (name: string) => {
    const value = readValue(at(fields, name));
    return { value, confidence: value === null ? null : asNumber(at(fields, name, "confidence")) };
  };
  const country = findCountry(field("CountryRegion").value);
  const zone = asObject(at(fields, "MachineReadableZone"));
  return {
    last_name: field("LastName"),
    given_names: [field("FirstName"), field("MiddleName")].filter(({ value }) => value !== null),
    birth_place: field("PlaceOfBirth"),
    birth_date: field("DateOfBirth"),
    issuance_date: field("DateOfIssue"),
    expire_date: field("DateOfExpiration"),
    document_id: field("DocumentNumber"),
    issuing_state: field("Region").value === null ? field("IssuingAuthority") : field("Region"),
    address: field("Address"),
    country: { ...country, confidence: country && field("CountryRegion").confidence },
    // `idDocument.passport` is a passport.
    document_type: { value: asString(docType).replace(/^idDocument\.?/, ""), confidence: asNumber(confidence) },
    gender: field("Sex"),
    mrz: { value: asText(zone["content"]), confidence: asNumber(zone["confidence"]) },
    nationality: field("Nationality"),
  };
}

/** The values of a document, or of one element of a list, by name. */
function fieldsOf(holder: JsonObject | undefined): (name: string) => string | number | null {
  const fields = holder?.["fields"] ?? holder?.["valueObject"];
  return (name) => readValue(at(fields, name));
}

/** The member with the parsed value, by the type of a field. */
const valueMembers: Readonly<Record<string, string>> = {
  number: "valueNumber",
  integer: "valueInteger",
  date: "valueDate",
  time: "valueTime",
  phoneNumber: "valuePhoneNumber",
  countryRegion: "valueCountryRegion",
};

/** The parsed value, or the text as it is on the page. */
function readValue(value: unknown): string | number | null {
  const field = asObject(value);
  const content = asText(field["content"]);
  const type = asString(field["type"]);
  if (type === "address") return content?.replaceAll("\n", " ") ?? null;
  if (type === "currency") return asNumber(at(field, "valueCurrency", "amount")) ?? content;
  const parsed = field[lookUp(valueMembers, type) ?? "valueString"];
  return finiteNumber(parsed) ?? asText(parsed) ?? content;
}

function elementsOf(document: JsonObject, name: string): readonly JsonObject[] {
  return objectsIn(at(document, "fields", name, "valueArray"));
}

function addressOf(document: JsonObject, name: string) {
  const address = asObject(at(document, "fields", name, "valueAddress"));
  return readAddress((part) => asText(address[part]), {
    street_name: "road",
    house_number: "houseNumber",
    zip_code: "postalCode",
    province: "state",
    country: "countryRegion",
  });
}

function currencyOf(document: JsonObject, names: readonly string[]) {
  for (const name of names) {
    const { currencyCode, currencySymbol } = asObject(at(document, "fields", name, "valueCurrency"));
    const code = asText(currencyCode);
    if (code !== null) return { currency_code: code, currency: asText(currencySymbol) ?? code };
  }
  return {};
}
