import { defineProvider } from "../provider.ts";

const plain = { tools: false, reasoning: false };

export const perplexity = defineProvider("perplexity", "Perplexity", {
  docs: "https://docs.perplexity.ai/docs/sonar/openai-compatibility",
  baseUrl: "https://api.perplexity.ai",
  keyPrefix: "pplx-",
  chat: {
    // Its last event is a `chat.completion.done` object with the finish_reason; no `[DONE]` follows.
    streamEnd: "finish",
    defaultModel: "sonar",
    defaultVisionModel: "sonar-pro",
    models: [
      { id: "sonar", ...plain, contextTokens: 128_000 },
      { id: "sonar-pro", ...plain, contextTokens: 200_000, maxOutputTokens: 8_192, input: ["text", "image"] },
      { id: "sonar-reasoning-pro", reasoning: true },
      { id: "sonar-deep-research", reasoning: true },
    ],
  },
  billsAsStated: true,
});
