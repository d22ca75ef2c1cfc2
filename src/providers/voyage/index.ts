import { withFacts } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

const facts = { dimensions: 1_024, maxInputTokens: 32_000 };

export const voyage = defineProvider("voyage", "Voyage AI", {
  docs: "https://docs.voyageai.com/docs/embeddings",
  dialect: "voyage",
  baseUrl: "https://api.voyageai.com/v1",
  embeddings: {
    models: [
      ...withFacts(facts, ["voyage-4-large", "voyage-4", "voyage-4-lite"]),
      ...withFacts(facts, ["voyage-3-large", "voyage-3.5", "voyage-3.5-lite", "voyage-code-3", "voyage-finance-2"]),
      { id: "voyage-law-2", ...facts, maxInputTokens: 16_000 },
    ],
  },
});
