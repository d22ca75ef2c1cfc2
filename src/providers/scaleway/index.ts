import { allFeatures, type SharedFacts, textAndImage } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

const instruct = { tools: true, jsonSchema: true };
const vision: SharedFacts = { ...allFeatures, input: ["text", "image"] };

export const scaleway = defineProvider("scaleway", "Scaleway Generative APIs", {
  docs: "https://www.scaleway.com/en/docs/generative-apis/reference-content/supported-models/",
  baseUrl: "https://api.scaleway.ai/v1",
  keyNames: ["SCW_SECRET_KEY"],
  chat: {
    defaultModel: "mistral-small-3.2-24b-instruct-2506",
    models: [
      {
        id: "mistral-small-3.2-24b-instruct-2506",
        contextTokens: 128_000,
        maxOutputTokens: 32_000,
        input: textAndImage,
        ...instruct,
      },
      { id: "llama-3.3-70b-instruct", contextTokens: 100_000, maxOutputTokens: 16_000, ...instruct },
      { id: "qwen3-235b-a22b-instruct-2507", contextTokens: 250_000, maxOutputTokens: 16_000, ...instruct },
      { id: "gemma-4-26b-a4b-it", contextTokens: 256_000, maxOutputTokens: 32_000, ...vision },
      { id: "qwen3.6-35b-a3b", contextTokens: 256_000, maxOutputTokens: 32_000, ...vision },
      { id: "qwen3.8-27b", contextTokens: 256_000, maxOutputTokens: 32_000, ...vision },
      { id: "qwen3.5-397b-a17b", contextTokens: 250_000, maxOutputTokens: 16_000, ...vision },
      { id: "deepseek-v4-flash-0731", contextTokens: 256_000, maxOutputTokens: 32_000, ...allFeatures },
      { id: "glm-5.2", contextTokens: 256_000, maxOutputTokens: 16_000, ...allFeatures },
      { id: "mistral-medium-3.5-128b", contextTokens: 180_000, maxOutputTokens: 16_000, ...vision },
      { id: "gpt-oss-120b", contextTokens: 128_000, maxOutputTokens: 32_000, ...allFeatures, tools: false },
    ],
  },
});
