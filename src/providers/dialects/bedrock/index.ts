// Amazon Bedrock's Converse: one format in front of the models of many makers.

import type { Dialect, ParameterTable } from "../../dialect.ts";
import { fromConverseAnswer } from "./answer.ts";
import { bedrockEmbeddings } from "./embeddings.ts";
import { readBedrockRefusal } from "./refusal.ts";
import { toConverseRequest } from "./request.ts";
import { ConverseStreamReader } from "./stream.ts";

const parameters: ParameterTable = {
  model: "mapped",
  messages: "mapped",
  stream: "mapped",
  stream_options: "mapped",
  max_tokens: "mapped",
  max_completion_tokens: "mapped",
  temperature: "mapped",
  top_p: "mapped",
  top_k: "mapped",
  stop: "mapped",
  n: "parallel",
  tools: "mapped",
  tool_choice: "mapped",
  parallel_tool_calls: "mapped",
  functions: "refused",
  function_call: "refused",
  response_format: "mapped",
  reasoning_effort: "mapped",
  reasoning: "mapped",
  thinking: "mapped",
  service_tier: "mapped",
  // Converse's own.
  serviceTier: "mapped",
  guardrailConfig: "mapped",
  performanceConfig: "mapped",
  requestMetadata: "mapped",
  promptVariables: "mapped",
  additionalModelRequestFields: "mapped",
  additionalModelResponseFieldPaths: "mapped",
  logprobs: "refused",
  top_logprobs: "refused",
  audio: "refused",
  modalities: "dropped",
  web_search_options: "refused",
  presence_penalty: "dropped",
  frequency_penalty: "dropped",
  seed: "dropped",
  logit_bias: "dropped",
  user: "dropped",
  safety_identifier: "dropped",
  prompt_cache_key: "dropped",
  metadata: "dropped",
  store: "dropped",
  prediction: "dropped",
  verbosity: "dropped",
};

export const bedrock: Dialect = {
  name: "bedrock",
  chat: {
    parameters,
    fetchesMedia: true,
    framing: "aws-event-stream",
    toRequest: toConverseRequest,
    fromAnswer: fromConverseAnswer,
    createStreamReader: (reading) => new ConverseStreamReader(reading),
    readRefusal: readBedrockRefusal,
  },
  embeddings: bedrockEmbeddings,
};
