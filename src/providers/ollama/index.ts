import { defineProvider } from "../provider.ts";

export const ollama = defineProvider("ollama", "Ollama", {
  docs: "https://docs.ollama.com/api/chat",
  dialect: "ollama",
  baseUrl: "http://127.0.0.1:11434",
  // Operators often configure the address of its OpenAI-compatible endpoints.
  strippedSuffix: "/v1",
  auth: { kind: "optional-bearer" },
  chat: { path: "/api/chat", streamUsage: "always", models: [] },
  embeddings: { path: "/api/embed" },
});
