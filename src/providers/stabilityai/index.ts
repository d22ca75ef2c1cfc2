import type { ProviderRow } from "../provider.ts";
import { removeBackground } from "./background.ts";
import { generateImages } from "./images.ts";

export const stabilityai: ProviderRow = {
  name: "stabilityai",
  title: "Stability AI",
  docs: "https://platform.stability.ai/docs/api-reference",
  baseUrl: "https://api.stability.ai",
  auth: { kind: "bearer" },
  keyNames: ["STABILITY_API_KEY"],
  // Of every endpoint there: 403 means that the request was flagged by the moderation; keys are refused with 401.
  errors: [{ status: 403, means: "rejected" }],
  tasks: [generateImages, removeBackground],
};
