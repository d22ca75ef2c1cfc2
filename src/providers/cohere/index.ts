import { allFeatures, type SharedFacts, textAndImage } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

const commandR: SharedFacts = { ...allFeatures, contextTokens: 128_000, maxOutputTokens: 4_000, reasoning: false };

export const cohere = defineProvider("cohere", "Cohere", {
  docs: "https://docs.cohere.com/docs/models",
  dialect: "cohere",
  baseUrl: "https://api.cohere.com",
  // https://docs.cohere.com/reference/errors: the vendor cancelled the request and recommends a retry.
  errors: [{ status: 499, means: "failed" }],
  keyNames: ["CO_API_KEY"],
  chat: {
    path: "/v2/chat",
    streamUsage: "always",
    defaultModel: "command-r7b-12-2024",
    defaultVisionModel: "command-a-vision-07-2025",
    models: [
      { id: "command-a-plus-05-2026", ...commandR, maxOutputTokens: 64_000, input: textAndImage, reasoning: true },
      { id: "command-a-03-2025", contextTokens: 256_000, maxOutputTokens: 8_000, ...allFeatures, reasoning: false },
      { id: "command-a-reasoning-08-2025", contextTokens: 256_000, maxOutputTokens: 32_000, ...allFeatures },
      { id: "command-a-vision-07-2025", input: textAndImage },
      { id: "command-r7b-12-2024", contextTokens: 128_000, maxOutputTokens: 4_000, tools: true, reasoning: false },
      { id: "command-r-plus-08-2024", ...commandR },
      { id: "command-r-08-2024", ...commandR },
    ],
  },
  embeddings: {
    path: "/v2/embed",
    models: [
      { id: "embed-v4.0", dimensions: 1_536, maxInputTokens: 128_000 },
      { id: "embed-english-v3.0", dimensions: 1_024 },
      { id: "embed-multilingual-v3.0", dimensions: 1_024 },
    ],
  },
});
