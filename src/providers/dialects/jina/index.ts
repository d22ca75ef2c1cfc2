// Jina AI's embeddings: https://api.jina.ai/docs

import { lookUp } from "../../../lib/look-up.ts";
import type { Dialect, EmbeddingsRequest, Target } from "../../dialect.ts";
import { fromEmbeddingList } from "../embedding-list.ts";
import { present } from "../new-answer.ts";

/** Other vendors' words for what a text is for. */
const tasks: Readonly<Record<string, string>> = {
  query: "retrieval.query",
  search_query: "retrieval.query",
  document: "retrieval.passage",
  search_document: "retrieval.passage",
};

export const jina: Dialect = {
  name: "jina",
  embeddings: {
    parameters: {
      model: "mapped",
      input: "mapped",
      encoding_format: "mapped",
      dimensions: "mapped",
      input_type: "mapped",
      task: "mapped",
      normalized: "mapped",
      late_chunking: "mapped",
      truncate: "mapped",
      embedding_type: "refused",
    },
    // The vendor names no limit: what a caller may send at once is fine.
    maxInputs: 2_048,
    toRequest: toJinaRequest,
    fromAnswer: fromEmbeddingList,
  },
};

function toJinaRequest(request: EmbeddingsRequest, target: Target) {
  const asked = request.input_type ?? null;
  const body = present({
    model: target.model,
    input: request.input,
    task: request["task"] ?? (asked === null ? null : (lookUp(tasks, asked) ?? asked)),
    dimensions: request.dimensions,
    normalized: request["normalized"],
    late_chunking: request["late_chunking"],
    truncate: request["truncate"],
  });
  return { path: "/embeddings", body: JSON.stringify(body) };
}
