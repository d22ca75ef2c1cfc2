import { defineProvider } from "../provider.ts";

export const jina = defineProvider("jina", "Jina AI", {
  docs: "https://jina.ai/embeddings/",
  dialect: "jina",
  baseUrl: "https://api.jina.ai/v1",
  embeddings: {
    models: [
      { id: "jina-embeddings-v5-text-small", dimensions: 1_024, maxInputTokens: 32_768 },
      // The vendor's pages contradict each other on its maximum input.
      { id: "jina-embeddings-v5-text-nano", dimensions: 768 },
      { id: "jina-embeddings-v4", dimensions: 2_048, maxInputTokens: 32_768 },
      { id: "jina-embeddings-v3", dimensions: 1_024, maxInputTokens: 8_192 },
      { id: "jina-clip-v2", dimensions: 1_024 },
      { id: "jina-embeddings-v2-base-en", dimensions: 768, maxInputTokens: 8_192 },
    ],
  },
});
