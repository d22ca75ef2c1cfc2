// Amazon Textract: text, invoices, receipts and identity documents. Documents with several pages are jobs on a file in a bucket.

import type { KnownOutput, TaskInput, TaskName } from "../../contract/tasks.ts";
import type { JsonObject } from "../dialect.ts";
import { asCount, asList, asNumber, asObject, asText, at, fromPercentage, objectsIn, textsIn } from "../lenient.ts";
import { type Box, nowhere } from "../shapes/boxes.ts";
import { deleteFile, type Stored, uploadFile } from "../shapes/bucket.ts";
import { pick, readAddress } from "../shapes/documents.ts";
import { fileOf, readBase64 } from "../shapes/inputs.ts";
import { type ReadCell, type ReadWord, toPages, toTables } from "../shapes/pages.ts";
import { requireValue } from "../shapes/require-value.ts";
import { toShape } from "../shapes/to-shape.ts";
import { type ProviderTask, type ProviderTaskCall, TaskFailure, type TaskRequest, type TaskResult } from "../task.ts";
import { readBox, toAwsRequest } from "./aws-json.ts";
import { bucketSettings, s3 } from "./bucket.ts";

const docs = "https://docs.aws.amazon.com/textract/latest/dg/";
const mediaTypes = ["image/jpeg", "image/png", "image/tiff", "application/pdf"];

interface Mapping<Name extends TaskName, Output> {
  readonly operation: string;
  readonly unsupported?: readonly (keyof TaskInput<Name>)[];
  readonly toBody?: (document: JsonObject) => JsonObject;
  toOutput(response: JsonObject, input: TaskInput<Name>): KnownOutput<Name, Output>;
}

interface JobMapping {
  /** The part of the operation's name after `Start` and `Get`. */
  readonly operation: string;
  readonly more?: JsonObject;
  fromBlocks(blocks: readonly JsonObject[], pageCount: number): TaskResult;
}

export const documentTasks: readonly ProviderTask[] = [
  createTask("ocr/ocr", {
    operation: "DetectDocumentText",
    unsupported: ["language"],
    toOutput: ({ Blocks }) => ({
      text: textsIn(blocksOf(objectsIn(Blocks), "LINE"), "Text").join(" "),
      bounding_boxes: blocksOf(objectsIn(Blocks), "WORD").map((word) => ({
        text: asText(word["Text"]),
        ...(boxOf(word) ?? nowhere),
      })),
    }),
  }),
  createTask("ocr/financial_parser", {
    operation: "AnalyzeExpense",
    unsupported: ["document_type", "language"],
    toOutput: ({ ExpenseDocuments }, input) =>
      toShape("ocr/financial_parser", {
        extracted_data: objectsIn(ExpenseDocuments).map((document, index) =>
          toFinancialDocument(document, index, input.document_type),
        ),
      }),
  }),
  createTask("ocr/identity_parser", {
    operation: "AnalyzeID",
    toBody: (document) => ({ DocumentPages: [document] }),
    toOutput: ({ IdentityDocuments }) =>
      toShape("ocr/identity_parser", { extracted_data: objectsIn(IdentityDocuments).map(toIdentity) }),
  }),
  createJob("ocr/ocr_async", {
    operation: "DocumentTextDetection",
    fromBlocks: (blocks, pageCount) => {
      const children = findChildren(blocks);
      const lines = blocksOf(blocks, "LINE");
      const pages = splitPages(lines, pageCount).map((page) =>
        page.map((line) => ({ ...toWord(line), words: children(line, "WORD").map(toWord) })),
      );
      return toPages(textsIn(lines, "Text").join("\n"), pages);
    },
  }),
  createJob("ocr/ocr_tables_async", {
    operation: "DocumentAnalysis",
    more: { FeatureTypes: ["TABLES"] },
    fromBlocks: (blocks, pageCount) => {
      const children = findChildren(blocks);
      const pages = splitPages(blocksOf(blocks, "TABLE"), pageCount).map((page) =>
        page.map((table) => children(table, "CELL").map((cell) => toCell(cell, children(cell, "WORD")))),
      );
      return toTables(pages);
    },
  }),
];

function createTask<const Name extends TaskName, Output extends JsonObject>(
  task: Name,
  { operation, toBody, toOutput, unsupported = [] }: Mapping<Name, Output>,
): ProviderTask {
  return {
    task,
    docs: `${docs}API_${operation}.html`,
    service: "textract",
    // https://docs.aws.amazon.com/textract/latest/dg/limits-document.html; a PDF or TIFF may have one page.
    files: { maxBytes: 10 * 1_048_576, mediaTypes },
    unsupported: unsupported.map(String),
    toRequest: async (call) => {
      const document = { Bytes: await readBase64(fileOf(call)) };
      return toAwsRequest(`Textract.${operation}`, toBody?.(document) ?? { Document: document });
    },
    fromResponse: ({ json }, { input }: ProviderTaskCall<TaskInput<Name>>) => ({
      output: toOutput(asObject(json), input),
      units: { page: countPages(json), request: 1 },
    }),
  };
}

/** Textract sends the blocks of a document in several answers; `portions` are those of the answers before the current one. */
interface JobState extends Stored {
  readonly job?: string;
  readonly portions?: readonly (readonly JsonObject[])[];
}

function createJob(task: TaskName, { operation, more = {}, fromBlocks }: JobMapping): ProviderTask {
  const toPoll = (state: JobState, nextToken: string | null): TaskRequest => ({
    ...toAwsRequest(`Textract.Get${operation}`, { JobId: state.job, ...(nextToken && { NextToken: nextToken }) }),
    state,
  });
  return {
    task,
    docs: `${docs}API_Start${operation}.html`,
    service: "textract",
    requiredSettings: bucketSettings,
    // A repeated token does not start the work again: https://docs.aws.amazon.com/textract/latest/dg/api-async.html
    isIdempotent: true,
    // https://docs.aws.amazon.com/textract/latest/dg/limits-document.html
    files: { maxBytes: 500 * 1_048_576, mediaTypes },
    toRequest: (call) => uploadFile(s3, call),
    next(response, call, request) {
      const state = request.state as JobState;
      if (request.service === "s3") {
        const DocumentLocation = { S3Object: { Bucket: call.settings["bucket"], Name: state.key } };
        const value = { DocumentLocation, ClientRequestToken: state.token, ...more };
        return { ...toAwsRequest(`Textract.Start${operation}`, value), state, acceptsProviderParams: true };
      }
      const { json } = response;
      if (state.job === undefined) {
        const job = requireValue(asText(at(json, "JobId")), "job");
        return { ...toPoll({ ...state, job }, null), waitMs: "growing" };
      }
      const { JobStatus, StatusMessage, NextToken } = asObject(json);
      if (JobStatus === "IN_PROGRESS") return { ...request, waitMs: "growing" };
      if (JobStatus === "FAILED") throw new TaskFailure(400, asText(StatusMessage) ?? "the document was not read");
      const nextToken = asText(NextToken);
      return nextToken === null ? null : toPoll({ ...state, portions: portionsOf(state, json) }, nextToken);
    },
    fromResponse: ({ json }, _call, { state }) =>
      fromBlocks(portionsOf(state as JobState | undefined, json).flat(), countPages(json)),
    cleanUpRequests: (call, request) => deleteFile(s3, call, request),
  };
}

function portionsOf(state: JobState | undefined, json: unknown): readonly (readonly JsonObject[])[] {
  return [...(state?.portions ?? []), objectsIn(at(json, "Blocks"))];
}

function countPages(json: unknown): number {
  return Math.max(1, asCount(at(json, "DocumentMetadata", "Pages")));
}

function blocksOf(blocks: readonly JsonObject[], type: string): readonly JsonObject[] {
  return blocks.filter(({ BlockType }) => BlockType === type);
}

function findChildren(blocks: readonly JsonObject[]): (block: JsonObject, type: string) => readonly JsonObject[] {
  const byId = new Map(blocks.map((block) => [block["Id"], block]));
  return ({ Relationships }, type) => {
    const relations = objectsIn(Relationships).filter(({ Type }) => Type === "CHILD");
    const ids = relations.flatMap(({ Ids }) => asList(Ids));
    return blocksOf(
      ids.map((id) => byId.get(id) ?? {}),
      type,
    );
  };
}

/** A document with one page has no page numbers. */
function splitPages(blocks: readonly JsonObject[], pageCount: number): readonly JsonObject[][] {
  const pages: JsonObject[][] = Array.from({ length: pageCount }, () => []);
  for (const block of blocks) pages[(asNumber(block["Page"]) ?? 1) - 1]?.push(block);
  return pages;
}

function toWord(block: JsonObject): ReadWord {
  const { Text, Confidence } = block;
  return { text: asText(Text) ?? "", box: boxOf(block), confidence: fromPercentage(Confidence) };
}

function toCell(cell: JsonObject, words: readonly JsonObject[]): ReadCell {
  const { RowIndex, ColumnIndex, RowSpan, ColumnSpan, Confidence, EntityTypes } = cell;
  return {
    text: textsIn(words, "Text").join(" ") || null,
    row_index: Math.max(0, (asNumber(RowIndex) ?? 1) - 1),
    col_index: Math.max(0, (asNumber(ColumnIndex) ?? 1) - 1),
    row_span: asNumber(RowSpan) ?? 1,
    col_span: asNumber(ColumnSpan) ?? 1,
    box: boxOf(cell),
    confidence: fromPercentage(Confidence),
    is_header: asList(EntityTypes).includes("COLUMN_HEADER"),
  };
}

function boxOf(block: JsonObject): Box | null {
  return readBox(at(block, "Geometry", "BoundingBox"));
}

/** https://docs.aws.amazon.com/textract/latest/dg/invoices-receipts.html lists the standard fields. */
function toFinancialDocument(document: JsonObject, index: number, documentType: string) {
  const summary = objectsIn(document["SummaryFields"]);
  const field = fieldsOf(summary);
  const ofGroups = (...groups: readonly string[]) => fieldsOf(summary.filter((found) => isInGroup(found, groups)));
  const billTo = ofGroups("RECEIVER_BILL_TO");
  return {
    customer_information: {
      name: field("receiver_name") ?? billTo("name"),
      mailling_address: field("receiver_address"),
      billing_address: billTo("address"),
      shipping_address: ofGroups("RECEIVER_SHIP_TO")("address"),
      customer_number: field("customer_number"),
      ...toParty("receiver", field, ofGroups("RECEIVER", "RECEIVER_BILL_TO", "RECEIVER_SOLD_TO")),
    },
    merchant_information: {
      name: field("vendor_name"),
      address: field("vendor_address") ?? ofGroups("VENDOR_REMIT_TO")("address"),
      tax_id: field("tax_payer_id"),
      website: field("vendor_url"),
      ...toParty("vendor", field, ofGroups("VENDOR", "VENDOR_SUPPLIER")),
    },
    payment_information: {
      total_tax: field("tax"),
      ...pick(field, ["amount_due", "amount_paid", "total", "subtotal", "discount", "gratuity", "service_charge"]),
      ...pick(field, ["prior_balance", "payment_terms", "shipping_handling_charge"]),
    },
    financial_document_information: {
      purchase_order: field("po_number"),
      invoice_date: field("invoice_receipt_date"),
      invoice_due_date: field("due_date"),
      ...pick(field, ["invoice_receipt_id", "order_date"]),
    },
    local: {
      currency_code: summary.map((found) => asText(at(found, "Currency", "Code"))).find((code) => code !== null),
      country: field("country"),
    },
    bank: { account_number: field("account_number") },
    item_lines: objectsIn(document["LineItemGroups"]).flatMap(({ LineItems }) => objectsIn(LineItems).map(toItemLine)),
    document_metadata: {
      document_index: asNumber(document["ExpenseIndex"]) ?? index + 1,
      document_page_number: asNumber(summary[0]?.["PageNumber"]),
      document_type: documentType,
    },
  };
}

type Fields = (type: string) => string | undefined;

/** The most certain value of each type; the first one when several are equally certain. */
function fieldsOf(found: readonly JsonObject[]): Fields {
  const values = new Map<string, { readonly text: string; readonly confidence: number }>();
  for (const { Type, ValueDetection } of found) {
    const [type, text] = [asText(at(Type, "Text")), asText(at(ValueDetection, "Text"))];
    const confidence = asNumber(at(ValueDetection, "Confidence")) ?? 0;
    if (type === null || text === null || confidence <= (values.get(type)?.confidence ?? -1)) continue;
    values.set(type, { text, confidence });
  }
  return (type) => values.get(type.toUpperCase())?.text;
}

function isInGroup({ GroupProperties }: JsonObject, groups: readonly string[]): boolean {
  return objectsIn(GroupProperties).some(({ Types }) => groups.some((group) => asList(Types).includes(group)));
}

function toParty(party: "receiver" | "vendor", field: Fields, addressField: Fields) {
  const members = ["phone", "vat_number", "abn_number", "gst_number", "pan_number"] as const;
  return {
    ...pick((member) => field(`${party}_${member}`), members),
    ...readAddress(addressField, { street_name: "street", province: "state" }),
  };
}

function toItemLine({ LineItemExpenseFields }: JsonObject) {
  return pick(
    fieldsOf(objectsIn(LineItemExpenseFields)),
    ["description", "quantity", "amount_line", "unit_price", "product_code"],
    { description: "item", amount_line: "price" },
  );
}

interface Field {
  readonly value: string | null;
  readonly confidence: number | null;
}

function toIdentity({ IdentityDocumentFields }: JsonObject) {
  const fields = new Map<unknown, Field>();
  for (const { Type, ValueDetection } of objectsIn(IdentityDocumentFields)) {
    const { NormalizedValue, Text, Confidence } = asObject(ValueDetection);
    const value = asText(at(NormalizedValue, "Value")) ?? asText(Text);
    if (value !== null) fields.set(at(Type, "Text"), { value, confidence: fromPercentage(Confidence) });
  }
  const field = (type: string): Field => fields.get(type) ?? { value: null, confidence: null };
  const address = ["ADDRESS", "CITY_IN_ADDRESS", "STATE_IN_ADDRESS", "ZIP_CODE_IN_ADDRESS"].map(field);
  return {
    last_name: field("LAST_NAME"),
    given_names: [field("FIRST_NAME"), field("MIDDLE_NAME")].filter(({ value }) => value !== null),
    birth_place: field("PLACE_OF_BIRTH"),
    birth_date: toDay(field("DATE_OF_BIRTH")),
    issuance_date: toDay(field("DATE_OF_ISSUE")),
    expire_date: toDay(field("EXPIRATION_DATE")),
    document_id: field("DOCUMENT_NUMBER"),
    issuing_state: field("STATE_NAME"),
    address: { value: address.flatMap(({ value }) => value ?? []).join(" "), confidence: field("ADDRESS").confidence },
    document_type: field("ID_TYPE"),
    mrz: field("MRZ_CODE"),
  };
}

/** `1990-04-12` for `1990-04-12T00:00:00`. */
function toDay({ value, confidence }: Field): Field {
  return { value: value?.split("T00:00:00", 1)[0] ?? null, confidence };
}
