import { type ErrorRule, readErrorRules } from "../error-rules.ts";
import { asList, asNumber, asText, at } from "../lenient.ts";
import { type SharedFacts, withFacts } from "../model-facts.ts";
import { defineProvider } from "../provider.ts";
import { findRatio, referenceImagesOf, sizeOf, toImages } from "../shapes/images.ts";
import { dataUrlOf, modelOf, postJson, refuseMembers } from "../shapes/inputs.ts";
import { requireValue } from "../shapes/require-value.ts";
import { dimensionOf, toVideo } from "../shapes/video.ts";
import { defineTask, refuseInput, TaskFailure, type TaskResponse } from "../task.ts";

const defaultVideoModel = "MiniMax-Hailuo-02";
/** Shows the person of an image, which is not a frame of the video. */
const subjectModel = "S2V-01";
/** Models of the first generation have no other length. */
const firstGenerationSeconds = 6;

/** The resolutions of a model: the first entry that matches. */
const resolutions = [
  { models: /^MiniMax-Hailuo-/, names: { "1366x768": "768P", "1920x1080": "1080P" } },
  { models: /-01\b/, names: { "1280x720": "720P" } },
  { models: /^/, names: { "1280x720": "720P", "1366x768": "768P", "1920x1080": "1080P" } },
] as const;

const generateVideo = defineTask("video/generation_async", {
  docs: "https://platform.minimax.io/docs/api-reference/video-generation-t2v",
  models: [defaultVideoModel, "MiniMax-Hailuo-2.3", subjectModel],
  acceptsAnyModel: true,
  defaultModel: defaultVideoModel,
  files: { mediaTypes: ["image/jpeg", "image/png", "image/webp"] },
  toRequest: async (call) => {
    refuseMembers(call, ["seed"]);
    const model = modelOf(call);
    const { text: prompt, duration } = call.input;
    const names = resolutions.find(({ models }) => models.test(model))?.names ?? {};
    const resolution = dimensionOf(call, names) ?? undefined;
    const { file } = call.files;
    if (model !== subjectModel) {
      const first_frame_image = file && (await dataUrlOf(file));
      const body = { model, prompt, first_frame_image, duration: duration ?? undefined, resolution };
      return postJson("/video_generation", body);
    }
    // https://platform.minimax.io/docs/api-reference/video-generation-s2v: the length and the resolution are fixed.
    if (file === undefined)
      refuseInput("file", "This model needs an image of the person that the video shows", "missing");
    if ((duration ?? firstGenerationSeconds) !== firstGenerationSeconds)
      refuseInput("duration", `This model creates ${firstGenerationSeconds} seconds`, "literal_error");
    const subject_reference = [{ type: "character", image: [await dataUrlOf(file)] }];
    return postJson("/video_generation", { model, prompt, subject_reference });
  },
  next(response, _call, request) {
    if (request.url !== undefined) return null;
    refuseFailure(response);
    const { json } = response;
    if (request.path === "/files/retrieve")
      return { path: "/", url: requireValue(asText(at(json, "file", "download_url")), "address of the video") };
    const status = at(json, "status");
    if (status === "Fail") throw new TaskFailure(400, "no video was created");
    if (status === "Success")
      return { method: "GET", path: "/files/retrieve", query: { file_id: toId(at(json, "file_id")) } };
    if (request.method === "GET") return { ...request, waitMs: "growing" };
    const query = { task_id: toId(at(json, "task_id")) };
    return { method: "GET", path: "/query/video_generation", query, waitMs: "growing" };
  },
  fromResponse: ({ bytes }, call) => toVideo(bytes, "video/mp4", call.input.duration ?? null),
});

const imageRatios = ["1:1", "16:9", "4:3", "3:2", "2:3", "3:4", "9:16", "21:9"];

const generateImages = defineTask("image/generation", {
  docs: "https://platform.minimax.io/docs/api-reference/image-generation-t2i",
  models: ["image-01"],
  acceptsAnyModel: true,
  defaultModel: "image-01",
  files: { maxBytes: 10 * 1_048_576, mediaTypes: ["image/jpeg", "image/png"] },
  toRequest: async (call) => {
    const { text, num_images, resolution, mask } = call.input;
    if (mask) refuseInput("mask", "This provider has no mask for this task", "unsupported_parameter");
    if ((num_images ?? 1) > 9)
      refuseInput("num_images", "This provider creates up to 9 images per request", "less_than_equal");
    const [image, another] = referenceImagesOf(call);
    if (another !== undefined) refuseInput("reference_images", "This provider takes one reference image", "too_long");
    const size = sizeOf(call);
    // Sizes of its own are multiples of 8, 512 to 2048 pixels a side.
    const isSize = size !== null && Object.values(size).every((side) => side % 8 === 0 && side >= 512 && side <= 2_048);
    return postJson("/image_generation", {
      model: modelOf(call),
      prompt: text,
      n: num_images ?? 1,
      response_format: "base64",
      ...(isSize ? size : resolution && { aspect_ratio: findRatio(resolution, imageRatios) }),
      ...(image && { subject_reference: [{ type: "character", image_file: await dataUrlOf(image) }] }),
    });
  },
  fromResponse(response) {
    refuseFailure(response);
    const images = asList(at(response.json, "data", "image_base64")).flatMap((text) => asText(text) ?? []);
    const blocked = asNumber(at(response.json, "metadata", "failed_count")) ?? 0;
    if (images.length === 0 && blocked > 0)
      throw new TaskFailure(400, "The provider's content filter blocked the image");
    return toImages(images.map((text) => ({ bytes: Buffer.from(text, "base64"), mediaType: "image/jpeg" })));
  },
});

function toId(id: unknown): string {
  return String(requireValue(typeof id === "number" ? id : asText(id), "id"));
}

// https://platform.minimax.io/docs/api-reference/errorcode: responses of every status have a code, those of status 200 as well.
const errors: readonly ErrorRule[] = [
  { says: /"status_code"\s*:\s*(?:1002|1039|1041)\b/, means: "rate_limit" },
  { says: /"status_code"\s*:\s*(?:1004|1008|2049)\b/, means: "credentials" },
  { says: /"status_code"\s*:\s*(?:1026|1027|1042|2013)\b/, means: "rejected" },
];

/** A timeout, and an account without balance: fallbacks may run for both. */
const taskStatuses: Readonly<Record<number, number>> = { 1001: 504, 1008: 402 };

function refuseFailure({ json, text }: TaskResponse): void {
  const code = asNumber(at(json, "base_resp", "status_code")) ?? 0;
  if (code === 0) return;
  const status = taskStatuses[code] ?? readErrorRules(errors, 502, text) ?? 502;
  throw new TaskFailure(status, asText(at(json, "base_resp", "status_msg")) ?? `code ${code}`);
}

const m2: SharedFacts = { contextTokens: 204_800, maxOutputTokens: 204_800, tools: true };

export const minimax = defineProvider("minimax", "MiniMax", {
  docs: "https://platform.minimax.io/docs/api-reference/text-openai-api",
  baseUrl: "https://api.minimax.io/v1",
  errors,
  chat: {
    // https://platform.minimax.io/docs/guides/text-m2-function-call: without `reasoning_split` the content contains the reasoning, in
    // <think> tags; with it, the reasoning is sent as `reasoning_details`, which the next request must contain.
    rules: [
      { efforts: [], outputLimit: "max_completion_tokens", refused: ["web_search_options"] },
      { models: /^MiniMax-M3/, thinking: { on: { type: "adaptive" }, off: { type: "disabled" } } },
      { models: /^MiniMax-M\d/, added: { reasoning_split: true }, reasoningReturn: "reasoning_details" },
    ],
    defaultModel: "MiniMax-M3",
    models: [
      {
        id: "MiniMax-M3",
        contextTokens: 1_000_000,
        maxOutputTokens: 524_288,
        input: ["text", "image", "video"],
        reasoning: true,
      },
      ...withFacts(m2, ["MiniMax-M2.7", "MiniMax-M2.7-highspeed", "MiniMax-M2.5", "MiniMax-M2.5-highspeed"]),
    ],
  },
  sealedParams: ["callback_url"],
  billedParams: ["model", "n", "duration"],
  tasks: [generateImages, generateVideo],
});
