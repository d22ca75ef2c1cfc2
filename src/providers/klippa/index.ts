import type { JsonObject } from "../dialect.ts";
import { asCount, asObject, asText, at } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { fileOf, filePart } from "../shapes/inputs.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { TaskCall } from "../task.ts";
import { type ProviderTask, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";
import { toFinancialDocument } from "./financial.ts";
import { toIdentity } from "./identity.ts";
import { toResume } from "./resume.ts";

async function toRequest(path: string, call: TaskCall): Promise<TaskRequest> {
  const parts = [{ name: "pdf_text_extraction", value: "full" }, await filePart("document", fileOf(call))];
  return { path: `/api/v1/parseDocument${path}`, body: { kind: "form", parts } };
}

function dataOf({ json }: TaskResponse): JsonObject {
  if (at(json, "result") !== "success")
    throw new TaskFailure(400, asText(at(json, "message")) ?? "The document could not be read");
  return asObject(at(json, "data"));
}

function unitsOf(answer: TaskResponse) {
  const pages = asCount(at(answer.json, "data", "metadata", "page_count"));
  return { file: 1, request: 1, ...(pages > 0 && { page: pages }) };
}

const parseFinancialDocument: ProviderTask = {
  task: "ocr/financial_parser",
  docs: "https://custom-ocr.klippa.com/docs#/Parsing/parseDocument",
  unsupported: ["document_type", "language"],
  toRequest: (call) => toRequest("", call),
  fromResponse(answer) {
    const document = toFinancialDocument(dataOf(answer));
    return { output: toShape("ocr/financial_parser", { extracted_data: [document] }), units: unitsOf(answer) };
  },
};

const parseIdentity: ProviderTask = {
  task: "ocr/identity_parser",
  docs: "https://custom-ocr.klippa.com/docs#/Parsing/parseIdentityDocument",
  toRequest: (call) => toRequest("/identity", call),
  fromResponse(answer) {
    const document = toIdentity(asObject(dataOf(answer)["parsed"]));
    return { output: toShape("ocr/identity_parser", { extracted_data: [document] }), units: unitsOf(answer) };
  },
};

const parseResume: ProviderTask = {
  task: "ocr/resume_parser",
  docs: "https://custom-ocr.klippa.com/docs#/Parsing/parseResume",
  toRequest: (call) => toRequest("/resume", call),
  fromResponse(answer) {
    const resume = toResume(asObject(dataOf(answer)["parsed"]));
    return { output: toShape("ocr/resume_parser", { extracted_data: resume }), units: unitsOf(answer) };
  },
};

export const klippa: ProviderRow = {
  name: "klippa",
  title: "Klippa",
  docs: "https://custom-ocr.klippa.com/docs",
  baseUrl: "https://custom-ocr.klippa.com",
  auth: { kind: "header", name: "x-auth-key" },
  // Instead of an upload it takes an address: that would be another file than the one that was checked.
  sealedParams: ["url", "document"],
  tasks: [parseFinancialDocument, parseIdentity, parseResume],
};
