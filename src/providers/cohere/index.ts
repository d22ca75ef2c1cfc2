import type { ProviderRow } from "../provider.ts";

export const cohere: ProviderRow = {
  name: "cohere",
  title: "Cohere",
  docs: "https://docs.cohere.com/docs/models",
  dialect: "cohere",
  baseUrl: "https://api.cohere.com",
  auth: { kind: "bearer" },
  // https://docs.cohere.com/reference/errors: the request was cancelled there, and should be tried again.
  errors: [{ status: 499, means: "failed" }],
  keyNames: ["CO_API_KEY"],
  chat: {
    path: "/v2/chat",
    streamUsage: "always",
    defaultModel: "command-r7b-12-2024",
    defaultVisionModel: "command-a-vision-07-2025",
    models: [
      {
        id: "command-a-plus-05-2026",
        contextTokens: 128_000,
        maxOutputTokens: 64_000,
        input: ["text", "image"],
        tools: true,
        jsonSchema: true,
        reasoning: true,
      },
      {
        id: "command-a-03-2025",
        contextTokens: 256_000,
        maxOutputTokens: 8_000,
        tools: true,
        jsonSchema: true,
        reasoning: false,
      },
      {
        id: "command-a-reasoning-08-2025",
        contextTokens: 256_000,
        maxOutputTokens: 32_000,
        tools: true,
        jsonSchema: true,
        reasoning: true,
      },
      { id: "command-a-vision-07-2025", input: ["text", "image"] },
      { id: "command-r7b-12-2024", contextTokens: 128_000, maxOutputTokens: 4_000, tools: true, reasoning: false },
      {
        id: "command-r-plus-08-2024",
        contextTokens: 128_000,
        maxOutputTokens: 4_000,
        tools: true,
        jsonSchema: true,
        reasoning: false,
      },
      {
        id: "command-r-08-2024",
        contextTokens: 128_000,
        maxOutputTokens: 4_000,
        tools: true,
        jsonSchema: true,
        reasoning: false,
      },
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
};
