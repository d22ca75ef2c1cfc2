import { allFeatures, type SharedFacts, textAndImage } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

const vision: SharedFacts = { ...allFeatures, contextTokens: 128_000, input: textAndImage, reasoning: false };

export const venice = defineProvider("venice", "Venice", {
  docs: "https://docs.venice.ai/api-reference/endpoint/chat/completions",
  baseUrl: "https://api.venice.ai/api/v1",
  chat: {
    defaultModel: "qwen3-vl-235b-a22b",
    models: [
      { id: "zai-org-glm-5-2", contextTokens: 1_000_000, maxOutputTokens: 131_072, ...allFeatures },
      { id: "zai-org-glm-5-1", contextTokens: 200_000, maxOutputTokens: 80_000, ...allFeatures },
      { id: "deepseek-v4-pro-0813", contextTokens: 1_000_000, maxOutputTokens: 32_768, ...allFeatures },
      { id: "kimi-k3", contextTokens: 1_000_000, maxOutputTokens: 131_072, input: textAndImage, ...allFeatures },
      { id: "kimi-k2-6", contextTokens: 256_000, maxOutputTokens: 65_536, input: textAndImage, ...allFeatures },
      { id: "grok-4-7", contextTokens: 500_000, maxOutputTokens: 200_000, input: textAndImage, ...allFeatures },
      { id: "qwen3-vl-235b-a22b", ...vision, maxOutputTokens: 16_384 },
      { id: "venice-uncensored-1-2", ...vision, maxOutputTokens: 8_192 },
    ],
  },
});
