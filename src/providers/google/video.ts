import { asText, at } from "../lenient.ts";
import { refuseMembers, textOf } from "../shapes/inputs.ts";
import { dimensionOf, secondsOf, toVideo } from "../shapes/video.ts";
import { type ProviderTask, TaskFailure } from "../task.ts";
import { askForOperation } from "./operation.ts";

const usualModel = "veo-3.1-generate-preview";
const usualSeconds = 8;

const shapes = {
  "1280x720": { aspectRatio: "16:9", resolution: "720p" },
  "720x1280": { aspectRatio: "9:16", resolution: "720p" },
  "1920x1080": { aspectRatio: "16:9", resolution: "1080p" },
  "1080x1920": { aspectRatio: "9:16", resolution: "1080p" },
};

export const generateVideo: ProviderTask = {
  task: "video/generation_async",
  docs: "https://ai.google.dev/gemini-api/docs/video",
  service: "generativelanguage",
  models: [
    usualModel,
    "veo-3.1-fast-generate-preview",
    "veo-3.1-lite-generate-preview",
    "veo-3.0-generate-001",
    "veo-3.0-fast-generate-001",
  ],
  acceptsAnyModel: true,
  files: { mediaTypes: ["image/jpeg", "image/png", "image/webp"] },
  toRequest: async (call) => {
    refuseMembers(call, ["seed"]);
    const seconds = secondsOf(call);
    const { file } = call.files;
    const image = file && {
      bytesBase64Encoded: Buffer.from(await file.read()).toString("base64"),
      mimeType: file.mediaType,
    };
    return {
      path: `/v1beta/models/${encodeURIComponent(call.model ?? usualModel)}:predictLongRunning`,
      paramsPath: ["parameters"],
      body: {
        kind: "json",
        value: {
          instances: [{ prompt: textOf(call), ...(image && { image }) }],
          parameters: { ...dimensionOf(call, shapes), ...(seconds !== null && { durationSeconds: seconds }) },
        },
      },
    };
  },
  next(answer, _call, asked) {
    if (asked.url !== undefined) return null;
    const location = answer.header("location");
    if (answer.status >= 300 && location !== null) return { path: "/", url: location };
    if (asked.path.includes("alt=media")) return null;
    const question = askForOperation(answer.json, "v1beta", asked);
    if (question !== null) return question;
    const made = at(answer.json, "response", "generateVideoResponse");
    const uri = asText(at(made, "generatedSamples", 0, "video", "uri"));
    if (uri === null) throw new TaskFailure(400, asText(at(made, "raiMediaFilteredReasons", 0)) ?? "no video was made");
    // Only its path is taken: the gateway's credentials go to no address but the operator's.
    const { pathname, searchParams } = new URL(uri);
    searchParams.set("alt", "media");
    return {
      method: "GET",
      path: `${pathname}?${searchParams}`,
      headers: { accept: "*/*" },
      acceptedStatuses: [302, 307],
    };
  },
  fromResponse: ({ bytes }, call) => toVideo(bytes, "video/mp4", secondsOf(call) ?? usualSeconds),
};
