import { allFeatures, textAndImage, withFacts } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

export const groq = defineProvider("groq", "Groq", {
  docs: "https://console.groq.com/docs/models",
  baseUrl: "https://api.groq.com/openai/v1",
  keyPrefix: "gsk_",
  // https://console.groq.com/docs/errors: the flex tier has no capacity (498), a tool of the request is unreachable (424), the
  // request was cancelled (499).
  errors: [
    { status: 498, means: "rate_limit" },
    { status: 424, means: "rejected" },
    { status: 499, means: "failed" },
  ],
  chat: {
    // https://console.groq.com/docs/reasoning: other models refuse `reasoning_effort`.
    rules: [
      { efforts: [], refused: ["web_search_options"] },
      { models: /gpt-oss/, efforts: ["low", "medium", "high"] },
      { models: /qwen3-32b/, efforts: ["none", "default"] },
    ],
    defaultModel: "openai/gpt-oss-20b",
    defaultVisionModel: "qwen/qwen3.8-27b",
    models: [
      { id: "openai/gpt-oss-120b", contextTokens: 131_072, maxOutputTokens: 65_536, ...allFeatures },
      { id: "openai/gpt-oss-20b", contextTokens: 131_072, tools: true, reasoning: true },
      { id: "qwen/qwen3.8-27b", maxOutputTokens: 16_384, input: textAndImage, reasoning: true },
      ...withFacts({ contextTokens: 131_072 }, ["qwen/qwen3.6-27b", "groq/compound", "groq/compound-mini"]),
    ],
  },
  responses: { kind: "stateless" },
});
