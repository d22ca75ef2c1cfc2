import { type ErrorRule, readErrorRules } from "../error-rules.ts";
import { asNumber, asObject, asScore, asText, at } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { toAiPrediction, toDeepfakePrediction } from "../shapes/detection.ts";
import { fileOf, filePart } from "../shapes/inputs.ts";
import { type Finding, type Kind, toModeration } from "../shapes/moderation.ts";
import type { TaskCall } from "../task.ts";
import { type ProviderTask, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";

const units = { image: 1, file: 1, request: 1 };

async function toRequest(models: string, call: TaskCall): Promise<TaskRequest> {
  return {
    path: "/1.0/check.json",
    body: {
      kind: "form",
      parts: [{ name: "models", value: models }, await filePart("media", fileOf(call))],
    },
  };
}

// https://sightengine.com/docs/api-error-codes-and-responses; a key that is not known is an error of an argument there.
const errors: readonly ErrorRule[] = [
  { says: /"type"\s*:\s*"usage_limit"/, means: "rate_limit" },
  { says: /Incorrect API user or API secret/i, means: "credentials" },
];

/** Failures come with a status of their own, and inside of good answers. */
function read({ json, text }: TaskResponse): unknown {
  if (at(json, "status") !== "failure") return json;
  const status = readErrorRules(errors, 400, text) ?? 400;
  throw new TaskFailure(status, asText(at(json, "error", "message")) ?? "The image could not be read");
}

function scoreAt(answer: TaskResponse, name: string): number {
  const score = asScore(at(read(answer), "type", name));
  if (score === null) throw new TypeError(`there is no score ${name} in the answer`);
  return score;
}

const detectAi: ProviderTask = {
  task: "image/ai_detection",
  docs: "https://sightengine.com/docs/ai-generated-image-detection",
  toRequest: (call) => toRequest("genai", call),
  fromResponse(answer) {
    const score = scoreAt(answer, "ai_generated");
    return { output: { ai_score: score, prediction: toAiPrediction(score) }, units };
  },
};

const detectDeepfake: ProviderTask = {
  task: "image/deepfake_detection",
  docs: "https://sightengine.com/docs/deepfake-detection",
  toRequest: (call) => toRequest("deepfake", call),
  fromResponse(answer) {
    const score = scoreAt(answer, "deepfake");
    return { output: { deepfake_score: score, prediction: toDeepfakePrediction(score) }, units };
  },
};

/** Where a score stands in the answer, and what it is about. */
const scores: readonly (readonly [path: readonly string[], kind: Kind])[] = [
  [
    ["nudity", "sexual_activity"],
    ["Sexual", "SexualActivity"],
  ],
  [
    ["nudity", "sexual_display"],
    ["Sexual", "Nudity"],
  ],
  [
    ["nudity", "erotica"],
    ["Sexual", "PartialNudity"],
  ],
  [
    ["nudity", "very_suggestive"],
    ["Sexual", "Suggestive"],
  ],
  [
    ["nudity", "suggestive"],
    ["Sexual", "Suggestive"],
  ],
  [
    ["nudity", "mildly_suggestive"],
    ["Sexual", "RevealingClothes"],
  ],
  [
    ["gore", "prob"],
    ["Violence", "GraphicViolenceOrGore"],
  ],
  [
    ["violence", "prob"],
    ["Violence", "PhysicalViolence"],
  ],
  [
    ["self-harm", "prob"],
    ["Violence", "PhysicalViolence"],
  ],
  [
    ["weapon", "classes", "firearm"],
    ["Violence", "WeaponViolence"],
  ],
  [
    ["weapon", "classes", "knife"],
    ["Violence", "WeaponViolence"],
  ],
  [
    ["recreational_drug", "prob"],
    ["DrugAndAlcohol", "DrugProducts"],
  ],
  [
    ["medical", "prob"],
    ["Content", "Medical"],
  ],
  [
    ["alcohol", "prob"],
    ["DrugAndAlcohol", "Alcohol"],
  ],
  [
    ["tobacco", "prob"],
    ["DrugAndAlcohol", "Tobacco"],
  ],
  [
    ["gambling", "prob"],
    ["Finance", "Gambling"],
  ],
  [
    ["money", "prob"],
    ["Finance", "MoneyContent"],
  ],
  [
    ["offensive", "nazi"],
    ["HateAndExtremism", "Extremist"],
  ],
  [
    ["offensive", "confederate"],
    ["HateAndExtremism", "Hate"],
  ],
  [
    ["offensive", "supremacist"],
    ["HateAndExtremism", "Hate"],
  ],
  [
    ["offensive", "terrorist"],
    ["HateAndExtremism", "Extremist"],
  ],
  [
    ["offensive", "middle_finger"],
    ["Toxic", "MiddleFinger"],
  ],
];

const detectExplicitContent: ProviderTask = {
  task: "image/explicit_content",
  docs: "https://sightengine.com/docs/getstarted",
  toRequest: (call) =>
    toRequest("nudity-2.1,gore-2.0,violence,self-harm,weapon,recreational_drug,alcohol,tobacco,offensive-2.0", call),
  fromResponse(answer) {
    const json = asObject(read(answer));
    const findings = scores.flatMap(([path, kind]): Finding[] => {
      const score = asNumber(at(json, ...path));
      const label = path.filter((step) => step !== "prob" && step !== "classes").join(".");
      return score === null ? [] : [{ label, score, kind }];
    });
    if (findings.length === 0) throw new TypeError("there are no scores in the answer");
    return { output: toModeration(findings), units };
  },
};

export const sightengine: ProviderRow = {
  name: "sightengine",
  title: "Sightengine",
  docs: "https://www.sightengine.com/docs/reference",
  baseUrl: "https://api.sightengine.com",
  auth: { kind: "member", name: "api_secret" },
  placeholders: { user: "SIGHTENGINE_API_USER" },
  members: { api_user: "{user}" },
  errors,
  sealedParams: ["url", "media", "callback_url", "api_user"],
  tasks: [detectAi, detectDeepfake, detectExplicitContent],
};
