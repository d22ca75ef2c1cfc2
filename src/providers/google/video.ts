// Google's Veo models in the Gemini API.

import { asText, at } from "../lenient.ts";
import { modelOf, postJson, readBase64, refuseMembers } from "../shapes/inputs.ts";
import { dimensionOf, toVideo } from "../shapes/video.ts";
import { defineTask, TaskFailure } from "../task.ts";
import { pollOperation } from "./google-json.ts";

const defaultModel = "veo-3.1-generate-preview";
const defaultSeconds = 8;

const dimensions = {
  "1280x720": { aspectRatio: "16:9", resolution: "720p" },
  "720x1280": { aspectRatio: "9:16", resolution: "720p" },
  "1920x1080": { aspectRatio: "16:9", resolution: "1080p" },
  "1080x1920": { aspectRatio: "9:16", resolution: "1080p" },
};

export const generateVideo = defineTask("video/generation_async", {
  docs: "https://ai.google.dev/gemini-api/docs/video",
  service: "generativelanguage",
  models: [
    defaultModel,
    "veo-3.1-fast-generate-preview",
    "veo-3.1-lite-generate-preview",
    "veo-3.0-generate-001",
    "veo-3.0-fast-generate-001",
  ],
  acceptsAnyModel: true,
  defaultModel,
  billedParams: ["durationSeconds", "sampleCount", "numberOfVideos"],
  files: { mediaTypes: ["image/jpeg", "image/png", "image/webp"] },
  toRequest: async (call) => {
    refuseMembers(call, ["seed"]);
    const { text, duration } = call.input;
    const { file } = call.files;
    const image = file && { bytesBase64Encoded: await readBase64(file), mimeType: file.mediaType };
    const value = {
      instances: [{ prompt: text, ...(image && { image }) }],
      parameters: { ...dimensionOf(call, dimensions), ...(duration !== null && { durationSeconds: duration }) },
    };
    const model = encodeURIComponent(modelOf(call));
    return postJson(`/v1beta/models/${model}:predictLongRunning`, value, { paramsPath: ["parameters"] });
  },
  next(response, _call, request) {
    if (request.url !== undefined) return null;
    const location = response.header("location");
    if (response.status >= 300 && location !== null) return { path: "/", url: location };
    if (request.path.includes("alt=media")) return null;
    const poll = pollOperation(response.json, "v1beta", request);
    if (poll !== null) return poll;
    const generated = at(response.json, "response", "generateVideoResponse");
    const uri = asText(at(generated, "generatedSamples", 0, "video", "uri"));
    if (uri === null)
      throw new TaskFailure(400, asText(at(generated, "raiMediaFilteredReasons", 0)) ?? "no video was made");
    // Only the path is used: credentials are sent to no address but the configured one.
    const { pathname, searchParams } = new URL(uri);
    searchParams.set("alt", "media");
    return {
      method: "GET",
      path: `${pathname}?${searchParams}`,
      headers: { accept: "*/*" },
      acceptedStatuses: [302, 307],
    };
  },
  fromResponse: ({ bytes }, call) => toVideo(bytes, "video/mp4", call.input.duration ?? defaultSeconds),
});
