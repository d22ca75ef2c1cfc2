// Amazon Rekognition Video, which reads videos from a bucket in its own region. Times are milliseconds, confidences are percentages.
// https://docs.aws.amazon.com/rekognition/latest/dg/api-video.html

import type { KnownOutput, TaskName } from "../../contract/tasks.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asText, at, fromPercentage, objectsIn } from "../lenient.ts";
import { deleteFile, type Stored, uploadFile } from "../shapes/bucket.ts";
import { requireValue } from "../shapes/require-value.ts";
import { toLabels, toShots, toTime, toVideoTexts, videoUnits } from "../shapes/video.ts";
import { type NextRequest, type ProviderTask, type ProviderTaskCall, TaskFailure } from "../task.ts";
import { readBox, toAwsRequest } from "./aws-json.ts";
import { bucketSettings, s3 } from "./bucket.ts";

/** The schemas require times and confidences: what has none is left out. */
export const videoTasks: readonly ProviderTask[] = [
  createTask("video/label_detection_async", {
    operation: "LabelDetection",
    member: "Labels",
    // Segments are the time spans of a label; the other aggregation has single frames.
    query: { AggregateBy: "SEGMENTS", SortBy: "TIMESTAMP" },
    toOutput: (found) =>
      toLabels(
        found.flatMap(({ Label, StartTimestampMillis, EndTimestampMillis }) => {
          const [name, confidence] = [asText(at(Label, "Name")), fromPercentage(at(Label, "Confidence"))];
          const span = spanOf(StartTimestampMillis, EndTimestampMillis);
          if (name === null || confidence === null || span === null) return [];
          const categories = objectsIn(at(Label, "Categories")).flatMap(({ Name }) => asText(Name) ?? []);
          return [{ name, confidence, ...span, categories }];
        }),
      ),
  }),
  createTask("video/shot_change_detection_async", {
    operation: "SegmentDetection",
    member: "Segments",
    start: { SegmentTypes: ["SHOT"] },
    toOutput: (found) =>
      toShots(
        found
          .filter(({ Type }) => Type === "SHOT")
          .flatMap(
            ({ StartTimestampMillis, EndTimestampMillis }) => spanOf(StartTimestampMillis, EndTimestampMillis) ?? [],
          ),
      ),
  }),
  createTask("video/text_detection_async", {
    operation: "TextDetection",
    member: "TextDetections",
    unsupported: ["language"],
    toOutput: (found) =>
      toVideoTexts(
        found.flatMap(({ Timestamp, TextDetection }) => {
          const [text, time] = [asText(at(TextDetection, "DetectedText")), secondsOf(Timestamp)];
          const confidence = fromPercentage(at(TextDetection, "Confidence"));
          // Rekognition reports the words of each line, too.
          if (at(TextDetection, "Type") !== "LINE" || text === null || time === null || confidence === null) return [];
          return [{ text, time, confidence, box: readBox(at(TextDetection, "Geometry", "BoundingBox")) }];
        }),
      ),
  }),
  createTask("video/explicit_content_detection_async", {
    operation: "ContentModeration",
    member: "ModerationLabels",
    query: { SortBy: "TIMESTAMP" },
    toOutput: (found) => ({
      moderation: found.flatMap(({ Timestamp, ModerationLabel }) => {
        const [time, confidence] = [secondsOf(Timestamp), fromPercentage(at(ModerationLabel, "Confidence"))];
        // A label of the top level has no parent: it is the category itself.
        const category = asText(at(ModerationLabel, "ParentName")) ?? asText(at(ModerationLabel, "Name"));
        if (time === null || confidence === null || category === null) return [];
        return [{ timestamp: toTime(time), confidence, category }];
      }),
    }),
  }),
];

interface Mapping<Name extends TaskName, Output> {
  /** `LabelDetection`: there are StartLabelDetection and GetLabelDetection. */
  readonly operation: string;
  /** The list in the responses. */
  readonly member: string;
  /** Members of the first request, and of those that ask for the result. */
  readonly start?: JsonObject;
  readonly query?: JsonObject;
  readonly unsupported?: readonly string[];
  readonly toOutput: (found: readonly JsonObject[]) => KnownOutput<Name, Output>;
}

interface JobState extends Stored {
  readonly jobId?: string;
  /** The parts of the result that earlier responses had. */
  readonly found?: readonly JsonObject[];
}

function createTask<const Name extends TaskName, Output extends JsonObject>(
  task: Name,
  { operation, member, start = {}, query = {}, unsupported = [], toOutput }: Mapping<Name, Output>,
): ProviderTask {
  return {
    task,
    docs: `https://docs.aws.amazon.com/rekognition/latest/APIReference/API_Start${operation}.html`,
    service: "rekognition",
    requiredSettings: bucketSettings,
    // Rekognition starts one job for a token, however often it receives the request.
    isIdempotent: true,
    unsupported,
    // https://docs.aws.amazon.com/rekognition/latest/dg/video.html: H.264 in MPEG-4 or MOV, up to 10 GB.
    files: { mediaTypes: ["video/mp4", "video/quicktime"], maxBytes: 10 * 1024 ** 3 },
    toRequest: (call) => uploadFile(s3, call),
    next(response, call, request): NextRequest | null {
      const state = request.state as JobState;
      // The answer of the bucket is not JSON.
      if (request.service === s3.service) return toStart(operation, { call, state, members: start });
      const { json } = response;
      if (state.jobId === undefined) {
        const jobId = requireValue(asText(at(json, "JobId")), "job");
        return { ...toGet(operation, { ...state, jobId }, query), waitMs: "growing" };
      }
      const status = at(json, "JobStatus");
      if (status === "FAILED") throw new TaskFailure(400, asText(at(json, "StatusMessage")) ?? "the analysis failed");
      if (status !== "SUCCEEDED") return { ...toGet(operation, state, query), waitMs: "growing" };
      const token = asText(at(json, "NextToken"));
      if (token === null) return null;
      const found = [...(state.found ?? []), ...objectsIn(at(json, member))];
      return toGet(operation, { ...state, found }, { ...query, NextToken: token });
    },
    fromResponse({ json }, _call, { state }) {
      const found = [...((state as JobState).found ?? []), ...objectsIn(at(json, member))];
      // Segments come with a list of one element per stream.
      const metadata = at(json, "VideoMetadata", 0) ?? at(json, "VideoMetadata");
      return { output: toOutput(found), units: videoUnits(secondsOf(at(metadata, "DurationMillis"))) };
    },
    cleanUpRequests: (call, request) => deleteFile(s3, call, request),
  };
}

function toStart(
  operation: string,
  { call, state, members }: { call: ProviderTaskCall; state: JobState; members: JsonObject },
): NextRequest {
  const value = {
    Video: { S3Object: { Bucket: call.settings["bucket"], Name: state.key } },
    ClientRequestToken: state.token,
    ...members,
  };
  return { ...toAwsRequest(`RekognitionService.Start${operation}`, value), state, acceptsProviderParams: true };
}

function toGet(operation: string, state: JobState, members: JsonObject): NextRequest {
  const value = { JobId: state.jobId, MaxResults: 1_000, ...members };
  return { ...toAwsRequest(`RekognitionService.Get${operation}`, value), state };
}

function secondsOf(milliseconds: unknown): number | null {
  const number = asNumber(milliseconds);
  return number === null ? null : number / 1_000;
}

function spanOf(from: unknown, to: unknown): { readonly start: number; readonly end: number } | null {
  const [start, end] = [secondsOf(from), secondsOf(to)];
  return start === null || end === null ? null : { start, end };
}
