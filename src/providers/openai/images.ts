import { asText, at, objectsIn } from "../lenient.ts";
import { referenceImagesOf, toImages } from "../shapes/images.ts";
import { postJson } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { defineTask } from "../task.ts";

export const generateImages = defineTask({
  task: "image/generation",
  docs: "https://developers.openai.com/api/reference/resources/images/methods/generate",
  models: ["gpt-image-2", "gpt-image-1.5", "gpt-image-1", "gpt-image-1-mini", "dall-e-3", "dall-e-2"],
  acceptsAnyModel: true,
  passthroughMembers: [
    ...["background", "moderation", "output_compression", "output_format"],
    ...["quality", "safety_identifier", "style", "user"],
  ],
  toRequest: (call) => {
    const { text, num_images, resolution } = call.input;
    const model = call.model ?? "gpt-image-1.5";
    const fields = {
      prompt: text,
      model,
      n: num_images ?? 1,
      size: resolution ?? undefined,
      // Other models always send base64, and refuse the parameter.
      response_format: model.startsWith("dall-e") ? "b64_json" : undefined,
    };
    const { mask } = call.files;
    const images = referenceImagesOf(call);
    if (mask === undefined && images.length === 0) return postJson("/images/generations", fields);
    return postForm("/images/edits", { ...fields, "image[]": images, mask });
  },
  fromResponse({ json }) {
    const mediaType = `image/${asText(at(json, "output_format")) ?? "png"}`;
    const base64 = objectsIn(at(json, "data")).flatMap(({ b64_json }) => asText(b64_json) ?? []);
    return toImages(base64.map((text) => ({ bytes: Buffer.from(text, "base64"), mediaType })));
  },
});
