import type { ProviderRow } from "../provider.ts";

export const litellm: ProviderRow = {
  name: "litellm",
  title: "LiteLLM Proxy",
  docs: "https://docs.litellm.ai/docs/proxy/user_keys",
  baseUrl: "http://127.0.0.1:4000/v1",
  auth: { kind: "optional-bearer" },
  chat: { models: [] },
};
