import { readImageSize } from "../../lib/image-size.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asText, at, objectsIn, rounded } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { toDocuments } from "../shapes/documents.ts";
import { dataUrlOf, fileOf } from "../shapes/inputs.ts";
import { defineTask, type TaskCall, type TaskRequest, type TaskResponse } from "../task.ts";
import { toCheck, toFinancialDocument, toIdentity } from "./fields.ts";

async function toScan(call: TaskCall, modelTypes: readonly string[] | null): Promise<TaskRequest> {
  const image = await dataUrlOf(fileOf(call));
  return {
    path: "/api/scan",
    body: { kind: "json", value: { image, ...(modelTypes !== null && { modelTypes }) } },
  };
}

/** A file may contain several documents. */
function documentsOf({ json }: TaskResponse): readonly JsonObject[] {
  const documents = objectsIn(json);
  if (documents.length === 0) throw new TypeError("there is no document in the answer");
  return documents;
}

const readText = defineTask({
  task: "ocr/ocr",
  docs: "https://base64.ai/docs/api",
  unsupported: ["language"],
  toRequest: (call) => toScan(call, ["ocr"]),
  fromResponse(response) {
    const documents = documentsOf(response);
    const text = documents.map(({ ocr }) => asText(ocr) ?? "").join("\n");
    return { output: { text, bounding_boxes: [] }, units: { page: documents.length, file: 1, request: 1 } };
  },
});

const parseFinancialDocument = defineTask({
  task: "ocr/financial_parser",
  docs: "https://base64.ai/docs/api",
  unsupported: ["language"],
  toRequest: (call) => {
    const kind = call.input["document_type"];
    const kinds = kind === "invoice" || kind === "receipt" ? [kind] : ["invoice", "receipt"];
    return toScan(
      call,
      kinds.map((one) => `finance/${one}`),
    );
  },
  fromResponse(response) {
    const documents = documentsOf(response);
    return toDocuments("ocr/financial_parser", documents.map(toFinancialDocument), documents.length);
  },
});

const parseIdentity = defineTask({
  task: "ocr/identity_parser",
  docs: "https://base64.ai/docs/api",
  toRequest: (call) => toScan(call, null),
  fromResponse(response) {
    const documents = documentsOf(response);
    return toDocuments("ocr/identity_parser", documents.map(toIdentity), documents.length);
  },
});

const parseBankCheck = defineTask({
  task: "ocr/bank_check_parsing",
  docs: "https://base64.ai/docs/api",
  toRequest: (call) => toScan(call, ["finance/check"]),
  fromResponse(response) {
    const documents = documentsOf(response);
    return toDocuments("ocr/bank_check_parsing", documents.map(toCheck), documents.length);
  },
});

const compareFaces = defineTask({
  task: "image/face_compare",
  docs: "https://base64.ai/docs/api",
  toRequest: async (call) => ({
    path: "/api/face",
    body: {
      kind: "json",
      value: {
        referenceImage: await dataUrlOf(fileOf(call, "file1")),
        queryImage: await dataUrlOf(fileOf(call, "file2")),
      },
    },
  }),
  async fromResponse({ json }, call) {
    // Positions are in pixels of the second image.
    const size = readImageSize(await fileOf(call, "file2").read());
    const relative = (pixels: unknown, whole: number | undefined) => {
      const number = asNumber(pixels);
      return number === null || whole === undefined || whole === 0 ? null : rounded(number / whole);
    };
    const items = objectsIn(at(json, "matches")).map((match) => ({
      confidence: asNumber(match["confidence"]),
      bounding_box: {
        top: relative(match["top"], size?.height),
        left: relative(match["left"], size?.width),
        height: relative(match["height"], size?.height),
        width: relative(match["width"], size?.width),
      },
    }));
    return { output: { items }, units: { request: 1, image: 2 } };
  },
});

export const base64: ProviderRow = {
  name: "base64",
  title: "Base64.ai",
  docs: "https://base64.ai/docs/api",
  baseUrl: "https://base64.ai",
  auth: { kind: "header", name: "authorization" },
  // They would replace the files that were checked.
  sealedParams: ["image", "document", "url", "referenceImage", "queryImage", "referenceUrl", "queryUrl"],
  tasks: [readText, parseFinancialDocument, parseIdentity, parseBankCheck, compareFaces],
};
