import { allFeatures, type SharedFacts, withFacts } from "../model-facts.ts";
import type { ChatApi, EmbeddingsApi, ModelAccess } from "../provider.ts";

export const limits = { contextTokens: 1_048_576, maxOutputTokens: 65_536, reasoning: true } satisfies SharedFacts;
const current: SharedFacts = { ...limits, ...allFeatures, input: ["text", "image", "video", "audio", "file"] };

/** The Gemini API: https://ai.google.dev/gemini-api/docs/models. */
export const modelAccess: ModelAccess = {
  name: "gemini",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  basePath: "/v1beta",
  auth: { kind: "header", name: "x-goog-api-key" },
  // Service accounts are for the other services, so only an API key matches.
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
    { id: "gemini-3.7-flash", ...limits },
    ...withFacts(current, ["gemini-3.6-flash", "gemini-3.5-flash"]),
    ...withFacts(limits, ["gemini-3.5-flash-lite", "gemini-3.1-pro-preview", "gemini-3.1-flash-lite"]),
    { id: "gemini-3-flash-preview", ...limits },
    ...withFacts({}, ["gemini-3.1-flash-image", "gemini-3-pro-image", "gemini-flash-latest"]),
  ],
};

export const embeddings: EmbeddingsApi = {
  models: [{ id: "gemini-embedding-2" }, { id: "gemini-embedding-001", dimensions: 3_072, maxInputTokens: 2_048 }],
};
