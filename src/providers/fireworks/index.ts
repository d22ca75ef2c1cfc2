import { defineProvider } from "../provider.ts";

export const fireworks = defineProvider("fireworks", "Fireworks AI", {
  docs: "https://docs.fireworks.ai/tools-sdks/openai-compatibility",
  baseUrl: "https://api.fireworks.ai/inference/v1",
  // https://docs.fireworks.ai/guides/inference-error-codes: the account is suspended.
  errors: [{ status: 412, means: "credentials" }],
  chat: {
    defaultModel: "accounts/fireworks/models/deepseek-v4-flash-0731",
    defaultVisionModel: "accounts/fireworks/models/qwen3p8-max",
    models: [
      { id: "accounts/fireworks/models/kimi-k3", input: ["text", "image"], tools: true },
      { id: "accounts/fireworks/models/qwen3p8-max", input: ["text", "image"], tools: true },
      { id: "accounts/fireworks/models/glm-5p3", tools: true },
      { id: "accounts/fireworks/models/gpt-oss-120b", tools: true, reasoning: true },
      { id: "accounts/fireworks/models/minimax-m3" },
      { id: "accounts/fireworks/models/deepseek-v4-flash-0731" },
    ],
  },
  responses: { kind: "native" },
});
