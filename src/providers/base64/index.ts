import { readImageSize } from "../../lib/image-size.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asString, at, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { toRelative } from "../shapes/boxes.ts";
import { toDocuments } from "../shapes/documents.ts";
import { dataUrlOf, fileOf, postJson } from "../shapes/inputs.ts";
import { defineTask, type TaskCall, type TaskRequest, type TaskResponse } from "../task.ts";
import { toCheck, toFinancialDocument, toIdentity } from "./documents.ts";

const docs = "https://base64.ai/docs/api";

async function toScan(call: TaskCall, modelTypes?: readonly string[]): Promise<TaskRequest> {
  return postJson("/api/scan", { image: await dataUrlOf(fileOf(call)), modelTypes });
}

/** A file may contain several documents. */
function documentsOf({ json }: TaskResponse): readonly JsonObject[] {
  const documents = objectsIn(json);
  if (documents.length === 0) throw new TypeError("there is no document in the answer");
  return documents;
}

const readText = defineTask("ocr/ocr", {
  docs,
  unsupported: ["language"],
  toRequest: (call) => toScan(call, ["ocr"]),
  fromResponse(response) {
    const texts = documentsOf(response).map(({ ocr }) => asString(ocr));
    const units = { page: texts.length, file: 1, request: 1 };
    return { output: { text: texts.join("\n"), bounding_boxes: [] }, units };
  },
});

const parseFinancialDocument = defineTask("ocr/financial_parser", {
  docs,
  unsupported: ["language"],
  toRequest: (call) => {
    const types = ["finance/invoice", "finance/receipt"];
    const wanted = types.filter((type) => type === `finance/${call.input.document_type}`);
    return toScan(call, wanted.length === 0 ? types : wanted);
  },
  fromResponse: (response) => toDocuments("ocr/financial_parser", documentsOf(response).map(toFinancialDocument)),
});

const parseIdentity = defineTask("ocr/identity_parser", {
  docs,
  toRequest: (call) => toScan(call),
  fromResponse: (response) => toDocuments("ocr/identity_parser", documentsOf(response).map(toIdentity)),
});

const parseBankCheck = defineTask("ocr/bank_check_parsing", {
  docs,
  toRequest: (call) => toScan(call, ["finance/check"]),
  fromResponse: (response) => toDocuments("ocr/bank_check_parsing", documentsOf(response).map(toCheck)),
});

const compareFaces = defineTask("image/face_compare", {
  docs,
  toRequest: async (call) =>
    postJson("/api/face", {
      referenceImage: await dataUrlOf(fileOf(call, "file1")),
      queryImage: await dataUrlOf(fileOf(call, "file2")),
    }),
  async fromResponse({ json }, call) {
    // Positions are in pixels of the second image.
    const size = readImageSize(await fileOf(call, "file2").read());
    const items = objectsIn(at(json, "matches")).map(({ confidence, top, left, height, width }) => ({
      confidence: asNumber(confidence),
      bounding_box: {
        top: toRelative(top, size?.height),
        left: toRelative(left, size?.width),
        height: toRelative(height, size?.height),
        width: toRelative(width, size?.width),
      },
    }));
    return { output: { items }, units: { request: 1, image: 2 } };
  },
});

export const base64 = defineProvider("base64", "Base64.ai", {
  docs,
  baseUrl: "https://base64.ai",
  auth: { kind: "header", name: "authorization" },
  // They would replace the files that were checked.
  sealedParams: ["image", "document", "url", "referenceImage", "queryImage", "referenceUrl", "queryUrl"],
  tasks: [readText, parseFinancialDocument, parseIdentity, parseBankCheck, compareFaces],
});
