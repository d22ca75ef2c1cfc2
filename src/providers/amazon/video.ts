// Amazon Nova Reel writes its clips into a bucket and leaves them there: the bucket's own rules decide when they are deleted.
// https://docs.aws.amazon.com/nova/latest/userguide/video-gen-access.html

import type { JsonObject } from "../dialect.ts";
import { asText, at } from "../lenient.ts";
import { tokenOf } from "../shapes/bucket.ts";
import { modelOf, postJson, readBase64 } from "../shapes/inputs.ts";
import { requireValue } from "../shapes/require-value.ts";
import { dimensionOf, toVideo, type VideoCall } from "../shapes/video.ts";
import { defineTask, refuseInput, TaskFailure } from "../task.ts";
import { bucketSettings, s3 } from "./bucket.ts";

const defaultModel = "amazon.nova-reel-v1:1";
const minSeconds = 6;

interface JobState {
  readonly token: string;
  readonly arn?: string;
}

export const generateVideo = defineTask("video/generation_async", {
  docs: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_StartAsyncInvoke.html",
  service: "bedrock",
  models: [defaultModel, "amazon.nova-reel-v1:0"],
  acceptsAnyModel: true,
  defaultModel,
  requiredSettings: bucketSettings,
  isIdempotent: true,
  files: { mediaTypes: ["image/jpeg", "image/png"] },
  toRequest: async (call) => {
    const token = tokenOf(call);
    const value = {
      clientRequestToken: token,
      modelId: modelOf(call),
      modelInput: await toModelInput(call),
      outputDataConfig: { s3OutputDataConfig: { s3Uri: `s3://${call.settings["bucket"]}/${folderOf(token)}` } },
    };
    return postJson("/async-invoke", value, { paramsPath: ["modelInput"], state: { token } satisfies JobState });
  },
  next(response, call, request) {
    if (request.service === "s3") return null;
    const { json } = response;
    const { token, ...state } = request.state as JobState;
    const arn = requireValue(state.arn ?? asText(at(json, "invocationArn")), "invocation");
    const status = at(json, "status");
    if (status === "Failed") throw new TaskFailure(400, asText(at(json, "failureMessage")) ?? "no video was made");
    const next: JobState = { token, arn };
    if (status !== "Completed")
      return { method: "GET", path: `/async-invoke/${encodeURIComponent(arn)}`, state: next, waitMs: "growing" };
    // Nova Reel creates a folder for each invocation.
    const path = s3.pathOf(call, `${folderOf(token)}/${arn.split("/").at(-1)}/output.mp4`);
    return { service: s3.service, method: "GET", path, headers: { accept: "*/*" }, state: next };
  },
  fromResponse: ({ bytes }, call) => toVideo(bytes, "video/mp4", call.input.duration ?? minSeconds),
});

function folderOf(token: string): string {
  return `switchyard/${token}`;
}

async function toModelInput(call: VideoCall): Promise<JsonObject> {
  const { text, seed, duration } = call.input;
  const seconds = duration ?? minSeconds;
  const { file } = call.files;
  const isLong = seconds > minSeconds;
  if (isLong && (seconds % minSeconds !== 0 || seconds > 120))
    refuseInput("duration", "This provider makes clips of 6 seconds, or of a multiple of 6 up to 120");
  if (seconds < minSeconds) refuseInput("duration", "This provider makes clips of at least 6 seconds");
  if (isLong && file !== undefined) refuseInput("file", "With a first frame this provider makes clips of 6 seconds");
  const dimension = dimensionOf(call, { "1280x720": "1280x720" }) ?? "1280x720";
  const videoGenerationConfig = {
    durationSeconds: seconds,
    fps: 24,
    dimension,
    ...(typeof seed === "number" && { seed }),
  };
  if (isLong) return { taskType: "MULTI_SHOT_AUTOMATED", multiShotAutomatedParams: { text }, videoGenerationConfig };
  const images = file && [
    { format: file.mediaType === "image/png" ? "png" : "jpeg", source: { bytes: await readBase64(file) } },
  ];
  return { taskType: "TEXT_VIDEO", textToVideoParams: { text, ...(images && { images }) }, videoGenerationConfig };
}
