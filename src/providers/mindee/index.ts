import type { JsonObject } from "../dialect.ts";
import { asCount, asNumber, asObject, asText, at, objectsIn } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { fileOf, filePart } from "../shapes/inputs.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { TaskCall } from "../task.ts";
import { type ProviderTask, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";
import { toCheck, toFinancialDocument, toIdentity } from "./predictions.ts";

/** Products of the vendor's first API, which reads a document within one request. */
async function toRequest(product: string, call: TaskCall): Promise<TaskRequest> {
  return {
    path: `/v1/products/mindee/${product}/predict`,
    body: { kind: "form", parts: [await filePart("document", fileOf(call))] },
  };
}

function inferenceOf({ json }: TaskResponse): JsonObject {
  const inference = at(json, "document", "inference");
  if (inference === undefined) {
    const { message, details } = asObject(at(json, "api_request", "error"));
    throw new TaskFailure(400, [message, details].flatMap((part) => asText(part) ?? []).join(": "));
  }
  return asObject(inference);
}

function unitsOf({ json }: TaskResponse) {
  return { page: Math.max(1, asCount(at(json, "document", "n_pages"))), file: 1, request: 1 };
}

const parseFinancialDocument: ProviderTask = {
  task: "ocr/financial_parser",
  docs: "https://docs.mindee.com/v1/off-the-shelf-products/financial-document-ocr",
  unsupported: ["document_type", "language"],
  toRequest: (call) => toRequest("financial_document/v1", call),
  fromResponse(answer) {
    // Each page has a prediction of its own: a file may hold several documents.
    const documents = objectsIn(inferenceOf(answer)["pages"]).map((page) =>
      toFinancialDocument(asObject(page["prediction"]), (asNumber(page["id"]) ?? 0) + 1),
    );
    return { output: toShape("ocr/financial_parser", { extracted_data: documents }), units: unitsOf(answer) };
  },
};

const parseIdentity: ProviderTask = {
  task: "ocr/identity_parser",
  docs: "https://docs.mindee.com/v1/off-the-shelf-products/passport-ocr",
  toRequest: (call) => toRequest("passport/v1", call),
  fromResponse(answer) {
    const document = toIdentity(asObject(inferenceOf(answer)["prediction"]));
    return { output: toShape("ocr/identity_parser", { extracted_data: [document] }), units: unitsOf(answer) };
  },
};

const parseBankCheck: ProviderTask = {
  task: "ocr/bank_check_parsing",
  docs: "https://docs.mindee.com/v1/off-the-shelf-products/bank-check-ocr",
  toRequest: (call) => toRequest("bank_check/v1", call),
  fromResponse(answer) {
    const document = toCheck(asObject(inferenceOf(answer)["prediction"]));
    return { output: toShape("ocr/bank_check_parsing", { extracted_data: [document] }), units: unitsOf(answer) };
  },
};

export const mindee: ProviderRow = {
  name: "mindee",
  title: "Mindee",
  docs: "https://docs.mindee.com/v1",
  baseUrl: "https://api.mindee.net",
  auth: { kind: "header", name: "authorization", prefix: "Token " },
  tasks: [parseFinancialDocument, parseIdentity, parseBankCheck],
};
