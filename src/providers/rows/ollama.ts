import type { ProviderRow } from "../provider.ts";

export const ollama: ProviderRow = {
  name: "ollama",
  title: "Ollama",
  docs: "https://docs.ollama.com/api/openai-compatibility",
  dialect: "openai",
  baseUrl: "http://127.0.0.1:11434/v1",
  auth: { kind: "optional-bearer" },
  streamUsage: "ask",
  models: [],
};
