import type { ChatApi, EmbeddingsApi, ModelAccess, ModelFacts } from "../provider.ts";

const current: Omit<ModelFacts, "id"> = {
  contextTokens: 1_048_576,
  maxOutputTokens: 65_536,
  input: ["text", "image", "video", "audio", "file"],
  tools: true,
  jsonSchema: true,
  reasoning: true,
};

/** The Gemini API: https://ai.google.dev/gemini-api/docs/models. */
export const modelAccess: ModelAccess = {
  name: "gemini",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  basePath: "/v1beta",
  auth: { kind: "header", name: "x-goog-api-key" },
  // A service account is for the other services.
  keyPattern: /^[\w.-]+$/,
  keyNames: ["GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
};

export const chat: ChatApi = {
  streamUsage: "always",
  streamEnd: "finish",
  defaultModel: "gemini-3.8-flash",
  models: [
    { id: "gemini-4-argon", ...current, input: ["text", "image", "file"] },
    { id: "gemini-3.8-flash", ...current },
    { id: "gemini-3.7-flash", contextTokens: 1_048_576, maxOutputTokens: 65_536, reasoning: true },
    { id: "gemini-3.6-flash", ...current },
    { id: "gemini-3.5-flash", ...current },
    { id: "gemini-3.5-flash-lite", contextTokens: 1_048_576, maxOutputTokens: 65_536, reasoning: true },
    { id: "gemini-3.1-pro-preview", contextTokens: 1_048_576, maxOutputTokens: 65_536, reasoning: true },
    { id: "gemini-3.1-flash-lite", contextTokens: 1_048_576, maxOutputTokens: 65_536, reasoning: true },
    { id: "gemini-3-flash-preview", contextTokens: 1_048_576, maxOutputTokens: 65_536, reasoning: true },
    { id: "gemini-3.1-flash-image" },
    { id: "gemini-3-pro-image" },
    { id: "gemini-flash-latest" },
  ],
};

export const embeddings: EmbeddingsApi = {
  models: [{ id: "gemini-embedding-2" }, { id: "gemini-embedding-001", dimensions: 3_072, maxInputTokens: 2_048 }],
};
