import type { ProviderRow } from "../provider.ts";

export const voyage: ProviderRow = {
  name: "voyage",
  title: "Voyage AI",
  docs: "https://docs.voyageai.com/docs/embeddings",
  dialect: "voyage",
  baseUrl: "https://api.voyageai.com/v1",
  auth: { kind: "bearer" },
  embeddings: {
    models: [
      { id: "voyage-4-large", dimensions: 1_024, maxInputTokens: 32_000 },
      { id: "voyage-4", dimensions: 1_024, maxInputTokens: 32_000 },
      { id: "voyage-4-lite", dimensions: 1_024, maxInputTokens: 32_000 },
      { id: "voyage-3-large", dimensions: 1_024, maxInputTokens: 32_000 },
      { id: "voyage-3.5", dimensions: 1_024, maxInputTokens: 32_000 },
      { id: "voyage-3.5-lite", dimensions: 1_024, maxInputTokens: 32_000 },
      { id: "voyage-code-3", dimensions: 1_024, maxInputTokens: 32_000 },
      { id: "voyage-finance-2", dimensions: 1_024, maxInputTokens: 32_000 },
      { id: "voyage-law-2", dimensions: 1_024, maxInputTokens: 16_000 },
    ],
  },
};
