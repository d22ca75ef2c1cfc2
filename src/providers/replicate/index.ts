import { asNumber, asText, at } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { type MadeImage, referenceImagesOf, sizeOf, toImages } from "../shapes/images.ts";
import { dataUrlOf, modelOf, postJson } from "../shapes/inputs.ts";
import { poll } from "../shapes/requests.ts";
import { defineTask, type NextRequest, refuseInput, TaskFailure, type TaskResponse } from "../task.ts";

const defaultModel = "black-forest-labs/flux-schnell";

/** State while the images are downloaded one by one. */
interface Downloads {
  readonly remainingUrls: readonly string[];
  readonly images: readonly MadeImage[];
  readonly seconds: number | null;
}

/** Each model has parameters of its own. The task fills those that most models share; callers set others as `provider_params`. */
const generateImages = defineTask("image/generation", {
  docs: "https://replicate.com/changelog/2025-08-05-run-all-models-with-the-same-api-endpoint",
  models: [defaultModel, "black-forest-labs/flux-dev", "stability-ai/stable-diffusion-3.5-large"],
  acceptsAnyModel: true,
  defaultModel,
  toRequest: async (call) => {
    const { text, num_images } = call.input;
    const [reference, another] = referenceImagesOf(call);
    if (another !== undefined) refuseInput("reference_images", "This provider takes one reference image");
    const { mask } = call.files;
    const input = {
      prompt: text,
      num_outputs: num_images !== null && num_images > 1 ? num_images : undefined,
      ...sizeOf(call),
      image: reference && (await dataUrlOf(reference)),
      mask: mask && (await dataUrlOf(mask)),
    };
    return postJson("/predictions", { version: modelOf(call), input }, { paramsPath: ["input"] });
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
