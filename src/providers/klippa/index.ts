import type { JsonObject } from "../dialect.ts";
import { asCount, asObject, asText, at } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { toDocuments } from "../shapes/documents.ts";
import { fileOf } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { defineTask, type TaskCall, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";
import { toFinancialDocument, toIdentity, toResume } from "./documents.ts";

function toRequest(path: string, call: TaskCall): Promise<TaskRequest> {
  return postForm(`/api/v1/parseDocument${path}`, { pdf_text_extraction: "full", document: fileOf(call) });
}

function dataOf({ json }: TaskResponse): JsonObject {
  if (at(json, "result") !== "success")
    throw new TaskFailure(400, asText(at(json, "message")) ?? "The document could not be read");
  return asObject(at(json, "data"));
}

function parsedOf(response: TaskResponse): JsonObject {
  return asObject(dataOf(response)["parsed"]);
}

function pagesOf({ json }: TaskResponse): number | null {
  return asCount(at(json, "data", "metadata", "page_count")) || null;
}

const parseFinancialDocument = defineTask("ocr/financial_parser", {
  docs: "https://custom-ocr.klippa.com/docs#/Parsing/parseDocument",
  unsupported: ["document_type", "language"],
  toRequest: (call) => toRequest("", call),
  fromResponse: (response) =>
    toDocuments("ocr/financial_parser", [toFinancialDocument(dataOf(response))], pagesOf(response)),
});

const parseIdentity = defineTask("ocr/identity_parser", {
  docs: "https://custom-ocr.klippa.com/docs#/Parsing/parseIdentityDocument",
  toRequest: (call) => toRequest("/identity", call),
  fromResponse: (response) => toDocuments("ocr/identity_parser", [toIdentity(parsedOf(response))], pagesOf(response)),
});

const parseResume = defineTask("ocr/resume_parser", {
  docs: "https://custom-ocr.klippa.com/docs#/Parsing/parseResume",
  toRequest: (call) => toRequest("/resume", call),
  fromResponse: (response) => toDocuments("ocr/resume_parser", toResume(parsedOf(response)), pagesOf(response)),
});

export const klippa = defineProvider("klippa", "Klippa", {
  docs: "https://custom-ocr.klippa.com/docs",
  baseUrl: "https://custom-ocr.klippa.com",
  auth: { kind: "header", name: "x-auth-key" },
  // They would replace the file that was checked.
  sealedParams: ["url", "document"],
  tasks: [parseFinancialDocument, parseIdentity, parseResume],
});
