import { defineProvider } from "../provider.ts";

export const deepinfra = defineProvider("deepinfra", "DeepInfra", {
  docs: "https://docs.deepinfra.com/chat/overview",
  baseUrl: "https://api.deepinfra.com/v1/openai",
  keyNames: ["DEEPINFRA_TOKEN"],
  chat: {
    defaultModel: "deepseek-ai/DeepSeek-V4-Flash-0731",
    defaultVisionModel: "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    models: [
      { id: "deepseek-ai/DeepSeek-V4-Flash-0731", contextTokens: 1_048_576, tools: true, reasoning: true },
      { id: "deepseek-ai/DeepSeek-V4-Pro-0813", contextTokens: 1_048_576 },
      { id: "openai/gpt-oss-120b", contextTokens: 131_072, reasoning: true },
      { id: "moonshotai/Kimi-K3", contextTokens: 1_048_576, input: ["text", "image"], tools: true },
      { id: "zai-org/GLM-5.2", contextTokens: 1_048_576, reasoning: true },
      { id: "meta-llama/Llama-4-Scout-17B-16E-Instruct", contextTokens: 327_680, input: ["text", "image"] },
      { id: "Qwen/Qwen3-14B", contextTokens: 40_960, reasoning: true },
    ],
  },
});
