// Cohere's own chat and embeddings, version 2: https://docs.cohere.com/reference/chat, https://docs.cohere.com/reference/embed

import type { Dialect, ParameterTable } from "../../dialect.ts";
import { fromCohereAnswer } from "./answer.ts";
import { cohereEmbeddings } from "./embeddings.ts";
import { toCohereRequest } from "./request.ts";
import { CohereStreamReader } from "./stream.ts";

const parameters: ParameterTable = {
  model: "mapped",
  messages: "mapped",
  stream: "mapped",
  stream_options: "mapped",
  temperature: "mapped",
  top_p: "mapped",
  top_k: "mapped",
  n: "parallel",
  max_tokens: "mapped",
  max_completion_tokens: "mapped",
  presence_penalty: "mapped",
  frequency_penalty: "mapped",
  stop: "mapped",
  seed: "mapped",
  logprobs: "mapped",
  top_logprobs: "dropped",
  logit_bias: "dropped",
  tools: "mapped",
  tool_choice: "mapped",
  parallel_tool_calls: "mapped",
  functions: "refused",
  function_call: "refused",
  response_format: "mapped",
  reasoning_effort: "mapped",
  reasoning: "mapped",
  thinking: "mapped",
  audio: "refused",
  web_search_options: "refused",
  documents: "mapped",
  citation_options: "mapped",
  safety_mode: "mapped",
  strict_tools: "mapped",
  priority: "mapped",
};

export const cohere: Dialect = {
  name: "cohere",
  chat: {
    parameters,
    // Addresses of images are read by the vendor itself.
    fetchesMedia: false,
    framing: "event-stream",
    toRequest: toCohereRequest,
    fromAnswer: fromCohereAnswer,
    createStreamReader: (reading) => new CohereStreamReader(reading),
  },
  embeddings: cohereEmbeddings,
};
