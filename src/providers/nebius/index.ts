import { defineProvider } from "../provider.ts";

export const nebius = defineProvider("nebius", "Nebius Token Factory", {
  docs: "https://docs.tokenfactory.nebius.com/api-reference/introduction",
  baseUrl: "https://api.tokenfactory.nebius.com/v1",
  chat: {
    defaultModel: "Qwen/Qwen3-30B-A3B-Instruct-2507",
    defaultVisionModel: "openbmb/MiniCPM-V-4_5",
    models: [
      { id: "Qwen/Qwen3-235B-A22B-Instruct-2507", contextTokens: 262_144, tools: true },
      { id: "deepseek-ai/DeepSeek-V4-Flash-0731", contextTokens: 1_024_000, tools: true, reasoning: true },
      { id: "openai/gpt-oss-120b", contextTokens: 131_072, tools: true, reasoning: true },
      { id: "Qwen/Qwen3-30B-A3B-Instruct-2507", contextTokens: 262_144, tools: true },
      { id: "NousResearch/Hermes-4-405B", contextTokens: 131_072, tools: true, reasoning: true },
      { id: "nvidia/Nemotron-3_5-Lightning", contextTokens: 1_048_576, tools: true, reasoning: true },
      { id: "openbmb/MiniCPM-V-4_5", contextTokens: 32_000, input: ["text", "image"] },
    ],
  },
});
