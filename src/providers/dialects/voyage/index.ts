// Voyage AI's embeddings: https://docs.voyageai.com/reference/embeddings-api

import { lookUp } from "../../../lib/look-up.ts";
import type { Dialect, EmbeddingsRequest, Target } from "../../dialect.ts";
import { fromEmbeddingList } from "../embedding-list.ts";
import { present } from "../new-answer.ts";

/** Other vendors' words for what a text is for. */
const inputTypes: Readonly<Record<string, string>> = { search_query: "query", search_document: "document" };

export const voyage: Dialect = {
  name: "voyage",
  embeddings: {
    parameters: {
      model: "mapped",
      input: "mapped",
      encoding_format: "mapped",
      dimensions: "mapped",
      input_type: "mapped",
      truncation: "mapped",
      output_dtype: "refused",
    },
    maxInputs: 1_000,
    toRequest: toVoyageRequest,
    fromAnswer: fromEmbeddingList,
  },
};

/** Kinds of input that the vendor does not tell apart are sent without one, which is its default. */
function toVoyageRequest(request: EmbeddingsRequest, target: Target) {
  const asked = request.input_type ?? null;
  const inputType = asked === null ? null : (lookUp(inputTypes, asked) ?? asked);
  const isKnown = inputType === "query" || inputType === "document";
  const body = present({
    model: target.model,
    input: request.input,
    input_type: isKnown ? inputType : null,
    output_dimension: request.dimensions,
    truncation: request["truncation"],
  });
  const dropped = inputType === null || isKnown ? [] : ["input_type"];
  return { path: "/embeddings", body: JSON.stringify(body), dropped };
}
