import type { ModelFacts, ProviderRow } from "../provider.ts";

type Facts = Omit<ModelFacts, "id">;

const current: Facts = {
  contextTokens: 1_050_000,
  maxOutputTokens: 128_000,
  input: ["text", "image", "file"],
  tools: true,
  jsonSchema: true,
  reasoning: true,
};
const gpt5: Facts = { ...current, contextTokens: 400_000, input: ["text", "image"] };
const gpt41: Facts = { ...current, contextTokens: 1_047_576, maxOutputTokens: 32_768, reasoning: false };
const gpt4o: Facts = { ...current, contextTokens: 128_000, maxOutputTokens: 16_384, reasoning: false };

export const openai: ProviderRow = {
  name: "openai",
  title: "OpenAI",
  docs: "https://developers.openai.com/api/docs/models/compare",
  dialect: "openai",
  baseUrl: "https://api.openai.com/v1",
  auth: { kind: "bearer" },
  streamUsage: "ask",
  responses: "native",
  models: [
    { id: "gpt-6.1-sol", reasoning: true },
    { id: "gpt-6.1-terra", reasoning: true },
    { id: "gpt-6-astra", ...current },
    { id: "gpt-6-sol", ...current },
    { id: "gpt-6-luna", ...current },
    { id: "gpt-5.6", ...current },
    { id: "gpt-5.6-sol", ...current },
    { id: "gpt-5.6-terra", ...current },
    { id: "gpt-5.6-luna", ...current },
    { id: "gpt-5.5", ...current },
    { id: "gpt-5.4", ...current },
    { id: "gpt-5", ...gpt5 },
    { id: "gpt-5-mini", ...gpt5 },
    { id: "gpt-5-nano", ...gpt5 },
    { id: "gpt-4.1", ...gpt41 },
    { id: "gpt-4.1-mini", ...gpt41 },
    { id: "gpt-4o", ...gpt4o },
    { id: "gpt-4o-mini", ...gpt4o },
  ],
};
