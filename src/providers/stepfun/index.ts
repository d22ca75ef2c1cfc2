import type { ProviderRow } from "../provider.ts";

export const stepfun: ProviderRow = {
  name: "stepfun",
  title: "StepFun",
  docs: "https://platform.stepfun.ai/docs/en/api-reference/chat/chat-completion-create",
  baseUrl: "https://api.stepfun.ai/v1",
  auth: { kind: "bearer" },
  chat: {
    defaultModel: "step-3.7-flash",
    models: [
      {
        id: "step-5-preview",
        contextTokens: 1_000_000,
        maxOutputTokens: 64_000,
        input: ["text", "image", "video"],
        tools: true,
        jsonSchema: true,
        reasoning: true,
      },
      {
        id: "step-3.7-flash",
        contextTokens: 256_000,
        input: ["text", "image", "video"],
        tools: true,
        jsonSchema: true,
        reasoning: true,
      },
      { id: "step-3.5-flash", contextTokens: 256_000, tools: true, jsonSchema: true, reasoning: true },
      { id: "step-3.5-flash-2603", contextTokens: 256_000, tools: true, jsonSchema: true, reasoning: true },
      { id: "step-1o-turbo-vision", contextTokens: 32_000, input: ["text", "image"] },
    ],
  },
};
