// POST /api/embed.

import type { EmbeddingsAnswer, EmbeddingsDialect, EmbeddingsRequest, JsonObject, Target } from "../../dialect.ts";
import { asCount, asString } from "../../lenient.ts";
import { present } from "../new-answer.ts";
import { throwIfError } from "./answer.ts";

export const ollamaEmbeddings: EmbeddingsDialect = {
  parameters: {
    model: "mapped",
    input: "mapped",
    encoding_format: "mapped",
    dimensions: "mapped",
    truncate: "mapped",
    keep_alive: "mapped",
    options: "mapped",
  },
  // The vendor names no limit: what a caller may send at once is fine.
  maxInputs: 2_048,
  toRequest: toOllamaEmbedRequest,
  fromAnswer: fromOllamaEmbedAnswer,
};

function toOllamaEmbedRequest(request: EmbeddingsRequest, target: Target) {
  const body = present({
    model: target.model,
    input: request.input,
    dimensions: request.dimensions,
    truncate: request["truncate"],
    keep_alive: request["keep_alive"],
    options: request["options"],
  });
  return { path: "/api/embed", body: JSON.stringify(body) };
}

/** `embedding` alone is what the older endpoint answers. */
function fromOllamaEmbedAnswer(answer: JsonObject): EmbeddingsAnswer {
  throwIfError(answer);
  const vectors = Array.isArray(answer["embedding"]) ? [answer["embedding"]] : answer["embeddings"];
  if (!Array.isArray(vectors)) throw new TypeError("the answer has no embeddings");
  const count = answer["prompt_eval_count"];
  return {
    vectors,
    model: asString(answer["model"]) || null,
    inputTokens: count === undefined ? null : asCount(count),
  };
}
