import { type SharedFacts, withFacts } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

const tools = { tools: true, jsonSchema: false };
const vision: SharedFacts = { ...tools, contextTokens: 262_000, maxOutputTokens: 262_000, input: ["text", "image"] };

export const siliconflow = defineProvider("siliconflow", "SiliconFlow", {
  docs: "https://docs.siliconflow.com/en/api-reference/chat-completions/chat-completions",
  baseUrl: "https://api.siliconflow.com/v1",
  chat: {
    defaultModel: "Qwen/Qwen3.6-35B-A3B",
    models: [
      { id: "deepseek-ai/DeepSeek-V4-Pro", contextTokens: 1_049_000, maxOutputTokens: 393_000, ...tools },
      { id: "deepseek-ai/DeepSeek-V4-Flash", contextTokens: 1_049_000, maxOutputTokens: 393_000, ...tools },
      { id: "deepseek-ai/DeepSeek-V3.2", contextTokens: 164_000, maxOutputTokens: 164_000, ...tools },
      { id: "zai-org/GLM-5.1", contextTokens: 205_000, maxOutputTokens: 131_000, ...tools },
      ...withFacts(vision, ["moonshotai/Kimi-K2.6", "Qwen/Qwen3.6-27B", "Qwen/Qwen3.6-35B-A3B"]),
      ...withFacts(vision, ["Qwen/Qwen3-VL-32B-Instruct", "google/gemma-4-31B-it"]),
    ],
  },
});
