import { asCount, asObject, asText, at } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { toDocuments } from "../shapes/documents.ts";
import { fileOf } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { defineTask, type TaskCall, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";
import { toCheck, toFinancialDocument, toIdentity } from "./documents.ts";

/** Version 1 of the API, which responds with the result and needs no polling. */
function toRequest(product: string, call: TaskCall): Promise<TaskRequest> {
  return postForm(`/v1/products/mindee/${product}/predict`, { document: fileOf(call) });
}

function inferenceOf({ json }: TaskResponse): unknown {
  const inference = at(json, "document", "inference");
  if (inference !== undefined) return inference;
  const { message, details } = asObject(at(json, "api_request", "error"));
  throw new TaskFailure(400, [message, details].flatMap((part) => asText(part) ?? []).join(": "));
}

function pagesOf({ json }: TaskResponse): number {
  return asCount(at(json, "document", "n_pages"));
}

const parseFinancialDocument = defineTask({
  task: "ocr/financial_parser",
  docs: "https://docs.mindee.com/v1/off-the-shelf-products/financial-document-ocr",
  unsupported: ["document_type", "language"],
  toRequest: (call) => toRequest("financial_document/v1", call),
  fromResponse(response) {
    // The vendor predicts each page, too. Its prediction for the document combines the pages of one invoice.
    const document = toFinancialDocument(at(inferenceOf(response), "prediction"));
    return toDocuments("ocr/financial_parser", [document], pagesOf(response));
  },
});

const parseIdentity = defineTask({
  task: "ocr/identity_parser",
  docs: "https://docs.mindee.com/v1/off-the-shelf-products/passport-ocr",
  toRequest: (call) => toRequest("passport/v1", call),
  fromResponse(response) {
    const document = toIdentity(at(inferenceOf(response), "prediction"));
    return toDocuments("ocr/identity_parser", [document], pagesOf(response));
  },
});

const parseBankCheck = defineTask({
  task: "ocr/bank_check_parsing",
  docs: "https://docs.mindee.com/v1/off-the-shelf-products/bank-check-ocr",
  toRequest: (call) => toRequest("bank_check/v1", call),
  fromResponse(response) {
    const document = toCheck(at(inferenceOf(response), "prediction"));
    return toDocuments("ocr/bank_check_parsing", [document], pagesOf(response));
  },
});

export const mindee: ProviderRow = {
  name: "mindee",
  title: "Mindee",
  docs: "https://docs.mindee.com/v1",
  baseUrl: "https://api.mindee.net",
  auth: { kind: "header", name: "authorization", prefix: "Token " },
  tasks: [parseFinancialDocument, parseIdentity, parseBankCheck],
};
