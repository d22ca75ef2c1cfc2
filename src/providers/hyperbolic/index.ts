import { defineProvider } from "../provider.ts";

export const hyperbolic = defineProvider("hyperbolic", "Hyperbolic", {
  docs: "https://docs.hyperbolic.ai/inference/quickstart",
  baseUrl: "https://api.hyperbolic.xyz/v1",
  chat: { models: [] },
});
