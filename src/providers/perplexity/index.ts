import { textAndImage } from "../model-facts.ts";
import type { ProviderRow } from "../provider.ts";

export const perplexity: ProviderRow = {
  name: "perplexity",
  title: "Perplexity",
  docs: "https://docs.perplexity.ai/docs/sonar/openai-compatibility",
  baseUrl: "https://api.perplexity.ai",
  auth: { kind: "bearer" },
  chat: {
    // Its last event is a `chat.completion.done` object with the finish_reason; no `[DONE]` follows.
    streamEnd: "finish",
    defaultModel: "sonar",
    defaultVisionModel: "sonar-pro",
    models: [
      { id: "sonar", contextTokens: 128_000, tools: false, reasoning: false },
      {
        id: "sonar-pro",
        contextTokens: 200_000,
        maxOutputTokens: 8192,
        input: textAndImage,
        tools: false,
        reasoning: false,
      },
      { id: "sonar-reasoning-pro", reasoning: true },
      { id: "sonar-deep-research", reasoning: true },
    ],
  },
  billsAsStated: true,
};
