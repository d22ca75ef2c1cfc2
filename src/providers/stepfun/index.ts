import { allFeatures, type SharedFacts, textAndImage } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

const multimodal: SharedFacts = { ...allFeatures, input: ["text", "image", "video"] };

export const stepfun = defineProvider("stepfun", "StepFun", {
  docs: "https://platform.stepfun.ai/docs/en/api-reference/chat/chat-completion-create",
  baseUrl: "https://api.stepfun.ai/v1",
  chat: {
    defaultModel: "step-3.7-flash",
    models: [
      { id: "step-5-preview", ...multimodal, contextTokens: 1_000_000, maxOutputTokens: 64_000 },
      { id: "step-3.7-flash", ...multimodal, contextTokens: 256_000 },
      { id: "step-3.5-flash", contextTokens: 256_000, ...allFeatures },
      { id: "step-3.5-flash-2603", contextTokens: 256_000, ...allFeatures },
      { id: "step-1o-turbo-vision", contextTokens: 32_000, input: textAndImage },
    ],
  },
});
