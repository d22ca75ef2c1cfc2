// POST /embeddings: OpenAI's form but for the name of the dimensions.

import type { EmbeddingsDialect, EmbeddingsRequest, Target } from "../../dialect.ts";
import { fromEmbeddingList } from "../embedding-list.ts";
import { present } from "../new-answer.ts";

export const mistralEmbeddings: EmbeddingsDialect = {
  parameters: {
    model: "mapped",
    input: "mapped",
    encoding_format: "mapped",
    dimensions: "mapped",
    metadata: "mapped",
    output_dtype: "refused",
  },
  // The vendor limits the tokens of a call and names no number of inputs: small calls stay below it.
  maxInputs: 128,
  toRequest: toMistralEmbeddingsRequest,
  fromAnswer: fromEmbeddingList,
};

function toMistralEmbeddingsRequest(request: EmbeddingsRequest, target: Target) {
  const body = present({
    model: target.model,
    input: request.input,
    output_dimension: request.dimensions,
    metadata: request["metadata"],
  });
  return { path: "/embeddings", body: JSON.stringify(body) };
}
