import type { ProviderRow } from "../provider.ts";

export const lmstudio: ProviderRow = {
  name: "lmstudio",
  title: "LM Studio",
  docs: "https://lmstudio.ai/docs/developer/openai-compat/chat-completions",
  baseUrl: "http://127.0.0.1:1234/v1",
  auth: { kind: "optional-bearer" },
  keyNames: ["LM_API_TOKEN"],
  chat: { models: [] },
};
