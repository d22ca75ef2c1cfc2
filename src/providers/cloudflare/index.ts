import { defineProvider } from "../provider.ts";

export const cloudflare = defineProvider("cloudflare", "Cloudflare Workers AI", {
  docs: "https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/",
  baseUrl: "https://api.cloudflare.com/client/v4/accounts/{account_id}/ai/v1",
  placeholders: { account_id: "CLOUDFLARE_ACCOUNT_ID" },
  chat: {
    defaultModel: "@cf/openai/gpt-oss-120b",
    defaultVisionModel: "@cf/meta/llama-3.2-11b-vision-instruct",
    models: [
      { id: "@cf/openai/gpt-oss-120b", reasoning: true },
      { id: "@cf/meta/llama-3.3-70b-instruct-fp8-fast", contextTokens: 24_000, tools: true },
      { id: "@cf/meta/llama-3.1-8b-instruct-fast", tools: true },
      { id: "@cf/meta/llama-3.2-11b-vision-instruct", input: ["text", "image"] },
    ],
  },
});
