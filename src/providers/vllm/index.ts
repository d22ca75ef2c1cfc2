import type { ProviderRow } from "../provider.ts";

export const vllm: ProviderRow = {
  name: "vllm",
  title: "vLLM",
  docs: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
  baseUrl: "http://127.0.0.1:8000/v1",
  auth: { kind: "optional-bearer" },
  chat: { models: [] },
};
