import { textAndImage } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

export const openrouter = defineProvider("openrouter", "OpenRouter", {
  docs: "https://openrouter.ai/docs/api/api-reference/chat/create-a-chat-completion",
  baseUrl: "https://openrouter.ai/api/v1",
  keyPrefix: "sk-or-",
  // https://openrouter.ai/docs/api/reference/errors-and-debugging: the input was flagged. Keys are refused with 401.
  errors: [{ status: 403, says: /flagged|moderation|content_policy_violation/i, means: "rejected" }],
  chat: {
    // `stream_options.include_usage` is deprecated there and has no effect: usage is always sent.
    streamUsage: "always",
    // https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks
    rules: [{ reasoningReturn: "reasoning_details" }],
    defaultModel: "openai/gpt-6-luna",
    defaultVisionModel: "mistralai/mistral-medium-3-5",
    models: [
      { id: "openai/gpt-6-astra" },
      { id: "openai/gpt-6-luna" },
      { id: "anthropic/claude-haiku-4.5" },
      { id: "moonshotai/kimi-k3" },
      { id: "mistralai/mistral-medium-3-5", contextTokens: 262_144, input: textAndImage, tools: true, reasoning: true },
    ],
  },
  responses: { kind: "stateless" },
  choosesModels: [
    // https://openrouter.ai/docs/guides/features/presets, and `route: "fallback"` without a list of models.
    { member: "preset" },
    { member: "route" },
    // https://openrouter.ai/docs/guides/features/server-tools
    { member: "type", value: "openrouter:advisor", namedBy: ["model"] },
    { member: "type", value: "openrouter:subagent", namedBy: ["model"] },
    { member: "type", value: "openrouter:image_generation", namedBy: ["model"] },
    { member: "type", value: "openrouter:fusion", namedBy: ["analysis_models"] },
    // https://openrouter.ai/docs/guides/features/plugins/fusion: the plugin chooses the judge as well.
    { member: "id", value: "fusion", namedBy: ["analysis_models", "model"] },
  ],
  billsAsStated: true,
});
