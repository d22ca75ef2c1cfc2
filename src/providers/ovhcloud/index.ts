import { allFeatures, type SharedFacts, withFacts } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

const qwen: SharedFacts = { contextTokens: 262_144, maxOutputTokens: 262_144, input: ["text", "image"], tools: true };

export const ovhcloud = defineProvider("ovhcloud", "OVHcloud AI Endpoints", {
  docs: "https://docs.ovhcloud.com/en/guides/public-cloud/ai-machine-learning/ai-endpoints-getting-started",
  baseUrl: "https://oai.endpoints.kepler.ai.cloud.ovh.net/v1",
  keyNames: ["OVH_AI_ENDPOINTS_ACCESS_TOKEN"],
  chat: {
    defaultModel: "Qwen3.5-9B",
    models: [
      { id: "gpt-oss-120b", contextTokens: 131_072, maxOutputTokens: 131_072, ...allFeatures },
      { id: "gpt-oss-20b", contextTokens: 131_072, maxOutputTokens: 131_072, tools: true, reasoning: true },
      ...withFacts(qwen, ["Qwen3.8-27B", "Qwen3.6-27B", "Qwen3.5-397B-A17B", "Qwen3.5-9B"]),
      { id: "Meta-Llama-3_3-70B-Instruct", contextTokens: 131_072, maxOutputTokens: 131_072, tools: true },
      { id: "Qwen2.5-VL-72B-Instruct", ...qwen, contextTokens: 32_768, maxOutputTokens: 32_768, tools: false },
      { id: "Qwen3-Coder-30B-A3B-Instruct", contextTokens: 262_144, maxOutputTokens: 262_144 },
      { id: "Mistral-Small-3.2-24B-Instruct-2506", contextTokens: 131_072, maxOutputTokens: 131_072 },
    ],
  },
});
