import type { ProviderRow } from "../provider.ts";

export const hyperbolic: ProviderRow = {
  name: "hyperbolic",
  title: "Hyperbolic",
  docs: "https://docs.hyperbolic.ai/inference/quickstart",
  baseUrl: "https://api.hyperbolic.xyz/v1",
  chat: { models: [] },
};
