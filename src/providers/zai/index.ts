import { type SharedFacts, withFacts } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

const glm = { contextTokens: 200_000, maxOutputTokens: 128_000, jsonSchema: false };
const reasoningGlm = { ...glm, tools: true, reasoning: true };
const flash: SharedFacts = { ...glm, contextTokens: 1_000_000, input: ["text", "image", "video", "file"], tools: true };

export const zai = defineProvider("zai", "Z.AI", {
  docs: "https://docs.z.ai/api-reference/llm/chat-completion",
  baseUrl: "https://api.z.ai/api/paas/v4",
  chat: {
    // https://docs.z.ai/guides/capabilities/thinking-mode: with `clear_thinking: false` the model reads the reasoning of earlier turns.
    rules: [
      {
        efforts: [],
        thinking: { on: { type: "enabled", clear_thinking: false }, off: { type: "disabled" } },
        refused: ["web_search_options"],
        reasoningReturn: "reasoning_content",
      },
      { models: /^glm-5\.[23]/, efforts: ["low", "high", "max"] },
    ],
    defaultModel: "glm-5.3-flash",
    models: [
      { id: "glm-5.3", ...reasoningGlm, contextTokens: 1_000_000 },
      { id: "glm-5.3-flash", ...flash },
      { id: "glm-5.3-flashx", ...flash },
      { id: "glm-5.2", ...reasoningGlm, contextTokens: 1_000_000 },
      ...withFacts(reasoningGlm, ["glm-5.1", "glm-5", "glm-4.7"]),
      ...withFacts(glm, ["glm-4.7-flashx", "glm-4.7-flash", "glm-4.6"]),
      { id: "glm-4.5", contextTokens: 128_000, maxOutputTokens: 96_000, jsonSchema: false },
      { id: "glm-4.5-air", contextTokens: 128_000, maxOutputTokens: 96_000, jsonSchema: false },
    ],
  },
});
