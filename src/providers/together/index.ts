import { allFeatures, textAndImage } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

export const together = defineProvider("together", "Together AI", {
  docs: "https://docs.together.ai/docs/inference/openai-compatibility",
  baseUrl: "https://api.together.ai/v1",
  // https://docs.together.ai/docs/error-codes: prompt and answer exceed the model's context.
  errors: [{ status: 403, says: /token|context|length/i, means: "rejected" }],
  chat: {
    // Some of its models send usage only on request.
    streamUsage: "ask",
    defaultModel: "openai/gpt-oss-20b",
    defaultVisionModel: "moonshotai/Kimi-K3",
    models: [
      { id: "openai/gpt-oss-120b", reasoning: true },
      { id: "openai/gpt-oss-20b", reasoning: true },
      { id: "deepseek-ai/DeepSeek-V4-Pro-0813", reasoning: true },
      { id: "deepseek-ai/DeepSeek-V4.1-Flash", reasoning: true },
      { id: "moonshotai/Kimi-K3", contextTokens: 1_048_576, input: textAndImage, ...allFeatures },
      { id: "moonshotai/Kimi-K2.6" },
      { id: "zai-org/GLM-5.3", contextTokens: 1_048_575, maxOutputTokens: 262_144, reasoning: true },
      { id: "zai-org/GLM-5.2" },
      { id: "google/gemma-4-31B-it" },
    ],
  },
});
