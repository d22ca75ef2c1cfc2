// Anthropic's Messages format.

import type { Dialect, ParameterTable, Reading } from "../../dialect.ts";
import { all, commonChatRules } from "../../parameters.ts";
import { fromAnthropicAnswer, readAnthropicRefusal, readAnthropicUsage } from "./answer.ts";
import { toAnthropicRequest } from "./request.ts";
import { AnthropicStreamReader } from "./stream.ts";

export { readAnthropicUsage } from "./answer.ts";

const parameters: ParameterTable = {
  ...commonChatRules,
  ...all("mapped", "user", "safety_identifier", "metadata", "service_tier", "cache_control"),
  ...all("mapped", "web_search_options", "modalities"),
  ...all("dropped", "seed", "presence_penalty", "frequency_penalty", "prediction", "store", "verbosity"),
  ...all("dropped", "prompt_cache_key", "prompt_cache_retention"),
  ...all("refused", "logprobs", "top_logprobs"),
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
