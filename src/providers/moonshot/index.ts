import { allFeatures, type SharedFacts, withFacts } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

const k2: SharedFacts = { contextTokens: 262_144, input: ["text", "image"], tools: true, reasoning: true };

export const moonshot = defineProvider("moonshot", "Moonshot AI (Kimi)", {
  openTelemetryName: "moonshot_ai",
  docs: "https://platform.kimi.ai/docs/overview",
  baseUrl: "https://api.moonshot.ai/v1",
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
      { models: /^kimi-k2\.[56]/, thinking: { on: { type: "enabled" }, off: { type: "disabled" } } },
      // Without `keep` the model does not see the reasoning of earlier turns.
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
      ...withFacts(k2, ["kimi-k2.7-code", "kimi-k2.7-code-highspeed"]),
      { id: "kimi-k2.6", ...k2, jsonSchema: true },
    ],
  },
});
