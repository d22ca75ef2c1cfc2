import type { ProviderRow } from "../provider.ts";

export const moonshot: ProviderRow = {
  name: "moonshot",
  title: "Moonshot AI (Kimi)",
  docs: "https://platform.kimi.ai/docs/overview",
  dialect: "openai",
  baseUrl: "https://api.moonshot.ai/v1",
  auth: { kind: "bearer" },
  streamUsage: "ask",
  models: [
    {
      id: "kimi-k3",
      contextTokens: 1_048_576,
      maxOutputTokens: 1_048_576,
      input: ["text", "image", "video"],
      tools: true,
      jsonSchema: true,
      reasoning: true,
    },
    { id: "kimi-k2.7-code", contextTokens: 262_144, input: ["text", "image"], tools: true, reasoning: true },
    { id: "kimi-k2.7-code-highspeed", contextTokens: 262_144, input: ["text", "image"], tools: true, reasoning: true },
    {
      id: "kimi-k2.6",
      contextTokens: 262_144,
      input: ["text", "image"],
      tools: true,
      jsonSchema: true,
      reasoning: true,
    },
  ],
};
