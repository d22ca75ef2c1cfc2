// POST /v2/embed.

import { isObject } from "../../../lib/lenient-json.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { EmbeddingsAnswer, EmbeddingsDialect, EmbeddingsRequest, JsonObject, Target } from "../../dialect.ts";
import { asCount, asList, asObject } from "../../lenient.ts";
import { present } from "../new-answer.ts";

/** The vendor wants to know what a text is for; other vendors' words for it are understood. */
const inputTypes: Readonly<Record<string, string>> = { query: "search_query", document: "search_document" };

export const cohereEmbeddings: EmbeddingsDialect = {
  parameters: {
    model: "mapped",
    input: "mapped",
    encoding_format: "mapped",
    dimensions: "mapped",
    input_type: "mapped",
    truncate: "mapped",
    max_tokens: "mapped",
    priority: "mapped",
  },
  maxInputs: 96,
  toRequest: toCohereEmbedRequest,
  fromAnswer: fromCohereEmbedAnswer,
};

function toCohereEmbedRequest(request: EmbeddingsRequest, target: Target) {
  const inputType = request.input_type ?? "search_document";
  const body = present({
    model: target.model,
    texts: request.input,
    input_type: lookUp(inputTypes, inputType) ?? inputType,
    embedding_types: ["float"],
    output_dimension: request.dimensions,
    truncate: request["truncate"],
    max_tokens: request["max_tokens"],
    priority: request["priority"],
  });
  return { path: "/v2/embed", body: JSON.stringify(body) };
}

function fromCohereEmbedAnswer(answer: JsonObject): EmbeddingsAnswer {
  const { embeddings } = answer as { embeddings?: unknown };
  const vectors = isObject(embeddings) ? embeddings["float"] : embeddings;
  if (!Array.isArray(vectors)) throw new TypeError("the answer has no embeddings");
  const billed = asObject(answer["meta"])["billed_units"];
  return {
    vectors: asList(vectors) as readonly (readonly number[])[],
    model: null,
    inputTokens: isObject(billed) ? asCount(billed["input_tokens"]) + asCount(billed["image_tokens"]) : null,
  };
}
