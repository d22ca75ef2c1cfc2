import { asNumber, asText, at } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { type MadeImage, referenceImagesOf, sizeOf, toImages } from "../shapes/images.ts";
import { dataUrlOf, textOf } from "../shapes/inputs.ts";
import { type NextRequest, type ProviderTask, refuseInput, TaskFailure } from "../task.ts";

const usualModel = "black-forest-labs/flux-schnell";

/** What was made, file by file. */
interface Gathered {
  readonly waiting: readonly string[];
  readonly images: readonly MadeImage[];
  readonly seconds: number | null;
}

/** Each model has parameters of its own; those that most of them share are filled in, the others are `provider_params`. */
const generateImages: ProviderTask = {
  task: "image/generation",
  docs: "https://replicate.com/changelog/2025-08-05-run-all-models-with-the-same-api-endpoint",
  models: [usualModel, "black-forest-labs/flux-dev", "stability-ai/stable-diffusion-3.5-large"],
  acceptsAnyModel: true,
  toRequest: async (call) => {
    const size = sizeOf(call);
    const count = asNumber(call.input["num_images"]) ?? 1;
    const [reference, another] = referenceImagesOf(call);
    if (another !== undefined) refuseInput("reference_images", "This provider takes one image to begin with");
    const { mask } = call.files;
    return {
      path: "/predictions",
      paramsPath: ["input"],
      body: {
        kind: "json",
        value: {
          version: call.model ?? usualModel,
          input: {
            prompt: textOf(call),
            ...(count > 1 && { num_outputs: count }),
            ...size,
            ...(reference !== undefined && { image: await dataUrlOf(reference) }),
            ...(mask !== undefined && { mask: await dataUrlOf(mask) }),
          },
        },
      },
    };
  },
  next(answer, _call, asked) {
    const gathered = asked.state as Gathered | undefined;
    if (gathered !== undefined) {
      const image = { bytes: answer.bytes, mediaType: answer.mediaType || "image/png" };
      return takeNext({ ...gathered, images: [...gathered.images, image] });
    }
    const { json } = answer;
    const status = at(json, "status");
    if (status === "failed" || status === "canceled" || status === "aborted")
      throw new TaskFailure(400, asText(at(json, "error")) ?? "no image was made");
    if (status === "succeeded") {
      const waiting = [at(json, "output")].flat().filter((url) => typeof url === "string");
      if (waiting.length === 0) throw new TypeError("there is no image in the answer");
      return takeNext({ waiting, images: [], seconds: asNumber(at(json, "metrics", "predict_time")) });
    }
    const id = asText(at(json, "id"));
    if (id === null) throw new TypeError("there is no id in the answer");
    return { method: "GET", path: `/predictions/${encodeURIComponent(id)}`, waitMs: "growing" };
  },
  fromResponse({ bytes, mediaType }, _call, { state }) {
    const { images, seconds } = (state ?? { images: [], seconds: null }) as Gathered;
    const all = [...images, { bytes, mediaType: mediaType || "image/png" }];
    return { ...toImages(all, seconds === null ? {} : { exec_time: seconds }), original: null };
  },
};

/** The last one is read by the mapping itself. */
function takeNext({ waiting, images, seconds }: Gathered): NextRequest | null {
  const [url, ...rest] = waiting;
  return url === undefined ? null : { path: "/", url, state: { waiting: rest, images, seconds } satisfies Gathered };
}

export const replicate: ProviderRow = {
  name: "replicate",
  title: "Replicate",
  docs: "https://replicate.com/docs/reference/http",
  baseUrl: "https://api.replicate.com/v1",
  auth: { kind: "bearer" },
  keyNames: ["REPLICATE_API_TOKEN"],
  sealedParams: ["webhook"],
  tasks: [generateImages],
};
