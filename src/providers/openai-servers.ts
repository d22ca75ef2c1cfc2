// Servers of the operator that have the OpenAI format. They serve whatever models the operator loads, so no model is listed.

import type { ProviderRow } from "./provider.ts";

export const litellm = toRow("litellm", "LiteLLM Proxy", {
  docs: "https://docs.litellm.ai/docs/proxy/user_keys",
  baseUrl: "http://127.0.0.1:4000/v1",
});

export const llamacpp = toRow("llamacpp", "llama.cpp server", {
  docs: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
  baseUrl: "http://127.0.0.1:8080/v1",
  keyNames: ["LLAMA_API_KEY"],
});

export const lmstudio = toRow("lmstudio", "LM Studio", {
  docs: "https://lmstudio.ai/docs/developer/openai-compat/chat-completions",
  baseUrl: "http://127.0.0.1:1234/v1",
  keyNames: ["LM_API_TOKEN"],
});

export const vllm = toRow("vllm", "vLLM", {
  docs: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
  baseUrl: "http://127.0.0.1:8000/v1",
});

function toRow(name: string, title: string, facts: Pick<ProviderRow, "docs" | "baseUrl" | "keyNames">): ProviderRow {
  return { name, title, auth: { kind: "optional-bearer" }, chat: { models: [] }, ...facts };
}
