import { defineProvider } from "../provider.ts";

export const upstage = defineProvider("upstage", "Upstage", {
  docs: "https://developers.upstage.ai/docs/apis/chat",
  baseUrl: "https://api.upstage.ai/v1",
  chat: {
    defaultModel: "solar-mini",
    models: [
      { id: "solar-pro4", contextTokens: 524_288, maxOutputTokens: 131_072, tools: true },
      { id: "solar-pro3", tools: true, reasoning: true },
      { id: "solar-pro2", reasoning: true },
      { id: "solar-mini" },
      { id: "syn-pro" },
    ],
  },
});
