import { type ErrorRule, readErrorRules } from "../error-rules.ts";
import { asNumber, asObject, asScore, asText, at, objectsIn, rounded } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { toAiPrediction, toDeepfakePrediction } from "../shapes/detection.ts";
import { fileOf, oneImage as units } from "../shapes/inputs.ts";
import { type Finding, type Kind, toModeration } from "../shapes/moderation.ts";
import { postForm } from "../shapes/requests.ts";
import { requireValue } from "../shapes/require-value.ts";
import { toTime, videoUnits } from "../shapes/video.ts";
import type { ProviderTask, TaskCall, TaskRequest, TaskResponse } from "../task.ts";
import { defineTask, TaskFailure } from "../task.ts";

function toRequest(models: string, call: TaskCall): Promise<TaskRequest> {
  return postForm("/1.0/check.json", { models, media: fileOf(call) });
}

// https://sightengine.com/docs/api-error-codes-and-responses; an unknown key is reported as an invalid argument.
const errors: readonly ErrorRule[] = [
  { says: /"type"\s*:\s*"usage_limit"/, means: "rate_limit" },
  { says: /Incorrect API user or API secret/i, means: "credentials" },
];

/** A failure has a status of its own, or is reported with status 200. */
function read({ json, text }: TaskResponse): unknown {
  if (at(json, "status") !== "failure") return json;
  const status = readErrorRules(errors, 400, text) ?? 400;
  throw new TaskFailure(status, asText(at(json, "error", "message")) ?? "The image could not be read");
}

/** The answer to a task that asks for one score of an image. */
function fromScore<Output>(name: string, toOutput: (score: number) => Output) {
  return (response: TaskResponse) => {
    const score = requireValue(asScore(at(read(response), "type", name)), `score ${name}`);
    return { output: toOutput(score), units };
  };
}

const detectAi = defineTask("image/ai_detection", {
  docs: "https://sightengine.com/docs/ai-generated-image-detection",
  toRequest: (call) => toRequest("genai", call),
  fromResponse: fromScore("ai_generated", (ai_score) => ({ ai_score, prediction: toAiPrediction(ai_score) })),
});

const detectDeepfake = defineTask("image/deepfake_detection", {
  docs: "https://sightengine.com/docs/deepfake-detection",
  toRequest: (call) => toRequest("deepfake", call),
  fromResponse: fromScore("deepfake", (deepfake_score) => ({
    deepfake_score,
    prediction: toDeepfakePrediction(deepfake_score),
  })),
});

/** Path of a score in the response → its kind. */
const kinds: Readonly<Record<string, Kind>> = {
  "nudity.sexual_activity": ["Sexual", "SexualActivity"],
  "nudity.sexual_display": ["Sexual", "Nudity"],
  "nudity.erotica": ["Sexual", "PartialNudity"],
  "nudity.very_suggestive": ["Sexual", "Suggestive"],
  "nudity.suggestive": ["Sexual", "Suggestive"],
  "nudity.mildly_suggestive": ["Sexual", "RevealingClothes"],
  "gore.prob": ["Violence", "GraphicViolenceOrGore"],
  "violence.prob": ["Violence", "PhysicalViolence"],
  "self-harm.prob": ["Violence", "PhysicalViolence"],
  "weapon.classes.firearm": ["Violence", "WeaponViolence"],
  "weapon.classes.knife": ["Violence", "WeaponViolence"],
  "recreational_drug.prob": ["DrugAndAlcohol", "DrugProducts"],
  "medical.prob": ["Content", "Medical"],
  "alcohol.prob": ["DrugAndAlcohol", "Alcohol"],
  "tobacco.prob": ["DrugAndAlcohol", "Tobacco"],
  "gambling.prob": ["Finance", "Gambling"],
  "money.prob": ["Finance", "MoneyContent"],
  "offensive.nazi": ["HateAndExtremism", "Extremist"],
  "offensive.confederate": ["HateAndExtremism", "Hate"],
  "offensive.supremacist": ["HateAndExtremism", "Hate"],
  "offensive.terrorist": ["HateAndExtremism", "Extremist"],
  "offensive.middle_finger": ["Toxic", "MiddleFinger"],
};

const explicitModels = "nudity-2.1,gore-2.0,violence,self-harm,weapon,recreational_drug,alcohol,tobacco,offensive-2.0";

/** The scores of an image, or of a frame of a video. */
function findingsIn(scores: unknown): Finding[] {
  return Object.entries(kinds).flatMap(([path, kind]): Finding[] => {
    const score = asNumber(at(scores, ...path.split(".")));
    return score === null ? [] : [{ label: path.replace(/\.(prob$|classes)/, ""), score, kind }];
  });
}

const detectExplicitContent = defineTask("image/explicit_content", {
  docs: "https://sightengine.com/docs/getstarted",
  toRequest: (call) => toRequest(explicitModels, call),
  fromResponse(response) {
    const findings = findingsIn(read(response));
    if (findings.length === 0) throw new TypeError("there are no scores in the answer");
    return { output: toModeration(findings), units };
  },
});

/** Videos of any length: the vendor analyses them in the background. https://sightengine.com/docs/moderate-stored-video-asynchronously */
const videoFlow = {
  files: { mediaTypes: ["video/"] },
  next(response, _call, request) {
    const json = read(response);
    if (request.method === "GET") {
      const { status, progress } = asObject(at(json, "output", "data"));
      if (status === "finished") return null;
      if (status === "failure" || status === "stopped")
        throw new TaskFailure(400, asText(at(json, "output", "error", "message")) ?? "The video could not be read");
      const share = asScore(progress);
      return { ...request, waitMs: "growing", ...(share !== null && { progress: share }) };
    }
    const id = requireValue(asText(at(json, "media", "id")), "id of the video");
    return { method: "GET", path: "/1.0/video/byid.json", query: { id }, waitMs: "growing" };
  },
} satisfies Pick<ProviderTask, "files" | "next">;

function toVideoRequest(models: string, call: TaskCall): Promise<TaskRequest> {
  return postForm("/1.0/video/check.json", { models, media: fileOf(call) });
}

/** The frames that the vendor looked at, with their positions in seconds. */
function framesOf(response: TaskResponse) {
  const data = at(read(response), "output", "data");
  const frames = objectsIn(at(data, "frames")).flatMap((frame) => {
    const milliseconds = asNumber(at(frame, "info", "position"));
    return milliseconds === null ? [] : [{ frame, position: toTime(milliseconds / 1_000) }];
  });
  // The vendor sends no length of the video; its last frame is the nearest value.
  const seconds = frames.length === 0 ? null : frames.reduce((last, { position }) => Math.max(last, position), 0);
  return { frames, units: videoUnits(seconds) };
}

const detectVideoDeepfake = defineTask("video/deepfake_detection_async", {
  docs: "https://sightengine.com/docs/deepfake-detection",
  ...videoFlow,
  toRequest: (call) => toVideoRequest("deepfake", call),
  fromResponse(response) {
    const { frames, units } = framesOf(response);
    const details_per_frame = frames.flatMap(({ frame, position }) => {
      const score = asScore(at(frame, "type", "deepfake"));
      return score === null ? [] : [{ position, score, prediction: toDeepfakePrediction(score) }];
    });
    if (details_per_frame.length === 0) throw new TypeError("there are no scores in the answer");
    const sum = details_per_frame.reduce((total, { score }) => total + score, 0);
    const average_score = rounded(sum / details_per_frame.length);
    return { output: { average_score, prediction: toDeepfakePrediction(average_score), details_per_frame }, units };
  },
});

/** Findings below this score are as good as absent, and a video has thousands of them. */
const minVideoScore = 0.2;

const detectExplicitVideo = defineTask("video/explicit_content_detection_async", {
  docs: "https://sightengine.com/docs/moderate-stored-video-asynchronously",
  ...videoFlow,
  toRequest: (call) => toVideoRequest(explicitModels, call),
  fromResponse(response) {
    const { frames, units } = framesOf(response);
    if (frames.length === 0) throw new TypeError("there are no frames in the answer");
    const moderation = frames.flatMap(({ frame, position }) =>
      findingsIn(frame).flatMap(({ score, kind: [, category] }) => {
        const confidence = asScore(score);
        if (confidence === null || confidence < minVideoScore) return [];
        return [{ timestamp: position, confidence, category }];
      }),
    );
    return { output: { moderation }, units };
  },
});

export const sightengine = defineProvider("sightengine", "Sightengine", {
  docs: "https://www.sightengine.com/docs/reference",
  baseUrl: "https://api.sightengine.com",
  auth: { kind: "member", name: "api_secret" },
  placeholders: { user: "SIGHTENGINE_API_USER" },
  members: { api_user: "{user}" },
  errors,
  sealedParams: ["url", "media", "stream_url", "callback_url", "api_user", "api_secret"],
  billedParams: ["models"],
  tasks: [detectAi, detectDeepfake, detectExplicitContent, detectVideoDeepfake, detectExplicitVideo],
});
