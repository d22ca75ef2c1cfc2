import { type SharedFacts, textAndImage } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

const glm: SharedFacts = { contextTokens: 1_048_576, reasoning: true };

export const baseten = defineProvider("baseten", "Baseten Model APIs", {
  docs: "https://docs.baseten.co/inference/model-apis/overview",
  baseUrl: "https://inference.baseten.co/v1",
  chat: {
    defaultModel: "zai-org/GLM-5.3-Flash",
    models: [
      { id: "zai-org/GLM-5.3", ...glm, maxOutputTokens: 262_144 },
      { id: "zai-org/GLM-5.3-Flash", ...glm, maxOutputTokens: 131_072, input: textAndImage },
      { id: "zai-org/GLM-5.2", ...glm, maxOutputTokens: 262_144 },
      { id: "moonshotai/Kimi-K3", contextTokens: 1_048_576, maxOutputTokens: 262_144 },
      { id: "deepseek-ai/DeepSeek-V4-Pro-0813", contextTokens: 1_048_576, maxOutputTokens: 262_144 },
      { id: "deepseek-ai/DeepSeek-V4-Flash-0731", contextTokens: 1_048_576, maxOutputTokens: 384_000 },
      {
        id: "nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B",
        contextTokens: 202_800,
        maxOutputTokens: 202_800,
        reasoning: true,
      },
      { id: "openai/gpt-oss-120b", contextTokens: 128_072, maxOutputTokens: 128_072, reasoning: true },
    ],
  },
});
