import { defineProvider } from "../provider.ts";

export const friendli = defineProvider("friendli", "FriendliAI", {
  docs: "https://friendli.ai/docs/openapi/model-apis/chat-completions",
  baseUrl: "https://api.friendli.ai/serverless/v1",
  keyNames: ["FRIENDLI_TOKEN"],
  chat: {
    defaultModel: "zai-org/GLM-5.3-Flash",
    models: [
      { id: "zai-org/GLM-5.3", contextTokens: 1_048_576, maxOutputTokens: 131_072, tools: true, reasoning: true },
      { id: "zai-org/GLM-5.3-Flash" },
      { id: "zai-org/GLM-5.2" },
      { id: "google/gemma-4-31B-it" },
      { id: "deepseek-ai/DeepSeek-V3.2" },
      { id: "MiniMaxAI/MiniMax-M2.5" },
    ],
  },
});
