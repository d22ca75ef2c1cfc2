import { asCount, asObject, asText, at } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { toDocuments } from "../shapes/documents.ts";
import { fileOf } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { defineTask, type TaskCall, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";
import { toCheck, toFinancialDocument, toIdentity } from "./documents.ts";

/** Version 1 of the API, which responds with the result and needs no polling. */
function toRequest(product: string, call: TaskCall): Promise<TaskRequest> {
  return postForm(`/v1/products/mindee/${product}/predict`, { document: fileOf(call) });
}

/** The vendor predicts each page, too. Its prediction for the document combines the pages of one invoice. */
function predictionOf({ json }: TaskResponse): unknown {
  const inference = at(json, "document", "inference");
  if (inference !== undefined) return at(inference, "prediction");
  const { message, details } = asObject(at(json, "api_request", "error"));
  throw new TaskFailure(400, [message, details].flatMap((part) => asText(part) ?? []).join(": "));
}

function pagesOf({ json }: TaskResponse): number {
  return asCount(at(json, "document", "n_pages"));
}

const parseFinancialDocument = defineTask("ocr/financial_parser", {
  docs: "https://docs.mindee.com/v1/off-the-shelf-products/financial-document-ocr",
  unsupported: ["document_type", "language"],
  toRequest: (call) => toRequest("financial_document/v1", call),
  fromResponse: (response) =>
    toDocuments("ocr/financial_parser", [toFinancialDocument(predictionOf(response))], pagesOf(response)),
});

const parseIdentity = defineTask("ocr/identity_parser", {
  docs: "https://docs.mindee.com/v1/off-the-shelf-products/passport-ocr",
  toRequest: (call) => toRequest("passport/v1", call),
  fromResponse: (response) =>
    toDocuments("ocr/identity_parser", [toIdentity(predictionOf(response))], pagesOf(response)),
});

const parseBankCheck = defineTask("ocr/bank_check_parsing", {
  docs: "https://docs.mindee.com/v1/off-the-shelf-products/bank-check-ocr",
  toRequest: (call) => toRequest("bank_check/v1", call),
  fromResponse: (response) =>
    toDocuments("ocr/bank_check_parsing", [toCheck(predictionOf(response))], pagesOf(response)),
});

export const mindee = defineProvider("mindee", "Mindee", {
  docs: "https://docs.mindee.com/v1",
  baseUrl: "https://api.mindee.net",
  auth: { kind: "header", name: "authorization", prefix: "Token " },
  tasks: [parseFinancialDocument, parseIdentity, parseBankCheck],
});
