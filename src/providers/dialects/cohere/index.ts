// Cohere's own chat and embeddings, version 2: https://docs.cohere.com/reference/chat, https://docs.cohere.com/reference/embed

import { isObject } from "../../../lib/lenient-json.ts";
import type { Dialect, EmbeddingsAnswer, JsonObject, ParameterTable } from "../../dialect.ts";
import { asCount, asObject } from "../../lenient.ts";
import { all, commonChatRules } from "../../parameters.ts";
import { createEmbeddings } from "../embeddings.ts";
import { fromCohereAnswer } from "./answer.ts";
import { toCohereRequest } from "./request.ts";
import { CohereStreamReader } from "./stream.ts";

const parameters: ParameterTable = {
  ...commonChatRules,
  ...all("mapped", "presence_penalty", "frequency_penalty", "seed", "logprobs"),
  ...all("mapped", "documents", "citation_options", "safety_mode", "strict_tools", "priority"),
  ...all("dropped", "top_logprobs"),
  ...all("refused", "web_search_options"),
};

export const cohere: Dialect = {
  name: "cohere",
  chat: {
    parameters,
    // The vendor fetches images itself.
    fetchesMedia: false,
    readsImageDetail: true,
    framing: "event-stream",
    toRequest: toCohereRequest,
    fromAnswer: fromCohereAnswer,
    createStreamReader: (reading) => new CohereStreamReader(reading),
  },
  embeddings: createEmbeddings({
    path: "/v2/embed",
    textsMember: "texts",
    maxInputs: 96,
    members: { dimensions: "output_dimension", truncate: "truncate", max_tokens: "max_tokens", priority: "priority" },
    constants: { embedding_types: ["float"] },
    inputType: {
      member: "input_type",
      names: { query: "search_query", document: "search_document" },
      fallback: "search_document",
    },
    fromAnswer: fromCohereEmbedAnswer,
  }),
};

function fromCohereEmbedAnswer({ embeddings, meta }: JsonObject): EmbeddingsAnswer {
  const vectors = isObject(embeddings) ? embeddings["float"] : embeddings;
  if (!Array.isArray(vectors)) throw new TypeError("the answer has no embeddings");
  const billed = asObject(meta)["billed_units"];
  const inputTokens = isObject(billed) ? asCount(billed["input_tokens"]) + asCount(billed["image_tokens"]) : null;
  return { vectors, model: null, inputTokens };
}
