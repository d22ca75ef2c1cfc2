// Two versions of the vendor's API: version 1 has engines, which create several images of any size; version 2 has models, which create one
// image with an aspect ratio.

import { asList, asText, at, objectsIn } from "../lenient.ts";
import { referenceImagesOf, sizeOf, toImages } from "../shapes/images.ts";
import { postJson } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { defineTask, refuseInput, type TaskCall, TaskFailure, type TaskRequest } from "../task.ts";

const defaultEngine = "stable-diffusion-xl-1024-v1-0";
const ratios = ["21:9", "16:9", "3:2", "5:4", "1:1", "4:5", "2:3", "9:16", "9:21"];

export const generateImages = defineTask({
  task: "image/generation",
  docs: "https://platform.stability.ai/docs/api-reference#tag/Generate",
  models: [defaultEngine, "ultra", "core", "sd3.5-large", "sd3.5-large-turbo", "sd3.5-medium"],
  acceptsAnyModel: true,
  // The image has the size of its reference image.
  unsupportedFor: ({ reference_images: images }) => (asList(images).length > 0 ? ["resolution"] : []),
  toRequest: (call) => {
    if (call.files["mask"] !== undefined)
      refuseInput("mask", "This provider has no mask for this task", "unsupported_parameter");
    const model = call.model ?? defaultEngine;
    const count = call.input.num_images ?? 1;
    return model.startsWith("stable-diffusion-") ? toVersion1(model, count, call) : toVersion2(model, count, call);
  },
  fromResponse({ json }) {
    const artifacts = objectsIn(at(json, "artifacts"));
    const images = artifacts.length > 0 ? artifacts : objectsIn([json]);
    const accepted = images.flatMap((image) => {
      const base64 = asText(image["base64"]) ?? asText(image["image"]);
      const reason = image["finishReason"] ?? image["finish_reason"];
      if (base64 === null || reason === "CONTENT_FILTERED") return [];
      return [{ bytes: Buffer.from(base64, "base64"), mediaType: "image/png" }];
    });
    if (accepted.length === 0 && images.length > 0)
      throw new TaskFailure(400, "The provider's content filter blocked the image");
    return toImages(accepted);
  },
});

function toVersion1(
  engine: string,
  samples: number,
  call: TaskCall<{ text: string }>,
): TaskRequest | Promise<TaskRequest> {
  const [image, another] = referenceImagesOf(call);
  const path = `/v1/generation/${encodeURIComponent(engine)}`;
  if (another !== undefined) refuseInput("reference_images", "This provider takes one reference image", "too_long");
  if (image === undefined)
    return postJson(`${path}/text-to-image`, { text_prompts: [{ text: call.input.text }], samples, ...sizeOf(call) });
  return postForm(`${path}/image-to-image`, { "text_prompts[0][text]": call.input.text, samples, init_image: image });
}

function toVersion2(model: string, count: number, call: TaskCall<{ text: string }>): Promise<TaskRequest> {
  if (count > 1) refuseInput("num_images", "This model creates one image per request", "less_than_equal");
  const isDiffusion = model.startsWith("sd3");
  const [image, another] = referenceImagesOf(call);
  if (another !== undefined || (image !== undefined && model === "core"))
    refuseInput("reference_images", "This model does not take that many reference images", "too_long");
  // The vendor requires a strength with a reference image: how far the result may differ from it, 0..1.
  const reference = image && { image, strength: 0.5, mode: isDiffusion ? "image-to-image" : null };
  return postForm(`/v2beta/stable-image/generate/${isDiffusion ? "sd3" : encodeURIComponent(model)}`, {
    prompt: call.input.text,
    output_format: "png",
    model: isDiffusion ? model : null,
    ...(reference ?? { aspect_ratio: ratioOf(call) }),
  });
}

function ratioOf(call: TaskCall): string | null {
  const { resolution } = call.input;
  if (typeof resolution !== "string") return null;
  const size = sizeOf(call);
  const ratio = size === null ? resolution : ratios.find((candidate) => isRatioOf(candidate, size));
  if (ratio === undefined || !ratios.includes(ratio))
    refuseInput("resolution", `This model has the ratios ${ratios.join(", ")}`, "literal_error");
  return ratio;
}

/** Sizes are rounded to pixels, and by many models to multiples of 64. */
function isRatioOf(ratio: string, { width, height }: { readonly width: number; readonly height: number }): boolean {
  const [across = 1, down = 1] = ratio.split(":").map(Number);
  return Math.abs(width / height / (across / down) - 1) < 0.03;
}
