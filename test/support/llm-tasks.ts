// Inputs of tasks that chat models do, and a vendor that answers with an example of the schema that was sent.

import type { ChatRequest } from "../../src/contract/chat-format.ts";
import type { InputFile } from "../../src/engines/engine.ts";
import type { GatewayError, ValidationError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { makeExample } from "../../src/providers/sandbox/schema-example.ts";
import { answer, completion } from "./answers.ts";
import type { VendorRequest } from "./vendor.ts";

export async function failureOf(promise: Promise<unknown>): Promise<GatewayError & ValidationError> {
  try {
    await promise;
  } catch (error) {
    return error as GatewayError & ValidationError;
  }
  throw new Error("it did not fail");
}

export function requestOf(request: VendorRequest | undefined): ChatRequest {
  return JSON.parse(request?.body.toString() ?? "{}") as ChatRequest;
}

export function schemaOf({ response_format }: ChatRequest): JsonObject {
  if (response_format?.type !== "json_schema") throw new Error("there is no schema");
  return response_format.json_schema.schema ?? {};
}

/** A model that keeps to the form, and to the bounds that it is told in words. */
export function answerByExample(request: VendorRequest) {
  const schema: unknown = JSON.parse(JSON.stringify(schemaOf(requestOf(request))), (_, one: JsonObject) => {
    const [, minimum, maximum] = /^(-?\d+) to (-?\d+)$/.exec(String(one?.["description"])) ?? [];
    return minimum === undefined ? one : { ...one, minimum: Number(minimum), maximum: Number(maximum) };
  });
  return answer(200, completion(JSON.stringify(makeExample(schema))));
}

export function fileOf(mediaType: string, bytes: string | Uint8Array = "bytes", name = "scan"): InputFile {
  const content = Buffer.from(bytes);
  return { name, mediaType, size: content.length, read: async () => content };
}

export const image = fileOf("image/png");

export const pdf = fileOf("application/pdf", "%PDF-1.7", "invoice.pdf");

export const inputs: Readonly<Record<string, JsonObject>> = {
  "text/question_answer": { texts: ["example"], question: "What?", temperature: 0, examples: [] },
  "text/custom_classification": { texts: ["example"], labels: ["spam", "ham"], examples: [] },
  "text/custom_named_entity_recognition": { text: "example", entities: ["Drug"] },
  "translation/automatic_translation": { text: "example", target_language: "fr", source_language: null },
  "ocr/custom_document_parsing_async": { file: "x", queries: [{ query: "Who?", pages: "1-*" }] },
};
