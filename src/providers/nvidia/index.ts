import { defineProvider } from "../provider.ts";

export const nvidia = defineProvider("nvidia", "NVIDIA NIM", {
  docs: "https://docs.api.nvidia.com/nim/reference/llm-apis",
  baseUrl: "https://integrate.api.nvidia.com/v1",
  chat: { models: [] },
});
