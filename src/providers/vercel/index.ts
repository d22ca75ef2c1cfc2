import { textAndImage } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

export const vercel = defineProvider("vercel", "Vercel AI Gateway", {
  docs: "https://vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions",
  baseUrl: "https://ai-gateway.vercel.sh/v1",
  keyNames: ["AI_GATEWAY_API_KEY"],
  chat: {
    defaultModel: "openai/gpt-6-luna",
    models: [
      { id: "openai/gpt-6-astra", contextTokens: 1_050_000, maxOutputTokens: 128_000 },
      {
        id: "openai/gpt-6-luna",
        contextTokens: 1_050_000,
        maxOutputTokens: 128_000,
        input: textAndImage,
        jsonSchema: true,
        reasoning: true,
      },
      { id: "openai/gpt-5.5" },
      { id: "alibaba/qwen3.8-max-0902", contextTokens: 991_000, maxOutputTokens: 128_000 },
    ],
  },
});
