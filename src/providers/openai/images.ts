import { asText, at, objectsIn } from "../lenient.ts";
import { referenceImagesOf, toImages } from "../shapes/images.ts";
import { fileOf, modelOf, postJson } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { defineTask, type TaskResponse } from "../task.ts";

const defaultModel = "gpt-image-1.5";
// https://developers.openai.com/api/docs/deprecations: DALL·E 2 and 3 were shut down in May 2026.
const models = ["gpt-image-2", defaultModel, "gpt-image-1", "gpt-image-1-mini"];
const squareSize = "1024x1024";

const common = { models, acceptsAnyModel: true, defaultModel, tokenModel: defaultModel, fromResponse } as const;

export const generateImages = defineTask("image/generation", {
  ...common,
  docs: "https://developers.openai.com/api/reference/resources/images/methods/generate",
  passthroughMembers: [
    ...["background", "moderation", "output_compression", "output_format"],
    ...["quality", "safety_identifier", "style", "user"],
  ],
  toRequest: (call) => {
    const { text, num_images, resolution } = call.input;
    const fields = {
      prompt: text,
      model: modelOf(call),
      n: num_images ?? 1,
      size: resolution ?? undefined,
    };
    const { mask } = call.files;
    const images = referenceImagesOf(call);
    if (mask === undefined && images.length === 0) return postJson("/images/generations", fields);
    return postForm("/images/edits", { ...fields, "image[]": images, mask });
  },
});

const defaultPrompt = "Create a variation of this image: the same subject and style, with different details.";

/** The endpoint for variations served DALL·E 2 alone, which was shut down in May 2026: its successors vary an image by editing it. */
export const varyImage = defineTask("image/variation", {
  ...common,
  docs: "https://developers.openai.com/api/reference/resources/images/methods/edit",
  files: { maxBytes: 50 * 1_048_576, mediaTypes: ["image/png", "image/jpeg", "image/webp"] },
  // The smallest square of these models has 1024 pixels a side.
  unsupported: ["resolution", "temperature"],
  toRequest: (call) =>
    postForm("/images/edits", {
      prompt: call.input.prompt || defaultPrompt,
      model: modelOf(call),
      n: call.input.num_images ?? 1,
      size: squareSize,
      "image[]": fileOf(call),
    }),
});

function fromResponse({ json }: TaskResponse) {
  const mediaType = `image/${asText(at(json, "output_format")) ?? "png"}`;
  const base64 = objectsIn(at(json, "data")).flatMap(({ b64_json }) => asText(b64_json) ?? []);
  const images = toImages(base64.map((text) => ({ bytes: Buffer.from(text, "base64"), mediaType })));
  // The number of tokens, and so the price, depends on size and quality.
  return { ...images, usage: at(json, "usage") ?? null };
}
