import { allFeatures } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

export const inception = defineProvider("inception", "Inception", {
  docs: "https://docs.inceptionlabs.ai/api-reference/chat/create-a-chat-completion",
  baseUrl: "https://api.inceptionlabs.ai/v1",
  chat: {
    defaultModel: "mercury-2.5",
    models: [
      { id: "mercury-2.5", reasoning: true },
      { id: "mercury-2", contextTokens: 128_000, maxOutputTokens: 50_000, ...allFeatures },
    ],
  },
});
