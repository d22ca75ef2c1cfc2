import { defineProvider } from "../provider.ts";
import { removesBackground } from "../shapes/images.ts";

const removeBackground = removesBackground("/remove-background/v1", "image/png", {
  docs: "https://clipdrop.co/apis/docs/remove-background",
  files: { mediaTypes: ["image/png", "image/jpeg", "image/webp"], maxBytes: 30 * 1_048_576 },
});

export const clipdrop = defineProvider("clipdrop", "Clipdrop", {
  docs: "https://clipdrop.co/apis/docs",
  baseUrl: "https://clipdrop-api.co",
  auth: { kind: "header", name: "x-api-key" },
  tasks: [removeBackground],
});
