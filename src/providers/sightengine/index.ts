import { type ErrorRule, readErrorRules } from "../error-rules.ts";
import { asNumber, asScore, asText, at } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { toAiPrediction, toDeepfakePrediction } from "../shapes/detection.ts";
import { fileOf, oneImage as units } from "../shapes/inputs.ts";
import { type Finding, type Kind, toModeration } from "../shapes/moderation.ts";
import { postForm } from "../shapes/requests.ts";
import { requireValue } from "../shapes/require-value.ts";
import { defineTask, type TaskCall, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";

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

const detectAi = defineTask({
  task: "image/ai_detection",
  docs: "https://sightengine.com/docs/ai-generated-image-detection",
  toRequest: (call) => toRequest("genai", call),
  fromResponse(response) {
    const ai_score = requireValue(asScore(at(read(response), "type", "ai_generated")), "score ai_generated");
    return { output: { ai_score, prediction: toAiPrediction(ai_score) }, units };
  },
});

const detectDeepfake = defineTask({
  task: "image/deepfake_detection",
  docs: "https://sightengine.com/docs/deepfake-detection",
  toRequest: (call) => toRequest("deepfake", call),
  fromResponse(response) {
    const deepfake_score = requireValue(asScore(at(read(response), "type", "deepfake")), "score deepfake");
    return { output: { deepfake_score, prediction: toDeepfakePrediction(deepfake_score) }, units };
  },
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

const detectExplicitContent = defineTask({
  task: "image/explicit_content",
  docs: "https://sightengine.com/docs/getstarted",
  toRequest: (call) =>
    toRequest("nudity-2.1,gore-2.0,violence,self-harm,weapon,recreational_drug,alcohol,tobacco,offensive-2.0", call),
  fromResponse(response) {
    const json = read(response);
    const findings = Object.entries(kinds).flatMap(([path, kind]): Finding[] => {
      const score = asNumber(at(json, ...path.split(".")));
      return score === null ? [] : [{ label: path.replace(/\.(prob$|classes)/, ""), score, kind }];
    });
    if (findings.length === 0) throw new TypeError("there are no scores in the answer");
    return { output: toModeration(findings), units };
  },
});

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
