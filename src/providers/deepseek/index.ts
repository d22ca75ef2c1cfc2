import { type SharedFacts, textAndImage } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";

const facts: SharedFacts = {
  contextTokens: 1_048_576,
  maxOutputTokens: 393_216,
  tools: true,
  jsonSchema: false,
  reasoning: true,
};

export const deepseek = defineProvider("deepseek", "DeepSeek", {
  docs: "https://api-docs.deepseek.com/quick_start/pricing",
  baseUrl: "https://api.deepseek.com",
  chat: {
    // https://api-docs.deepseek.com/guides/thinking_mode: the vendor maps every effort but `none` to one that
    // it supports. In thinking mode a tool call without its `reasoning_content` is refused; an empty one is accepted.
    rules: [
      {
        efforts: ["minimal", "low", "medium", "high", "xhigh", "max"],
        thinking: { on: { type: "enabled" }, off: { type: "disabled" } },
        refused: ["web_search_options"],
        reasoningReturn: "reasoning_content",
        missingReasoning: "",
      },
    ],
    defaultModel: "deepseek-flash",
    models: [
      { id: "deepseek-flash", ...facts, input: textAndImage },
      { id: "deepseek-v4-pro", ...facts },
      { id: "deepseek-chat", ...facts, input: textAndImage, reasoning: false },
      { id: "deepseek-reasoner", ...facts, input: textAndImage },
    ],
  },
  responses: { kind: "stateless" },
});
