import type { ProviderRow } from "../provider.ts";
import { toCutOut } from "../shapes/images.ts";
import { fileOf, filePart } from "../shapes/inputs.ts";
import type { ProviderTask } from "../task.ts";

const removeBackground: ProviderTask = {
  task: "image/background_removal",
  docs: "https://clipdrop.co/apis/docs/remove-background",
  files: { mediaTypes: ["image/png", "image/jpeg", "image/webp"], maxBytes: 30 * 1_048_576 },
  toRequest: async (call) => ({
    path: "/remove-background/v1",
    headers: { accept: "image/png" },
    body: { kind: "form", parts: [await filePart("image_file", fileOf(call))] },
  }),
  fromResponse: ({ bytes, mediaType }) => toCutOut({ bytes, mediaType: mediaType || "image/png" }),
};

export const clipdrop: ProviderRow = {
  name: "clipdrop",
  title: "Clipdrop",
  docs: "https://clipdrop.co/apis/docs",
  baseUrl: "https://clipdrop-api.co",
  auth: { kind: "header", name: "x-api-key" },
  tasks: [removeBackground],
};
