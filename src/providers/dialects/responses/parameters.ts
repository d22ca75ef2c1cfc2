// What becomes of the parameters of a chat request in the Responses API.

import type { ParameterTable } from "../../dialect.ts";

export const parameters: ParameterTable = {
  max_tokens: "mapped",
  max_completion_tokens: "mapped",
  temperature: "mapped",
  top_p: "mapped",
  tools: "mapped",
  tool_choice: "mapped",
  parallel_tool_calls: "mapped",
  response_format: "mapped",
  reasoning_effort: "mapped",
  thinking: "mapped",
  verbosity: "mapped",
  web_search_options: "mapped",
  service_tier: "mapped",
  prompt_cache_key: "mapped",
  safety_identifier: "mapped",
  user: "mapped",
  metadata: "mapped",
  n: "refused",
};
