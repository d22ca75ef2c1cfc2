import { defineProvider } from "../provider.ts";
import { fromCutOut } from "../shapes/images.ts";
import { fileOf } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { defineTask } from "../task.ts";
import { generateImages, varyImage } from "./images.ts";

const removeBackground = defineTask("image/background_removal", {
  docs: "https://platform.stability.ai/docs/api-reference#tag/Edit/paths/~1v2beta~1stable-image~1edit~1remove-background/post",
  files: { mediaTypes: ["image/png", "image/jpeg", "image/webp"] },
  toRequest: (call) => {
    const fields = { output_format: "png", image: fileOf(call) };
    return postForm("/v2beta/stable-image/edit/remove-background", fields, { headers: { accept: "image/*" } });
  },
  fromResponse: fromCutOut,
});

export const stabilityai = defineProvider("stabilityai", "Stability AI", {
  docs: "https://platform.stability.ai/docs/api-reference",
  baseUrl: "https://api.stability.ai",
  keyNames: ["STABILITY_API_KEY"],
  // Each endpoint documents 403 as a request that the moderation flagged; unknown keys are refused with 401.
  errors: [{ status: 403, means: "rejected" }],
  billedParams: ["model"],
  tasks: [generateImages, varyImage, removeBackground],
});
