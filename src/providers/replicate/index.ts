import type { TaskInput } from "../../contract/tasks.ts";
import { asList, asNumber, asText, at } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { findRatio, type MadeImage, referenceImagesOf, sizeOf, toImages } from "../shapes/images.ts";
import { dataUrlOf, modelOf, postJson } from "../shapes/inputs.ts";
import { poll } from "../shapes/requests.ts";
import { defineTask, type NextRequest, refuseInput, type TaskCall, TaskFailure, type TaskResponse } from "../task.ts";

const defaultModel = "black-forest-labs/flux-schnell";
const defaultImageModel = "black-forest-labs/flux-dev";
const defaultMaskModel = "black-forest-labs/flux-fill-dev";

type ImageCall = TaskCall<TaskInput<"image/generation">>;

/** The inputs of some models, from the schemas at https://replicate.com/<model>/api. */
interface ModelInputs {
  readonly models: RegExp;
  readonly ratios: readonly string[];
  readonly maxImages: number;
  readonly reference: "none" | "optional" | "required";
  readonly hasMask?: true;
}

const diffusionRatios = ["1:1", "16:9", "21:9", "3:2", "2:3", "4:5", "5:4", "9:16", "9:21"];
const flux = { ratios: [...diffusionRatios, "3:4", "4:3"], maxImages: 4 };

/** The first entry that matches. Other Flux models take their images in members of other names, which callers set as `provider_params`. */
const knownInputs: readonly ModelInputs[] = [
  { models: /^black-forest-labs\/flux-fill-/, ...flux, reference: "required", hasMask: true },
  { models: /^black-forest-labs\/flux-dev\b/, ...flux, reference: "optional" },
  { models: /^black-forest-labs\/flux-/, ...flux, reference: "none" },
  { models: /^stability-ai\/stable-diffusion-3/, ratios: diffusionRatios, maxImages: 1, reference: "optional" },
];

/** State while the images are downloaded one by one. */
interface Downloads {
  readonly remainingUrls: readonly string[];
  readonly images: readonly MadeImage[];
  readonly seconds: number | null;
}

/** Each model has inputs of its own. The task fills those that most models share; callers set others as `provider_params`. */
const generateImages = defineTask("image/generation", {
  docs: "https://replicate.com/changelog/2025-08-05-run-all-models-with-the-same-api-endpoint",
  models: [defaultModel, defaultImageModel, defaultMaskModel, "stability-ai/stable-diffusion-3.5-large"],
  acceptsAnyModel: true,
  defaultModel,
  // The usual default model takes neither a reference image nor a mask.
  defaultModelFor({ reference_images: images, mask }) {
    if (mask) return defaultMaskModel;
    return asList(images).length > 0 ? defaultImageModel : null;
  },
  // The image has the size of its reference image.
  unsupportedFor: ({ reference_images: images }) => (asList(images).length > 0 ? ["resolution"] : []),
  toRequest: async (call) => {
    const model = modelOf(call);
    const { text, num_images } = call.input;
    const [reference, another] = referenceImagesOf(call);
    if (another !== undefined) refuseInput("reference_images", "This provider takes one reference image", "too_long");
    const { mask } = call.files;
    const known = knownInputs.find(({ models }) => models.test(model));
    if (known !== undefined) refuseIgnored(call, known);
    const input = {
      prompt: text,
      num_outputs: num_images !== null && num_images > 1 ? num_images : undefined,
      ...(reference === undefined && toSize(call, known)),
      image: reference && (await dataUrlOf(reference)),
      mask: mask && (await dataUrlOf(mask)),
    };
    return postJson("/predictions", { version: model, input }, { paramsPath: ["input"] });
  },
  next(response, _call, { state }) {
    if (state !== undefined) return downloadNext(addImage(state as Downloads, response));
    const { json } = response;
    const status = String(at(json, "status"));
    if (["failed", "canceled", "aborted"].includes(status))
      throw new TaskFailure(400, asText(at(json, "error")) ?? "no image was created");
    if (status !== "succeeded") return poll("/predictions", json);
    const remainingUrls = [at(json, "output")].flat().filter((url) => typeof url === "string");
    if (remainingUrls.length === 0) throw new TypeError("there is no image in the answer");
    return downloadNext({ remainingUrls, images: [], seconds: asNumber(at(json, "metrics", "predict_time")) });
  },
  fromResponse(response, _call, { state }) {
    const { images, seconds } = addImage(state as Downloads, response);
    return { ...toImages(images, seconds === null ? {} : { exec_time: seconds }), original: null };
  },
});

/** The vendor ignores inputs that a model does not have: it would create, and bill, another image than the requested one. */
function refuseIgnored(call: ImageCall, { reference, hasMask, maxImages }: ModelInputs): void {
  const [image] = referenceImagesOf(call);
  if (image !== undefined && reference === "none")
    refuseInput(
      "reference_images",
      `This model takes no reference image, ${defaultImageModel} does`,
      "unsupported_parameter",
    );
  if (call.files["mask"] !== undefined && hasMask !== true)
    refuseInput("mask", `This model has no mask, ${defaultMaskModel} has`, "unsupported_parameter");
  if (image === undefined && reference === "required")
    refuseInput("reference_images", "This model needs the image that it changes", "missing");
  if ((call.input.num_images ?? 1) > maxImages)
    refuseInput("num_images", `This model creates up to ${maxImages} images per request`, "less_than_equal");
}

function toSize(call: ImageCall, known: ModelInputs | undefined): object | null {
  const { resolution } = call.input;
  if (!resolution) return null;
  if (known !== undefined) return { aspect_ratio: findRatio(resolution, known.ratios) };
  return sizeOf(call) ?? { aspect_ratio: resolution };
}

function addImage(downloads: Downloads, { bytes, mediaType }: TaskResponse): Downloads {
  return { ...downloads, images: [...downloads.images, { bytes, mediaType: mediaType || "image/png" }] };
}

function downloadNext({ remainingUrls: [url, ...remainingUrls], images, seconds }: Downloads): NextRequest | null {
  return url === undefined ? null : { path: "/", url, state: { remainingUrls, images, seconds } satisfies Downloads };
}

export const replicate = defineProvider("replicate", "Replicate", {
  docs: "https://replicate.com/docs/reference/http",
  baseUrl: "https://api.replicate.com/v1",
  keyPrefix: "r8_",
  keyNames: ["REPLICATE_API_TOKEN"],
  sealedParams: ["webhook"],
  billedParams: ["num_outputs"],
  tasks: [generateImages],
});
