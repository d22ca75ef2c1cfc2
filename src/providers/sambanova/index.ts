import { defineProvider } from "../provider.ts";

export const sambanova = defineProvider("sambanova", "SambaNova", {
  docs: "https://docs.sambanova.ai/docs/en/features/openai-compatibility",
  baseUrl: "https://api.sambanova.ai/v1",
  chat: {
    defaultModel: "gemma-4-31B-it",
    models: [
      { id: "Meta-Llama-3.3-70B-Instruct", contextTokens: 131_072, tools: true },
      { id: "gpt-oss-120b", contextTokens: 131_072, tools: true, reasoning: true },
      { id: "DeepSeek-V3.1", contextTokens: 131_072, reasoning: true },
      { id: "MiniMax-M2.7", contextTokens: 196_608 },
      { id: "MiniMax-M3", input: ["text", "image"] },
      { id: "gemma-4-31B-it", contextTokens: 131_072, input: ["text", "image"] },
    ],
  },
});
