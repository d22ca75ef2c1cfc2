// Answers chat requests through the Responses API, for vendors whose chat endpoint refuses some of them. Requests that are already in
// the Responses format are forwarded without this translation.
// https://platform.openai.com/docs/api-reference/responses

import type { ChatDialect, ParameterTable } from "../../dialect.ts";
import { all } from "../../parameters.ts";
import { fromResponsesAnswer } from "./answer.ts";
import { toResponsesRequest } from "./request.ts";
import { ResponsesStreamReader } from "./stream.ts";

const parameters: ParameterTable = {
  ...all("mapped", "max_tokens", "max_completion_tokens", "temperature", "top_p", "tools", "tool_choice"),
  ...all("mapped", "parallel_tool_calls", "response_format", "reasoning_effort", "thinking", "verbosity"),
  ...all("mapped", "web_search_options", "service_tier", "prompt_cache_key", "safety_identifier", "user", "metadata"),
  ...all("refused", "n"),
};

/** `reasons`: whether the model reasons. Only such models return encrypted reasoning; others refuse the request for it. */
export function createResponsesChat({ reasons }: { readonly reasons: boolean }): ChatDialect {
  return {
    parameters,
    fetchesMedia: false,
    readsImageDetail: true,
    knowsFile: () => true,
    framing: "event-stream",
    toRequest: (request, target) => toResponsesRequest(request, target, reasons),
    fromAnswer: fromResponsesAnswer,
    createStreamReader: (reading) => new ResponsesStreamReader(reading),
  };
}
