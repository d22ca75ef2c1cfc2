import { allFeatures, textAndImage } from "../model-facts.ts";
import type { ProviderRow } from "../provider.ts";

export const moonshot: ProviderRow = {
  name: "moonshot",
  title: "Moonshot AI (Kimi)",
  docs: "https://platform.kimi.ai/docs/overview",
  baseUrl: "https://api.moonshot.ai/v1",
  auth: { kind: "bearer" },
  chat: {
    // https://platform.kimi.ai/docs/api/models-overview and https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model: sampling is
    // fixed, and in thinking mode a tool call without its `reasoning_content`, or with an empty one, is refused.
    rules: [
      {
        models: /^kimi-/,
        outputLimit: "max_completion_tokens",
        efforts: [],
        refused: ["temperature", "top_p", "presence_penalty", "frequency_penalty", "web_search_options"],
        reasoningReturn: "reasoning_content",
        missingReasoning: " ",
      },
      { models: /^kimi-k3/, efforts: ["low", "high", "max"] },
      {
        models: /^kimi-k2\.[56]/,
        thinking: { on: { type: "enabled" }, off: { type: "disabled" } },
      },
      // Without it the model does not see the reasoning of earlier turns.
      { models: /^kimi-k2\.6/, thinking: { on: { type: "enabled", keep: "all" }, off: { type: "disabled" } } },
    ],
    defaultModel: "kimi-k2.6",
    models: [
      {
        id: "kimi-k3",
        contextTokens: 1_048_576,
        maxOutputTokens: 1_048_576,
        input: ["text", "image", "video"],
        ...allFeatures,
      },
      { id: "kimi-k2.7-code", contextTokens: 262_144, input: textAndImage, tools: true, reasoning: true },
      { id: "kimi-k2.7-code-highspeed", contextTokens: 262_144, input: textAndImage, tools: true, reasoning: true },
      { id: "kimi-k2.6", contextTokens: 262_144, input: textAndImage, ...allFeatures },
    ],
  },
};
