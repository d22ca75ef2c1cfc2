// The second version of the vendor's API: its models create one image with an aspect ratio. The engines of version 1 (SDXL) are retired.

import { asList, asText, at } from "../lenient.ts";
import { findRatio, referenceImagesOf, toImages } from "../shapes/images.ts";
import { fileOf, modelOf } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { defineTask, type InputFile, refuseInput, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";

const defaultModel = "core";
const defaultImageModel = "sd3.5-large";
const diffusionModels = [defaultImageModel, "sd3.5-large-turbo", "sd3.5-medium"];
const ratios = ["21:9", "16:9", "3:2", "5:4", "1:1", "4:5", "2:3", "9:16", "9:21"];
const files = { mediaTypes: ["image/png", "image/jpeg", "image/webp"] };

export const generateImages = defineTask("image/generation", {
  docs: "https://platform.stability.ai/docs/api-reference#tag/Generate",
  models: [defaultModel, "ultra", ...diffusionModels],
  acceptsAnyModel: true,
  defaultModel,
  // The usual default model takes no reference image.
  defaultModelFor: ({ reference_images: images }) => (asList(images).length > 0 ? defaultImageModel : null),
  files,
  // The image has the size of its reference image.
  unsupportedFor: ({ reference_images: images }) => (asList(images).length > 0 ? ["resolution"] : []),
  toRequest: (call) => {
    if (call.files["mask"] !== undefined)
      refuseInput("mask", "This provider has no mask for this task", "unsupported_parameter");
    refuseSeveral(call.input.num_images);
    const { text, resolution } = call.input;
    const [image, another] = referenceImagesOf(call);
    const model = modelOf(call);
    if (another !== undefined || (image !== undefined && model === "core"))
      refuseInput("reference_images", "This model does not take that many reference images", "too_long");
    const ratio = resolution ? findRatio(resolution, ratios) : null;
    return toRequest(model, text, image === undefined ? { aspect_ratio: ratio } : { image, strength: 0.5 });
  },
  fromResponse,
});

const defaultPrompt = "A variation of this image: the same subject and style, with different details.";

export const varyImage = defineTask("image/variation", {
  docs: "https://platform.stability.ai/docs/api-reference#tag/Generate/paths/~1v2beta~1stable-image~1generate~1sd3/post",
  models: diffusionModels,
  defaultModel: defaultImageModel,
  files,
  // The result has the size of the image.
  unsupported: ["resolution"],
  toRequest: (call) => {
    const { prompt, num_images, temperature } = call.input;
    refuseSeveral(num_images);
    const strength = temperature ?? 0.5;
    return toRequest(modelOf(call), prompt || defaultPrompt, { image: fileOf(call), strength });
  },
  fromResponse,
});

function refuseSeveral(count: number | null | undefined): void {
  if ((count ?? 1) > 1) refuseInput("num_images", "This model creates one image per request", "less_than_equal");
}

/** `strength` is how far the result may differ from the image, 0..1; the vendor requires it with an image. */
function toRequest(
  model: string,
  prompt: string,
  more: { readonly aspect_ratio: string | null } | { readonly image: InputFile; readonly strength: number },
): Promise<TaskRequest> {
  const isDiffusion = model.startsWith("sd3");
  return postForm(`/v2beta/stable-image/generate/${isDiffusion ? "sd3" : encodeURIComponent(model)}`, {
    prompt,
    output_format: "png",
    model: isDiffusion ? model : null,
    mode: isDiffusion && "image" in more ? "image-to-image" : null,
    ...more,
  });
}

function fromResponse({ json }: TaskResponse) {
  if (at(json, "finish_reason") === "CONTENT_FILTERED")
    throw new TaskFailure(400, "The provider's content filter blocked the image");
  const base64 = asText(at(json, "image"));
  return toImages(base64 === null ? [] : [{ bytes: Buffer.from(base64, "base64"), mediaType: "image/png" }]);
}
