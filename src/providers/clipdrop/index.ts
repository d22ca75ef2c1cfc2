import type { ProviderRow } from "../provider.ts";
import { fromCutOut } from "../shapes/images.ts";
import { fileOf } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { defineTask } from "../task.ts";

const removeBackground = defineTask({
  task: "image/background_removal",
  docs: "https://clipdrop.co/apis/docs/remove-background",
  files: { mediaTypes: ["image/png", "image/jpeg", "image/webp"], maxBytes: 30 * 1_048_576 },
  toRequest: (call) =>
    postForm("/remove-background/v1", { image_file: fileOf(call) }, { headers: { accept: "image/png" } }),
  fromResponse: fromCutOut,
});

export const clipdrop: ProviderRow = {
  name: "clipdrop",
  title: "Clipdrop",
  docs: "https://clipdrop.co/apis/docs",
  baseUrl: "https://clipdrop-api.co",
  auth: { kind: "header", name: "x-api-key" },
  tasks: [removeBackground],
};
