// Amazon Nova Reel writes its clips into a bucket, where they stay: how long is for the bucket's own rules to say.
// https://docs.aws.amazon.com/nova/latest/userguide/video-gen-access.html

import type { JsonObject } from "../dialect.ts";
import { asText, at } from "../lenient.ts";
import { textOf } from "../shapes/inputs.ts";
import { dimensionOf, secondsOf, toVideo } from "../shapes/video.ts";
import { type ProviderTask, type ProviderTaskCall, refuseInput, TaskFailure } from "../task.ts";
import { bucketSettings, getFile } from "./bucket.ts";

const usualModel = "amazon.nova-reel-v1:1";
const shortestSeconds = 6;

interface Begun {
  readonly token: string;
  readonly arn?: string;
}

export const generateVideo: ProviderTask = {
  task: "video/generation_async",
  docs: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_StartAsyncInvoke.html",
  service: "bedrock",
  models: ["amazon.nova-reel-v1:1", "amazon.nova-reel-v1:0"],
  acceptsAnyModel: true,
  requiredSettings: bucketSettings,
  isIdempotent: true,
  files: { mediaTypes: ["image/jpeg", "image/png"] },
  toRequest: async (call) => {
    const token = call.jobId ?? crypto.randomUUID();
    return {
      path: "/async-invoke",
      paramsPath: ["modelInput"],
      body: {
        kind: "json",
        value: {
          clientRequestToken: token,
          modelId: call.model ?? usualModel,
          modelInput: await toModelInput(call),
          outputDataConfig: { s3OutputDataConfig: { s3Uri: `s3://${call.settings["bucket"]}/${folderOf(token)}` } },
        },
      },
      state: { token } satisfies Begun,
    };
  },
  next(answer, call, asked) {
    const state = asked.state as Begun;
    if (asked.service === "s3") return null;
    const { json } = answer;
    const arn = state.arn ?? asText(at(json, "invocationArn"));
    if (arn === null) throw new TypeError("there is no invocation in the answer");
    const status = at(json, "status");
    if (status === "Failed") throw new TaskFailure(400, asText(at(json, "failureMessage")) ?? "no video was made");
    // The vendor makes a folder for each invocation.
    if (status === "Completed")
      return getFile(call, `${folderOf(state.token)}/${arn.split("/").at(-1)}/output.mp4`, state);
    const next: Begun = { token: state.token, arn };
    return { method: "GET", path: `/async-invoke/${encodeURIComponent(arn)}`, state: next, waitMs: "growing" };
  },
  fromResponse: ({ bytes }, call) => toVideo(bytes, "video/mp4", secondsOf(call) ?? shortestSeconds),
};

function folderOf(token: string): string {
  return `switchyard/${token}`;
}

async function toModelInput(call: ProviderTaskCall): Promise<JsonObject> {
  const seconds = secondsOf(call) ?? shortestSeconds;
  const { file } = call.files;
  const isLong = seconds > shortestSeconds;
  if (isLong && (seconds % shortestSeconds !== 0 || seconds > 120))
    refuseInput("duration", "This provider makes clips of 6 seconds, or of a multiple of 6 up to 120");
  if (seconds < shortestSeconds) refuseInput("duration", "This provider makes clips of at least 6 seconds");
  if (isLong && file !== undefined) refuseInput("file", "With a first frame this provider makes clips of 6 seconds");
  const { seed } = call.input;
  const videoGenerationConfig = {
    durationSeconds: seconds,
    fps: 24,
    dimension: dimensionOf(call, { "1280x720": "1280x720" }) ?? "1280x720",
    ...(typeof seed === "number" && { seed }),
  };
  const text = textOf(call);
  if (isLong) return { taskType: "MULTI_SHOT_AUTOMATED", multiShotAutomatedParams: { text }, videoGenerationConfig };
  if (file === undefined) return { taskType: "TEXT_VIDEO", textToVideoParams: { text }, videoGenerationConfig };
  const format = file.mediaType === "image/png" ? "png" : "jpeg";
  const source = { bytes: Buffer.from(await file.read()).toString("base64") };
  return { taskType: "TEXT_VIDEO", textToVideoParams: { text, images: [{ format, source }] }, videoGenerationConfig };
}
