import { defineProvider } from "../provider.ts";

export const wandb = defineProvider("wandb", "W&B Inference", {
  docs: "https://docs.wandb.ai/inference/api-reference/chat-completions",
  baseUrl: "https://api.inference.wandb.ai/v1",
  chat: {
    defaultModel: "openai/gpt-oss-20b",
    defaultVisionModel: "google/gemma-4-26B-A4B-it",
    models: [
      { id: "openai/gpt-oss-120b", contextTokens: 131_072, reasoning: true },
      { id: "openai/gpt-oss-20b", contextTokens: 131_072, tools: true, jsonSchema: true, reasoning: true },
      { id: "deepseek-ai/DeepSeek-V4-Flash-0731", contextTokens: 262_144 },
      { id: "deepseek-ai/DeepSeek-V4-Pro-0813", contextTokens: 1_048_576 },
      { id: "deepseek-ai/DeepSeek-V4.1-Flash", contextTokens: 1_048_576, input: ["text", "image"] },
      { id: "zai-org/GLM-5.2", contextTokens: 1_048_576 },
      { id: "moonshotai/Kimi-K2.6", contextTokens: 262_144, input: ["text", "image"] },
      { id: "Qwen/Qwen3.8-27B", contextTokens: 262_144, input: ["text", "image"] },
      { id: "google/gemma-4-26B-A4B-it", contextTokens: 262_144, input: ["text", "image"] },
      { id: "meta-llama/Llama-3.3-70B-Instruct", contextTokens: 128_000 },
      { id: "meta-llama/Llama-3.1-8B-Instruct", contextTokens: 131_072 },
    ],
  },
});
