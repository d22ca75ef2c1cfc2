// Anthropic's Messages format.

import type { Dialect, ParameterTable, Reading } from "../../dialect.ts";
import { fromAnthropicAnswer, readAnthropicRefusal, readAnthropicUsage } from "./answer.ts";
import { toAnthropicRequest } from "./request.ts";
import { AnthropicStreamReader } from "./stream.ts";

export { readAnthropicUsage } from "./answer.ts";

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
  tools: "mapped",
  tool_choice: "mapped",
  parallel_tool_calls: "mapped",
  response_format: "mapped",
  reasoning_effort: "mapped",
  reasoning: "mapped",
  thinking: "mapped",
  user: "mapped",
  safety_identifier: "mapped",
  metadata: "mapped",
  service_tier: "mapped",
  cache_control: "mapped",
  web_search_options: "mapped",
  modalities: "mapped",
  n: "parallel",
  seed: "dropped",
  presence_penalty: "dropped",
  frequency_penalty: "dropped",
  logit_bias: "dropped",
  prediction: "dropped",
  store: "dropped",
  verbosity: "dropped",
  prompt_cache_key: "dropped",
  prompt_cache_retention: "dropped",
  logprobs: "refused",
  top_logprobs: "refused",
  audio: "refused",
  functions: "refused",
  function_call: "refused",
};

export const anthropic = {
  name: "anthropic",
  chat: {
    parameters,
    fetchesMedia: false,
    framing: "event-stream",
    searchDomains: new Set(["allowed_domains", "blocked_domains"]),
    toRequest: toAnthropicRequest,
    fromAnswer: fromAnthropicAnswer,
    createStreamReader: (reading: Reading) => new AnthropicStreamReader(reading),
    readRefusal: readAnthropicRefusal,
  },
  messages: { path: "/v1/messages", countPath: "/v1/messages/count_tokens", readUsage: readAnthropicUsage },
} satisfies Dialect;
