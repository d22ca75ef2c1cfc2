import type { JsonObject } from "../dialect.ts";
import { asCount, asObject, asText, at } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { fileOf, filePart } from "../shapes/inputs.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { EngineCall } from "../task.ts";
import { type VendorAnswer, VendorFailure, type VendorRequest, type VendorTask } from "../task.ts";
import { toFinancialDocument } from "./financial.ts";
import { toIdentity } from "./identity.ts";
import { toResume } from "./resume.ts";

async function toRequest(path: string, call: EngineCall): Promise<VendorRequest> {
  const parts = [{ name: "pdf_text_extraction", value: "full" }, await filePart("document", fileOf(call))];
  return { path: `/api/v1/parseDocument${path}`, body: { kind: "form", parts } };
}

function dataOf({ json }: VendorAnswer): JsonObject {
  if (at(json, "result") !== "success")
    throw new VendorFailure(400, asText(at(json, "message")) ?? "The document could not be read");
  return asObject(at(json, "data"));
}

function unitsOf(answer: VendorAnswer) {
  const pages = asCount(at(answer.json, "data", "metadata", "page_count"));
  return { file: 1, request: 1, ...(pages > 0 && { page: pages }) };
}

const parseFinancialDocument: VendorTask = {
  task: "ocr/financial_parser",
  docs: "https://custom-ocr.klippa.com/docs#/Parsing/parseDocument",
  unused: ["document_type", "language"],
  toRequest: (call) => toRequest("", call),
  fromAnswer(answer) {
    const document = toFinancialDocument(dataOf(answer));
    return { output: toShape("ocr/financial_parser", { extracted_data: [document] }), units: unitsOf(answer) };
  },
};

const parseIdentity: VendorTask = {
  task: "ocr/identity_parser",
  docs: "https://custom-ocr.klippa.com/docs#/Parsing/parseIdentityDocument",
  toRequest: (call) => toRequest("/identity", call),
  fromAnswer(answer) {
    const document = toIdentity(asObject(dataOf(answer)["parsed"]));
    return { output: toShape("ocr/identity_parser", { extracted_data: [document] }), units: unitsOf(answer) };
  },
};

const parseResume: VendorTask = {
  task: "ocr/resume_parser",
  docs: "https://custom-ocr.klippa.com/docs#/Parsing/parseResume",
  toRequest: (call) => toRequest("/resume", call),
  fromAnswer(answer) {
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
