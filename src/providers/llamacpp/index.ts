import type { ProviderRow } from "../provider.ts";

export const llamacpp: ProviderRow = {
  name: "llamacpp",
  title: "llama.cpp server",
  docs: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
  baseUrl: "http://127.0.0.1:8080/v1",
  auth: { kind: "optional-bearer" },
  keyNames: ["LLAMA_API_KEY"],
  chat: { models: [] },
};
