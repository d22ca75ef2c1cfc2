import type { VendorRow } from "../vendor-engine.ts";
import { removeBackground } from "./background.ts";
import { generateImages } from "./images.ts";

export const stabilityai: VendorRow = {
  name: "stabilityai",
  title: "Stability AI",
  docs: "https://platform.stability.ai/docs/api-reference",
  baseUrl: "https://api.stability.ai",
  auth: { kind: "bearer" },
  keyNames: ["STABILITY_API_KEY"],
  tasks: [generateImages, removeBackground],
};
