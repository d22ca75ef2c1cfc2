import type { ModelFacts, ProviderRow } from "../provider.ts";

const current: Omit<ModelFacts, "id"> = {
  contextTokens: 500_000,
  input: ["text", "image", "file"],
  tools: true,
  jsonSchema: true,
  reasoning: true,
};

export const xai: ProviderRow = {
  name: "xai",
  title: "xAI",
  docs: "https://docs.x.ai/developers/models",
  dialect: "openai",
  baseUrl: "https://api.x.ai/v1",
  auth: { kind: "bearer" },
  streamUsage: "ask",
  responses: "native",
  billsAsStated: true,
  models: [
    { id: "grok-4.7", ...current },
    { id: "grok-4.6", ...current },
    { id: "grok-4.5", ...current },
    { id: "grok-4.3", contextTokens: 1_000_000, input: ["text", "image"], tools: true, reasoning: true },
  ],
};
