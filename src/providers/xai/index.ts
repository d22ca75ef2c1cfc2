import { allFeatures, type SharedFacts, textAndImage, withFacts } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

const current: SharedFacts = { ...allFeatures, contextTokens: 500_000, input: ["text", "image", "file"] };

export const xai = defineProvider("xai", "xAI", {
  openTelemetryName: "x_ai",
  docs: "https://docs.x.ai/developers/models",
  baseUrl: "https://api.x.ai/v1",
  keyPrefix: "xai-",
  // Users report answers with status 403 and this text: "Content violates usage guidelines. … Failed check: SAFETY_CHECK_TYPE_…"
  errors: [{ status: 403, says: /violates usage guidelines|SAFETY_CHECK/i, means: "rejected" }],
  chat: {
    // https://docs.x.ai/developers/model-capabilities/text/reasoning#effort-levels: models without a rule of their own refuse `reasoning_effort`.
    rules: [
      { efforts: [] },
      { models: /^grok-3-mini/, efforts: ["low", "high"] },
      { models: /^grok-4\.3/, efforts: ["none", "low", "medium", "high"] },
      { models: /^grok-4\.5/, efforts: ["low", "medium", "high"] },
      { models: /^grok-4\.[67]/, efforts: ["low", "medium", "high", "xhigh"] },
    ],
    defaultModel: "grok-4.3",
    models: [
      ...withFacts(current, ["grok-4.7", "grok-4.6", "grok-4.5"]),
      { id: "grok-4.3", contextTokens: 1_000_000, input: textAndImage, tools: true, reasoning: true },
    ],
  },
  responses: { kind: "native" },
  billsAsStated: true,
});
