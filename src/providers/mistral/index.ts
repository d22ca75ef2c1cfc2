import { allFeatures, textAndImage } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";
import { tasks } from "./tasks.ts";

export const mistral = defineProvider("mistral", "Mistral AI", {
  openTelemetryName: "mistral_ai",
  docs: "https://docs.mistral.ai/api/",
  dialect: "mistral",
  baseUrl: "https://api.mistral.ai/v1",
  chat: {
    // The last chunk contains usage, beside the finish_reason, without a parameter.
    streamUsage: "always",
    defaultModel: "mistral-small-2603",
    models: [
      { id: "mistral-large-4", reasoning: true },
      { id: "mistral-large-2512", contextTokens: 262_144, input: textAndImage, ...allFeatures, reasoning: false },
      { id: "mistral-large-latest", tools: true },
      { id: "mistral-medium-2604", contextTokens: 262_144, input: textAndImage, ...allFeatures },
      { id: "mistral-medium-3-5", contextTokens: 262_144, input: textAndImage, ...allFeatures },
      { id: "mistral-medium-latest", tools: true },
      { id: "mistral-small-2603", contextTokens: 256_000, input: textAndImage, tools: true, reasoning: true },
      { id: "mistral-small-latest", tools: true, reasoning: true },
      { id: "ministral-14b-2512", contextTokens: 256_000, input: textAndImage, tools: true, reasoning: false },
      { id: "codestral-2508", contextTokens: 128_000, ...allFeatures, reasoning: false },
      { id: "codestral-latest", tools: true },
      { id: "devstral-2512", contextTokens: 256_000, tools: true },
    ],
  },
  embeddings: { models: [{ id: "mistral-embed", dimensions: 1_024 }, { id: "codestral-embed" }] },
  // It would replace the file that was checked.
  sealedParams: ["document"],
  billedParams: ["model", "input"],
  tasks,
});
