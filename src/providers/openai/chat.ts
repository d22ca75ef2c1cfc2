import { allFeatures, type SharedFacts, withFacts } from "../model-facts.ts";
import type { ChatApi, ModelChatRules } from "../provider.ts";

const current: SharedFacts = {
  ...allFeatures,
  contextTokens: 1_050_000,
  maxOutputTokens: 128_000,
  input: ["text", "image", "file"],
};
const gpt5: SharedFacts = { ...current, contextTokens: 400_000, input: ["text", "image"] };
const gpt41: SharedFacts = { ...current, contextTokens: 1_047_576, maxOutputTokens: 32_768, reasoning: false };
const gpt4o: SharedFacts = { ...current, contextTokens: 128_000, maxOutputTokens: 16_384, reasoning: false };

const threeEfforts = ["low", "medium", "high"];
const fiveEfforts = ["none", ...threeEfforts, "xhigh"];

/**
 * Efforts: https://developers.openai.com/api/docs/guides/reasoning and the description of `reasoning_effort` in the API reference.
 * The refusals ("Unsupported parameter: 'max_tokens'", "Only the default (1) value is supported", "Function tools with
 * reasoning_effort are not supported … in /v1/chat/completions") are quoted in the loopback vendor of the tests, with their sources.
 */
export const openaiChatRules: readonly ModelChatRules[] = [
  // https://developers.openai.com/api/docs/guides/tools-web-search: in chat, only the `-search` models search the web.
  { outputLimit: "max_completion_tokens", efforts: [], responsesOnly: ["search"] },
  { models: /-search/, responsesOnly: [] },
  {
    models: /^(?:o\d|gpt-[5-9])(?!.*-chat)/,
    efforts: threeEfforts,
    refused: [
      ...["temperature", "top_p", "presence_penalty", "frequency_penalty"],
      ...["logprobs", "top_logprobs", "logit_bias", "stop"],
    ],
  },
  { models: /^o1-(?:mini|preview)/, efforts: [] },
  { models: /^gpt-5(?!\.|.*-chat)/, efforts: ["minimal", ...threeEfforts] },
  { models: /^gpt-5\.1(?!.*-chat)/, efforts: ["none", ...threeEfforts] },
  { models: /^gpt-(?:5\.[2-9]|[6-9])(?!.*-chat)/, efforts: fiveEfforts, responsesOnly: ["tools", "search"] },
  { models: /^gpt-6(?:-astra|\.1)/, efforts: [...threeEfforts, "xhigh"] },
  { models: /^(?:o|gpt-).*-pro/, responsesOnly: ["everything"] },
  { models: /codex/, efforts: [...threeEfforts, "xhigh"], responsesOnly: ["everything"] },
  { models: /^gpt-5(?:\.1)?-codex(?!-max)/, efforts: threeEfforts },
  { models: /^gpt-5-pro/, efforts: ["high"] },
];

export const chat: ChatApi = {
  rules: openaiChatRules,
  defaultModel: "gpt-6-luna",
  models: [
    { id: "gpt-6.1-sol", reasoning: true },
    { id: "gpt-6.1-terra", reasoning: true },
    ...withFacts(current, ["gpt-6-astra", "gpt-6-sol", "gpt-6-luna"]),
    ...withFacts(current, ["gpt-5.6", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna", "gpt-5.5", "gpt-5.4"]),
    ...withFacts(gpt5, ["gpt-5", "gpt-5-mini", "gpt-5-nano"]),
    ...withFacts(gpt41, ["gpt-4.1", "gpt-4.1-mini"]),
    ...withFacts(gpt4o, ["gpt-4o", "gpt-4o-mini"]),
  ],
};
