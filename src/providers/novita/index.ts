import { defineProvider } from "../provider.ts";

export const novita = defineProvider("novita", "Novita AI", {
  docs: "https://novita.ai/docs/api-reference/model-apis-llm-create-chat-completion",
  baseUrl: "https://api.novita.ai/openai/v1",
  // https://novita.ai/docs/api-reference/basic-error-code
  errors: [{ status: 400, says: /MISSING_API_KEY|BALANCE_NOT_ENOUGH/, means: "credentials" }],
  chat: {
    defaultModel: "zai-org/glm-5.3-flash",
    models: [
      { id: "zai-org/glm-5.3" },
      { id: "zai-org/glm-5.3-flash", tools: true, jsonSchema: true, reasoning: true },
      { id: "deepseek/deepseek-v4-pro-0813" },
      { id: "moonshotai/kimi-k3" },
      { id: "meta-llama/llama-3.3-70b-instruct", tools: true, jsonSchema: false },
    ],
  },
});
