// Amazon Textract: the text of a page, invoices and receipts, identity papers.

import type { JsonObject } from "../dialect.ts";
import { asCount, asNumber, asObject, asText, at, fromPercentage, objectsIn } from "../lenient.ts";
import { fileOf } from "../shapes/inputs.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { FileLimits, ProviderTask, TaskCall, TaskResponse } from "../task.ts";
import { toAwsRequest } from "./aws-json.ts";

const docs = "https://docs.aws.amazon.com/textract/latest/dg/";

// https://docs.aws.amazon.com/textract/latest/dg/limits-document.html; a PDF or TIFF may have one page.
const files: FileLimits = {
  maxBytes: 10 * 1_048_576,
  mediaTypes: ["image/jpeg", "image/png", "image/tiff", "application/pdf"],
};

export const readText: ProviderTask = {
  task: "ocr/ocr",
  docs: `${docs}API_DetectDocumentText.html`,
  unsupported: ["language"],
  service: "textract",
  files,
  toRequest: async (call) => toAwsRequest("Textract.DetectDocumentText", { Document: await readDocument(call) }),
  fromResponse: (answer) => {
    const blocks = objectsIn(asObject(answer.json)["Blocks"]);
    const lines = blocks.filter(({ BlockType }) => BlockType === "LINE").map(({ Text }) => asText(Text) ?? "");
    const words = blocks.filter(({ BlockType }) => BlockType === "WORD");
    return { output: { text: lines.join(" "), bounding_boxes: words.map(toBox) }, units: countPages(answer) };
  },
};

function toBox(block: JsonObject): JsonObject {
  const box = asObject(at(block, "Geometry", "BoundingBox"));
  return {
    text: asText(block["Text"]),
    left: asNumber(box["Left"]),
    top: asNumber(box["Top"]),
    width: asNumber(box["Width"]),
    height: asNumber(box["Height"]),
  };
}

export const parseFinancialDocument: ProviderTask = {
  task: "ocr/financial_parser",
  docs: `${docs}API_AnalyzeExpense.html`,
  unsupported: ["document_type", "language"],
  service: "textract",
  files,
  toRequest: async (call) => toAwsRequest("Textract.AnalyzeExpense", { Document: await readDocument(call) }),
  fromResponse: (answer, call) => {
    const documents = objectsIn(asObject(answer.json)["ExpenseDocuments"]);
    const extracted_data = documents.map((document, index) => toFinancialDocument(document, index, call));
    return { output: toShape("ocr/financial_parser", { extracted_data }), units: countPages(answer) };
  },
};

type Fields = Readonly<Record<string, string | undefined>>;

/** https://docs.aws.amazon.com/textract/latest/dg/invoices-receipts.html has the list of standard fields. */
function toFinancialDocument(document: JsonObject, index: number, call: TaskCall): JsonObject {
  const summary = objectsIn(document["SummaryFields"]);
  const fields = readFields(summary);
  const vendor = readFields(summary, ["VENDOR", "VENDOR_SUPPLIER"]);
  const receiver = readFields(summary, ["RECEIVER", "RECEIVER_BILL_TO", "RECEIVER_SOLD_TO"]);
  const billed = readFields(summary, ["RECEIVER_BILL_TO"]);
  const shipped = readFields(summary, ["RECEIVER_SHIP_TO"]);
  const remitted = readFields(summary, ["VENDOR_REMIT_TO"]);
  const lines = objectsIn(document["LineItemGroups"]).flatMap((group) => objectsIn(group["LineItems"]));
  return {
    customer_information: {
      name: fields["RECEIVER_NAME"] ?? billed["NAME"],
      mailling_address: fields["RECEIVER_ADDRESS"],
      billing_address: billed["ADDRESS"],
      shipping_address: shipped["ADDRESS"],
      phone: fields["RECEIVER_PHONE"],
      vat_number: fields["RECEIVER_VAT_NUMBER"],
      abn_number: fields["RECEIVER_ABN_NUMBER"],
      gst_number: fields["RECEIVER_GST_NUMBER"],
      pan_number: fields["RECEIVER_PAN_NUMBER"],
      customer_number: fields["CUSTOMER_NUMBER"],
      ...placeOf(receiver),
    },
    merchant_information: {
      name: fields["VENDOR_NAME"],
      address: fields["VENDOR_ADDRESS"] ?? remitted["ADDRESS"],
      phone: fields["VENDOR_PHONE"],
      tax_id: fields["TAX_PAYER_ID"],
      vat_number: fields["VENDOR_VAT_NUMBER"],
      abn_number: fields["VENDOR_ABN_NUMBER"],
      gst_number: fields["VENDOR_GST_NUMBER"],
      pan_number: fields["VENDOR_PAN_NUMBER"],
      website: fields["VENDOR_URL"],
      ...placeOf(vendor),
    },
    payment_information: {
      amount_due: fields["AMOUNT_DUE"],
      amount_paid: fields["AMOUNT_PAID"],
      total: fields["TOTAL"],
      subtotal: fields["SUBTOTAL"],
      total_tax: fields["TAX"],
      discount: fields["DISCOUNT"],
      gratuity: fields["GRATUITY"],
      service_charge: fields["SERVICE_CHARGE"],
      prior_balance: fields["PRIOR_BALANCE"],
      payment_terms: fields["PAYMENT_TERMS"],
      shipping_handling_charge: fields["SHIPPING_HANDLING_CHARGE"],
    },
    financial_document_information: {
      invoice_receipt_id: fields["INVOICE_RECEIPT_ID"],
      purchase_order: fields["PO_NUMBER"],
      invoice_date: fields["INVOICE_RECEIPT_DATE"],
      invoice_due_date: fields["DUE_DATE"],
      order_date: fields["ORDER_DATE"],
    },
    local: { currency_code: currencyOf(summary), country: fields["COUNTRY"] },
    bank: { account_number: fields["ACCOUNT_NUMBER"] },
    item_lines: lines.map(toItemLine),
    document_metadata: {
      document_index: asNumber(document["ExpenseIndex"]) ?? index + 1,
      document_page_number: asNumber(summary[0]?.["PageNumber"]),
      document_type: String(call.input["document_type"] ?? ""),
    },
  };
}

/** The most certain of each type; `groups`: among those that belong to one of these. */
function readFields(all: readonly JsonObject[], groups: readonly string[] = []): Fields {
  const found = new Map<string, { readonly text: string; readonly confidence: number }>();
  for (const field of all) {
    const type = asText(at(field, "Type", "Text"));
    const text = asText(at(field, "ValueDetection", "Text"));
    if (type === null || text === null || !isAmong(field, groups)) continue;
    const confidence = asNumber(at(field, "ValueDetection", "Confidence")) ?? 0;
    const before = found.get(type);
    if (before === undefined || confidence > before.confidence) found.set(type, { text, confidence });
  }
  return Object.fromEntries([...found].map(([type, { text }]) => [type, text]));
}

function isAmong(field: JsonObject, groups: readonly string[]): boolean {
  if (groups.length === 0) return true;
  return objectsIn(field["GroupProperties"]).some(({ Types }) =>
    groups.some((group) => Array.isArray(Types) && Types.includes(group)),
  );
}

function placeOf(fields: Fields): JsonObject {
  return {
    city: fields["CITY"],
    country: fields["COUNTRY"],
    province: fields["STATE"],
    street_name: fields["STREET"],
    zip_code: fields["ZIP_CODE"],
  };
}

function currencyOf(fields: readonly JsonObject[]): string | null {
  for (const field of fields) {
    const code = asText(at(field, "Currency", "Code"));
    if (code !== null) return code;
  }
  return null;
}

function toItemLine(line: JsonObject): JsonObject {
  const fields = readFields(objectsIn(line["LineItemExpenseFields"]));
  return {
    description: fields["ITEM"],
    quantity: fields["QUANTITY"],
    amount_line: fields["PRICE"],
    unit_price: fields["UNIT_PRICE"],
    product_code: fields["PRODUCT_CODE"],
  };
}

export const parseIdentity: ProviderTask = {
  task: "ocr/identity_parser",
  docs: `${docs}API_AnalyzeID.html`,
  service: "textract",
  files,
  toRequest: async (call) => toAwsRequest("Textract.AnalyzeID", { DocumentPages: [await readDocument(call)] }),
  fromResponse: (answer) => {
    const documents = objectsIn(asObject(answer.json)["IdentityDocuments"]);
    const output = toShape("ocr/identity_parser", { extracted_data: documents.map(toIdentity) });
    return { output, units: countPages(answer) };
  },
};

interface Told {
  readonly value: string | null;
  readonly confidence: number | null;
}

const nothing: Told = { value: null, confidence: null };

function toIdentity(document: JsonObject): JsonObject {
  const fields = new Map<string, Told>();
  for (const field of objectsIn(document["IdentityDocumentFields"])) {
    const detection = asObject(field["ValueDetection"]);
    const value = asText(at(detection, "NormalizedValue", "Value")) ?? asText(detection["Text"]);
    const type = asText(at(field, "Type", "Text"));
    if (type !== null && value !== null)
      fields.set(type, { value, confidence: fromPercentage(detection["Confidence"]) });
  }
  const told = (type: string) => fields.get(type) ?? nothing;
  const address = ["ADDRESS", "CITY_IN_ADDRESS", "STATE_IN_ADDRESS", "ZIP_CODE_IN_ADDRESS"].map(told);
  return {
    last_name: told("LAST_NAME"),
    given_names: [told("FIRST_NAME"), told("MIDDLE_NAME")].filter(({ value }) => value !== null),
    birth_place: told("PLACE_OF_BIRTH"),
    birth_date: toDay(told("DATE_OF_BIRTH")),
    issuance_date: toDay(told("DATE_OF_ISSUE")),
    expire_date: toDay(told("EXPIRATION_DATE")),
    document_id: told("DOCUMENT_NUMBER"),
    issuing_state: told("STATE_NAME"),
    address: {
      value: address.flatMap(({ value }) => (value === null ? [] : [value])).join(" "),
      confidence: told("ADDRESS").confidence,
    },
    document_type: told("ID_TYPE"),
    mrz: told("MRZ_CODE"),
  };
}

/** `1990-04-12` for `1990-04-12T00:00:00`. */
function toDay({ value, confidence }: Told): Told {
  return { value: value?.split("T00:00:00", 1)[0] ?? null, confidence };
}

async function readDocument(call: TaskCall): Promise<JsonObject> {
  return { Bytes: Buffer.from(await fileOf(call).read()).toString("base64") };
}

function countPages(answer: TaskResponse): { readonly page: number; readonly request: number } {
  return { page: Math.max(1, asCount(at(answer.json, "DocumentMetadata", "Pages"))), request: 1 };
}
