// Two generations of the vendor's API: engines of the first make several images of any size, models of the second one of a ratio.

import { asList, asText, at, objectsIn } from "../lenient.ts";
import { referenceImagesOf, sizeOf, toImages } from "../shapes/images.ts";
import { filePart, textOf } from "../shapes/inputs.ts";
import type { TaskCall } from "../task.ts";
import { type FormPart, type ProviderTask, refuseInput, TaskFailure, type TaskRequest } from "../task.ts";

const usualEngine = "stable-diffusion-xl-1024-v1-0";
const ratios = ["21:9", "16:9", "3:2", "5:4", "1:1", "4:5", "2:3", "9:16", "9:21"];

export const generateImages: ProviderTask = {
  task: "image/generation",
  docs: "https://platform.stability.ai/docs/api-reference#tag/Generate",
  models: [usualEngine, "ultra", "core", "sd3.5-large", "sd3.5-large-turbo", "sd3.5-medium"],
  acceptsAnyModel: true,
  // The image gets the size of its reference image.
  unsupportedFor: ({ reference_images: images }) => (asList(images).length > 0 ? ["resolution"] : []),
  toRequest: (call) => {
    if (call.files["mask"] !== undefined)
      refuseInput("mask", "This provider has no mask for this task", "unsupported_parameter");
    const model = call.model ?? usualEngine;
    return model.startsWith("stable-diffusion-") ? toFirstGeneration(model, call) : toSecondGeneration(model, call);
  },
  fromResponse({ json }) {
    const artifacts = objectsIn(at(json, "artifacts"));
    const images = artifacts.length > 0 ? artifacts : objectsIn([json]);
    const made = images.flatMap((image) => {
      const base64 = asText(image["base64"]) ?? asText(image["image"]);
      const reason = image["finishReason"] ?? image["finish_reason"];
      return base64 === null || reason === "CONTENT_FILTERED" ? [] : [Buffer.from(base64, "base64")];
    });
    if (made.length === 0 && images.length > 0)
      throw new TaskFailure(400, "The image was held back by the provider's content filter");
    return toImages(made.map((bytes) => ({ bytes, mediaType: "image/png" })));
  },
};

async function toFirstGeneration(engine: string, call: TaskCall): Promise<TaskRequest> {
  const samples = Number(call.input["num_images"] ?? 1);
  const [image, another] = referenceImagesOf(call);
  const path = `/v1/generation/${encodeURIComponent(engine)}`;
  if (another !== undefined) refuseInput("reference_images", "This provider takes one image", "too_long");
  if (image === undefined)
    return {
      path: `${path}/text-to-image`,
      body: { kind: "json", value: { text_prompts: [{ text: textOf(call) }], samples, ...sizeOf(call) } },
    };
  const parts: FormPart[] = [
    { name: "text_prompts[0][text]", value: textOf(call) },
    { name: "samples", value: String(samples) },
    await filePart("init_image", image),
  ];
  return { path: `${path}/image-to-image`, body: { kind: "form", parts } };
}

async function toSecondGeneration(model: string, call: TaskCall): Promise<TaskRequest> {
  if (Number(call.input["num_images"] ?? 1) > 1)
    refuseInput("num_images", "This model makes one image at a time", "less_than_equal");
  const isDiffusion = model.startsWith("sd3");
  const [image, another] = referenceImagesOf(call);
  if (another !== undefined || (image !== undefined && model === "core"))
    refuseInput("reference_images", "This model does not take so many images", "too_long");
  const parts: FormPart[] = [
    { name: "prompt", value: textOf(call) },
    { name: "output_format", value: "png" },
    ...(isDiffusion ? [{ name: "model", value: model }] : []),
    // How far it may go from the image, which the vendor wants to be told: the middle.
    ...(image === undefined ? ratioOf(call) : [await filePart("image", image), { name: "strength", value: "0.5" }]),
    ...(image !== undefined && isDiffusion ? [{ name: "mode", value: "image-to-image" }] : []),
  ];
  return {
    path: `/v2beta/stable-image/generate/${isDiffusion ? "sd3" : encodeURIComponent(model)}`,
    body: { kind: "form", parts },
  };
}

function ratioOf(call: TaskCall): FormPart[] {
  const { resolution } = call.input;
  if (typeof resolution !== "string") return [];
  const size = sizeOf(call);
  const wanted = size === null ? resolution : ratios.find((ratio) => isRatioOf(ratio, size));
  if (wanted === undefined || !ratios.includes(wanted))
    refuseInput("resolution", `This model has the ratios ${ratios.join(", ")}`, "literal_error");
  return [{ name: "aspect_ratio", value: wanted }];
}

/** Sizes are rounded to pixels, and by many models to multiples of 64. */
function isRatioOf(ratio: string, { width, height }: { readonly width: number; readonly height: number }): boolean {
  const [across = 1, down = 1] = ratio.split(":").map(Number);
  return Math.abs(width / height / (across / down) - 1) < 0.03;
}
