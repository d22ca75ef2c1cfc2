// Google Cloud Video Intelligence, which reads videos from a bucket, and questions to Gemini, which receives the video in the request.
// Google omits members whose value is 0, so a missing time or coordinate is 0.

import type { KnownOutput, TaskName } from "../../contract/tasks.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asScore, asString, asText, at, objectsIn } from "../lenient.ts";
import { edgesAround, roundBox, toBox, toPoints } from "../shapes/boxes.ts";
import { deleteFile, type Stored, uploadFile } from "../shapes/bucket.ts";
import { fileOf, languageOf, modelOf, postJson, readBase64 } from "../shapes/inputs.ts";
import { requireValue } from "../shapes/require-value.ts";
import { type SeenLabel, type SeenText, toLabels, toShots, toTime, toVideoTexts, videoUnits } from "../shapes/video.ts";
import { defineTask, type ProviderTask, type TaskCall, TaskFailure } from "../task.ts";
import { addressOf, bucketSettings, storage } from "./bucket.ts";
import { pollOperation, throwIfFailed, toSeconds } from "./google-json.ts";

export const videoTasks: readonly ProviderTask[] = [
  createTask("video/label_detection_async", "LABEL_DETECTION", (results) => {
    // Labels of shots have narrower time spans; labels of the whole video are all that a video without shots has.
    const ofShots = objectsIn(results["shotLabelAnnotations"]).flatMap(toSeenLabels);
    const names = new Set(ofShots.map(({ name }) => name));
    const ofVideo = objectsIn(results["segmentLabelAnnotations"]).flatMap(toSeenLabels);
    return toLabels([...ofShots, ...ofVideo.filter(({ name }) => !names.has(name))]);
  }),
  createTask("video/shot_change_detection_async", "SHOT_CHANGE_DETECTION", ({ shotAnnotations }) =>
    toShots(objectsIn(shotAnnotations).map(spanOf)),
  ),
  createTask("video/text_detection_async", "TEXT_DETECTION", ({ textAnnotations }) =>
    toVideoTexts(objectsIn(textAnnotations).flatMap(toSeenTexts)),
  ),
  createTask("video/explicit_content_detection_async", "EXPLICIT_CONTENT_DETECTION", ({ explicitAnnotation }) => ({
    moderation: objectsIn(at(explicitAnnotation, "frames")).flatMap(({ timeOffset, pornographyLikelihood }) => {
      const step = likelihoods.indexOf(String(pornographyLikelihood));
      if (step <= 0) return [];
      return [{ timestamp: toTime(toSeconds(timeOffset) ?? 0), confidence: step / 5, category: "Explicit Nudity" }];
    }),
  })),
];

const likelihoods = ["LIKELIHOOD_UNSPECIFIED", "VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY"];

function createTask<const Name extends TaskName, Output extends JsonObject>(
  task: Name,
  feature: string,
  toOutput: (results: JsonObject) => KnownOutput<Name, Output>,
): ProviderTask {
  return {
    task,
    docs: "https://docs.cloud.google.com/video-intelligence/docs/reference/rest/v1/videos/annotate",
    service: "videointelligence",
    requiredSettings: bucketSettings,
    // https://docs.cloud.google.com/video-intelligence/docs/supported-formats
    files: { mediaTypes: ["video/"] },
    toRequest: (call) => uploadFile(storage, call),
    next({ json }, call, request) {
      const state = request.state as Stored;
      if (request.service === storage.service)
        return postJson(
          "/v1/videos:annotate",
          { inputUri: addressOf(call, state.key), features: [feature], ...toContext(feature, call) },
          { state, acceptsProviderParams: true, paramsPath: ["videoContext"] },
        );
      const next = pollOperation(json, "v1", request);
      const percent = asNumber(at(json, "metadata", "annotationProgress", 0, "progressPercent"));
      return next === null || percent === null ? next : { ...next, progress: percent / 100 };
    },
    fromResponse({ json }) {
      const results = asObject(requireValue(at(json, "response", "annotationResults", 0), "result"));
      throwIfFailed(results);
      return {
        output: toOutput(results),
        units: videoUnits(toSeconds(at(results, "segment", "endTimeOffset"))),
      };
    },
    cleanUpRequests: (call, request) => deleteFile(storage, call, request),
  };
}

function toContext(feature: string, call: TaskCall): JsonObject {
  const language = languageOf(call);
  if (feature !== "TEXT_DETECTION" || language === null) return {};
  return { videoContext: { textDetectionConfig: { languageHints: [language] } } };
}

function spanOf(segment: unknown) {
  return {
    start: toSeconds(at(segment, "startTimeOffset")) ?? 0,
    end: toSeconds(at(segment, "endTimeOffset")) ?? 0,
  };
}

function toSeenLabels({ entity, categoryEntities, segments }: JsonObject): SeenLabel[] {
  const name = asText(at(entity, "description"));
  if (name === null) return [];
  const categories = objectsIn(categoryEntities).flatMap(({ description }) => asText(description) ?? []);
  return objectsIn(segments).map(({ segment, confidence }) => ({
    name,
    confidence: asScore(confidence) ?? 0,
    ...spanOf(segment),
    categories,
  }));
}

function toSeenTexts({ text, segments }: JsonObject): SeenText[] {
  const written = asText(text);
  if (written === null) return [];
  return objectsIn(segments).flatMap(({ confidence, frames }) =>
    objectsIn(frames).map(({ timeOffset, rotatedBoundingBox }) => {
      const corners = objectsIn(at(rotatedBoundingBox, "vertices")).flatMap(({ x = 0, y = 0 }) => [x, y]);
      const edges = edgesAround(toPoints(corners, 1, 1));
      return {
        text: written,
        time: toSeconds(timeOffset) ?? 0,
        confidence: asScore(confidence) ?? 0,
        box: edges && roundBox(toBox(edges)),
      };
    }),
  );
}

const defaultModel = "gemini-3.8-flash";

/** The vendor's names of the types. */
const geminiTypes = {
  "video/mp4": "video/mp4",
  "video/mpeg": "video/mpeg",
  "video/quicktime": "video/mov",
  "video/x-msvideo": "video/avi",
  "video/webm": "video/webm",
  "video/3gpp": "video/3gpp",
};

/** Gemini looks at one frame per second and listens to the sound. */
export const answerAboutVideo = defineTask("video/question_answer_async", {
  docs: "https://ai.google.dev/gemini-api/docs/video-understanding",
  service: "generativelanguage",
  models: [defaultModel, "gemini-3.6-flash", "gemini-3.5-flash"],
  acceptsAnyModel: true,
  defaultModel,
  files: {
    // A request with inline data has less than 100 MB, and base64 makes a file a third larger.
    maxBytes: 74 * 1_000_000,
    mediaTypes: Object.keys(geminiTypes),
  },
  toRequest: async (call) => {
    const { text, temperature, max_tokens } = call.input;
    const file = fileOf(call);
    const inlineData = { mimeType: lookUp(geminiTypes, file.mediaType), data: await readBase64(file) };
    const value = {
      contents: [{ role: "user", parts: [{ inlineData }, { text }] }],
      generationConfig: { temperature: temperature ?? 0, ...(max_tokens && { maxOutputTokens: max_tokens }) },
    };
    const model = encodeURIComponent(modelOf(call));
    return postJson(`/v1beta/models/${model}:generateContent`, value, { paramsPath: ["generationConfig"] });
  },
  fromResponse({ json }) {
    const candidate = at(json, "candidates", 0);
    const parts = objectsIn(at(candidate, "content", "parts")).filter(({ thought }) => thought !== true);
    const answer = parts.map(({ text }) => asString(text)).join("");
    const finish_reason = asText(at(candidate, "finishReason"));
    if (answer === "") {
      const reason = asText(at(json, "promptFeedback", "blockReason")) ?? finish_reason;
      throw new TaskFailure(400, `the model did not answer${reason === null ? "" : `: ${reason}`}`);
    }
    const tokens = asNumber(at(json, "usageMetadata", "totalTokenCount"));
    return {
      output: { answer, finish_reason },
      units: { request: 1, file: 1, ...(tokens !== null && { token: tokens }) },
    };
  },
});
