import type { ProviderRow } from "../provider.ts";
import { tasks } from "./tasks.ts";

export const minimax: ProviderRow = {
  name: "minimax",
  title: "MiniMax",
  docs: "https://platform.minimax.io/docs/api-reference/text-openai-api",
  baseUrl: "https://api.minimax.io/v1",
  auth: { kind: "bearer" },
  // https://platform.minimax.io/docs/api-reference/errorcode: the codes stand in answers of every status, 200 included.
  errors: [
    { says: /"status_code"\s*:\s*(?:1002|1039|1041)\b/, means: "rate_limit" },
    { says: /"status_code"\s*:\s*(?:1004|1008|2049)\b/, means: "credentials" },
    { says: /"status_code"\s*:\s*(?:1026|1027|1042|2013)\b/, means: "rejected" },
  ],
  chat: {
    // https://platform.minimax.io/docs/guides/text-m2-function-call: without `reasoning_split` the reasoning stands in the content, in
    // <think> tags; with it, it comes as `reasoning_details`, which the next request has to hold.
    rules: [
      { efforts: [], outputLimit: "max_completion_tokens", refused: ["web_search_options"] },
      { models: /^MiniMax-M3/, thinking: { on: { type: "adaptive" }, off: { type: "disabled" } } },
      { models: /^MiniMax-M\d/, added: { reasoning_split: true }, reasoningReturn: "reasoning_details" },
    ],
    defaultModel: "MiniMax-M3",
    models: [
      {
        id: "MiniMax-M3",
        contextTokens: 1_000_000,
        maxOutputTokens: 524_288,
        input: ["text", "image", "video"],
        reasoning: true,
      },
      { id: "MiniMax-M2.7", contextTokens: 204_800, maxOutputTokens: 204_800, tools: true },
      { id: "MiniMax-M2.7-highspeed", contextTokens: 204_800, maxOutputTokens: 204_800, tools: true },
      { id: "MiniMax-M2.5", contextTokens: 204_800, maxOutputTokens: 204_800, tools: true },
      { id: "MiniMax-M2.5-highspeed", contextTokens: 204_800, maxOutputTokens: 204_800, tools: true },
    ],
  },
  sealedParams: ["callback_url"],
  tasks,
};
