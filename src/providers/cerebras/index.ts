import { defineProvider } from "../provider.ts";

export const cerebras = defineProvider("cerebras", "Cerebras", {
  docs: "https://inference-docs.cerebras.ai/resources/openai",
  baseUrl: "https://api.cerebras.ai/v1",
  chat: {
    defaultModel: "gpt-oss-120b",
    models: [{ id: "gpt-oss-120b", tools: true, jsonSchema: true, reasoning: true }, { id: "qwen-3.8-27b" }],
  },
});
