import { toCutOut } from "../shapes/images.ts";
import { fileOf, filePart } from "../shapes/inputs.ts";
import type { ProviderTask } from "../task.ts";

export const removeBackground: ProviderTask = {
  task: "image/background_removal",
  docs: "https://platform.stability.ai/docs/api-reference#tag/Edit/paths/~1v2beta~1stable-image~1edit~1remove-background/post",
  files: { mediaTypes: ["image/png", "image/jpeg", "image/webp"] },
  toRequest: async (call) => ({
    path: "/v2beta/stable-image/edit/remove-background",
    headers: { accept: "image/*" },
    body: {
      kind: "form",
      parts: [{ name: "output_format", value: "png" }, await filePart("image", fileOf(call))],
    },
  }),
  fromResponse: ({ bytes, mediaType }) => toCutOut({ bytes, mediaType: mediaType || "image/png" }),
};
