// Images by Gemini's image models, which create one image per request. Google shut down its Imagen models in August 2026.
// https://ai.google.dev/gemini-api/docs/image-generation

import type { JsonObject } from "../dialect.ts";
import { asText, at, objectsIn } from "../lenient.ts";
import { findRatio, referenceImagesOf, toImages } from "../shapes/images.ts";
import { fileOf, modelOf, postJson, readBase64 } from "../shapes/inputs.ts";
import type { InputFile, TaskCall, TaskRequest, TaskResponse } from "../task.ts";
import { defineTask, refuseInput, TaskFailure } from "../task.ts";

const docs = "https://ai.google.dev/gemini-api/docs/image-generation";
const defaultModel = "gemini-3.1-flash-image";
const models = [defaultModel, "gemini-3-pro-image"];
const billedParams = ["candidateCount"];
const ratios = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"];
// The limit of a request with inline data: https://ai.google.dev/gemini-api/docs/file-input-methods. Base64 makes a file a third larger.
const files = { maxBytes: 14 * 1_048_576, mediaTypes: ["image/png", "image/jpeg", "image/webp"] };

export const generateImages = defineTask("image/generation", {
  docs,
  service: "generativelanguage",
  models,
  acceptsAnyModel: true,
  defaultModel,
  billedParams,
  files,
  toRequest: (call) => {
    const { text, num_images, resolution, mask } = call.input;
    if (mask) refuseInput("mask", "This provider has no mask for this task", "unsupported_parameter");
    refuseSeveral(num_images);
    const aspectRatio = resolution ? findRatio(resolution, ratios) : null;
    const config = aspectRatio === null ? {} : { imageConfig: { aspectRatio } };
    return toRequest(call, { text, images: referenceImagesOf(call), config });
  },
  fromResponse,
});

const defaultPrompt = "Create a variation of this image: the same subject and style, with different details.";

export const varyImage = defineTask("image/variation", {
  docs,
  service: "generativelanguage",
  models,
  acceptsAnyModel: true,
  defaultModel,
  billedParams,
  files,
  // The result has the proportions of the image.
  unsupported: ["resolution"],
  toRequest: (call) => {
    const { prompt, num_images, temperature } = call.input;
    refuseSeveral(num_images);
    const config = typeof temperature === "number" ? { temperature } : {};
    return toRequest(call, { text: prompt || defaultPrompt, images: [fileOf(call)], config });
  },
  fromResponse,
});

function refuseSeveral(count: number | null | undefined): void {
  if ((count ?? 1) > 1) refuseInput("num_images", "This provider creates one image per request", "less_than_equal");
}

async function toRequest(
  call: TaskCall,
  content: { readonly text: string; readonly images: readonly InputFile[]; readonly config: JsonObject },
): Promise<TaskRequest> {
  const parts: JsonObject[] = [{ text: content.text }];
  for (const image of content.images)
    parts.push({ inlineData: { mimeType: image.mediaType, data: await readBase64(image) } });
  const value = {
    contents: [{ role: "user", parts }],
    generationConfig: { responseModalities: ["IMAGE"], ...content.config },
  };
  const model = encodeURIComponent(modelOf(call));
  return postJson(`/v1beta/models/${model}:generateContent`, value, { paramsPath: ["generationConfig"] });
}

function fromResponse({ json }: TaskResponse) {
  const candidate = at(json, "candidates", 0);
  const images = objectsIn(at(candidate, "content", "parts")).flatMap(({ inlineData }) => {
    const data = asText(at(inlineData, "data"));
    if (data === null) return [];
    return [{ bytes: Buffer.from(data, "base64"), mediaType: asText(at(inlineData, "mimeType")) ?? "image/png" }];
  });
  if (images.length > 0) return toImages(images);
  const reason =
    asText(at(json, "promptFeedback", "blockReason")) ??
    asText(at(candidate, "finishMessage")) ??
    asText(at(candidate, "finishReason"));
  if (reason !== null && reason !== "STOP") throw new TaskFailure(400, `no image was created: ${reason}`);
  return toImages([]);
}
