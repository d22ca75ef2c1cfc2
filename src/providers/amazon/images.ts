// Amazon Rekognition. Boxes are relative already; confidences are percentages.

import type { KnownOutput, TaskName } from "../../contract/tasks.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asString, asText, at, fromPercentage, limitToOne, objectsIn } from "../lenient.ts";
import { noEdges, nowhere } from "../shapes/boxes.ts";
import { byName, type EmotionName, type LandmarkName } from "../shapes/faces.ts";
import { fileOf, oneImage, readBase64 } from "../shapes/inputs.ts";
import { type Finding, other, toKinds, toLikelihood, toModeration } from "../shapes/moderation.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { ProviderTask, TaskCall, TaskResult } from "../task.ts";
import { readBox, toAwsRequest } from "./aws-json.ts";

export const imageTasks: readonly ProviderTask[] = [
  createTask("image/object_detection", {
    operation: "DetectLabels",
    toOutput: ({ Labels }) => ({ items: objectsIn(Labels).flatMap(toItems) }),
  }),
  createTask("image/face_detection", {
    operation: "DetectFaces",
    toBody: async (call) => ({ ...(await toImage(call)), Attributes: ["ALL"] }),
    toOutput: ({ FaceDetails }) => toShape("image/face_detection", { items: objectsIn(FaceDetails).flatMap(toFace) }),
  }),
  createTask("image/explicit_content", {
    operation: "DetectModerationLabels",
    toOutput: ({ ModerationLabels }) => toModeration(objectsIn(ModerationLabels).map(toFinding)),
  }),
  createTask("image/face_compare", {
    operation: "CompareFaces",
    toBody: async (call) => ({
      SourceImage: { Bytes: await readBase64(fileOf(call, "file1")) },
      TargetImage: { Bytes: await readBase64(fileOf(call, "file2")) },
    }),
    toOutput: ({ FaceMatches }) => ({
      items: objectsIn(FaceMatches).map(({ Similarity, Face }) => ({
        confidence: fromPercentage(Similarity),
        bounding_box: readBox(at(Face, "BoundingBox")) ?? nowhere,
      })),
    }),
    units: { image: 2, file: 2, request: 1 },
  }),
];

interface Mapping<Name extends TaskName, Output> {
  readonly operation: string;
  readonly toBody?: (call: TaskCall) => Promise<JsonObject>;
  readonly toOutput: (response: JsonObject) => KnownOutput<Name, Output>;
  readonly units?: TaskResult["units"];
}

function createTask<const Name extends TaskName, Output extends JsonObject>(
  task: Name,
  { operation, toBody = toImage, toOutput, units = oneImage }: Mapping<Name, Output>,
): ProviderTask {
  return {
    task,
    docs: `https://docs.aws.amazon.com/rekognition/latest/APIReference/API_${operation}.html`,
    service: "rekognition",
    // https://docs.aws.amazon.com/rekognition/latest/dg/limits.html, for images that are part of the request.
    files: { maxBytes: 5 * 1_048_576, mediaTypes: ["image/jpeg", "image/png"] },
    toRequest: async (call) => toAwsRequest(`RekognitionService.${operation}`, await toBody(call)),
    fromResponse: ({ json }) => ({ output: toOutput(asObject(json)), units }),
  };
}

async function toImage(call: TaskCall): Promise<JsonObject> {
  return { Image: { Bytes: await readBase64(fileOf(call)) } };
}

/**
 * One item for each position of the object; one without a position when the label is about the whole image. The schema requires a
 * confidence: without one there is no item.
 */
function toItems({ Name, Confidence, Instances }: JsonObject) {
  const instances = objectsIn(Instances);
  return (instances.length === 0 ? [{}] : instances).flatMap((instance: JsonObject) => {
    const confidence = fromPercentage(instance["Confidence"]) ?? fromPercentage(Confidence);
    return confidence === null ? [] : [{ label: asString(Name), confidence, ...toEdges(instance["BoundingBox"]) }];
  });
}

function toEdges(value: unknown) {
  const box = readBox(value);
  if (box === null) return noEdges;
  const [right, bottom] = [box.left + box.width, box.top + box.height];
  // The sum of two rounded numbers may be a little more than 1.
  return { x_min: box.left, x_max: limitToOne(right), y_min: box.top, y_max: limitToOne(bottom) };
}

function toFinding({ Name, ParentName, Confidence }: JsonObject): Finding {
  const label = asString(Name);
  const kind = lookUp(kinds, label) ?? lookUp(kinds, asString(ParentName)) ?? other;
  return { label, score: fromPercentage(Confidence), kind };
}

/** None without a confidence, because the schema requires one. */
function toFace(face: JsonObject) {
  const confidence = fromPercentage(face["Confidence"]);
  if (confidence === null) return [];
  const points = objectsIn(face["Landmarks"]).map(({ Type, X, Y }) => {
    const [x, y] = [asNumber(X), asNumber(Y)];
    return [Type, x === null || y === null ? null : [limitToOne(x), limitToOne(y)]] as const;
  });
  const likelihoods = objectsIn(face["Emotions"]).map(({ Type, Confidence }) => {
    const score = fromPercentage(Confidence);
    return [String(Type).toUpperCase(), score === null ? null : toLikelihood(score)] as const;
  });
  const chance = (member: string) => toChance(face[member]);
  const quality = (member: string) => toShare(at(face, "Quality", member));
  const pose = (member: string) => at(face, "Pose", member);
  return [
    {
      confidence,
      landmarks: byName(landmarks, points),
      emotions: byName(emotions, likelihoods),
      poses: { pitch: pose("Pitch"), roll: pose("Roll"), yaw: pose("Yaw") },
      age: toAge(face["AgeRange"]),
      gender: asText(at(face, "Gender", "Value")),
      bounding_box: toEdges(face["BoundingBox"]),
      facial_hair: { moustache: chance("Mustache"), beard: chance("Beard") },
      quality: { brightness: quality("Brightness"), sharpness: quality("Sharpness") },
      accessories: { sunglasses: chance("Sunglasses"), eyeglasses: chance("Eyeglasses") },
      occlusions: toOcclusions(face["FaceOccluded"]),
      features: { eyes_open: chance("EyesOpen"), smile: chance("Smile"), mouth_open: chance("MouthOpen") },
    },
  ];
}

/** The middle of the range. */
function toAge(range: unknown): number | null {
  const [low, high] = [asNumber(at(range, "Low")), asNumber(at(range, "High"))];
  return low === null || high === null ? (low ?? high) : (low + high) / 2;
}

/** The probability that the attribute is present: when its value is false, the confidence is that of its absence. */
function toChance(attribute: unknown): number | null {
  const confidence = asNumber(at(attribute, "Confidence"));
  if (confidence === null) return null;
  return limitToOne((at(attribute, "Value") === true ? confidence : 100 - confidence) / 100);
}

/** Rekognition says whether a part of the face is hidden, not which: only the value false is about each part. */
function toOcclusions(attribute: unknown) {
  if (at(attribute, "Value") !== false) return {};
  return { eye_occluded: false, forehead_occluded: false, mouth_occluded: false };
}

function toShare(percent: unknown): number | null {
  const number = asNumber(percent);
  return number === null ? null : number / 100;
}

const emotions: Readonly<Record<string, EmotionName>> = {
  HAPPY: "joy",
  SAD: "sorrow",
  ANGRY: "anger",
  SURPRISED: "surprise",
  DISGUSTED: "disgust",
  FEAR: "fear",
  CONFUSED: "confusion",
  CALM: "calm",
  UNKNOWN: "unknown",
};

const landmarks: Readonly<Record<string, LandmarkName>> = {
  eyeLeft: "left_eye",
  leftEyeUp: "left_eye_top",
  leftEyeRight: "left_eye_right",
  leftEyeDown: "left_eye_bottom",
  leftEyeLeft: "left_eye_left",
  eyeRight: "right_eye",
  rightEyeUp: "right_eye_top",
  rightEyeRight: "right_eye_right",
  rightEyeDown: "right_eye_bottom",
  rightEyeLeft: "right_eye_left",
  leftEyeBrowLeft: "left_eyebrow_left",
  leftEyeBrowRight: "left_eyebrow_right",
  leftEyeBrowUp: "left_eyebrow_top",
  rightEyeBrowLeft: "right_eyebrow_left",
  rightEyeBrowRight: "right_eyebrow_right",
  rightEyeBrowUp: "right_eyebrow_top",
  leftPupil: "left_pupil",
  rightPupil: "right_pupil",
  nose: "nose_tip",
  noseRight: "nose_bottom_right",
  noseLeft: "nose_bottom_left",
  mouthLeft: "mouth_left",
  mouthRight: "mouth_right",
  mouthUp: "mouth_top",
  mouthDown: "mouth_bottom",
  chinBottom: "chin_gnathion",
  upperJawlineLeft: "upper_jawline_left",
  midJawlineLeft: "mid_jawline_left",
  midJawlineRight: "mid_jawline_right",
  upperJawlineRight: "upper_jawline_right",
};

/** https://docs.aws.amazon.com/rekognition/latest/dg/moderation-api.html; labels of the third level are like their parents. */
const kinds = toKinds({
  Sexual: {
    Sexual: ["Explicit"],
    Nudity: ["Explicit Nudity"],
    SexualActivity: ["Explicit Sexual Activity"],
    AdultToys: ["Sex Toys"],
    Suggestive: ["Non-Explicit Nudity of Intimate parts and Kissing"],
    PartialNudity: ["Non-Explicit Nudity", "Obstructed Intimate Parts"],
    SexualSituations: ["Kissing on the Lips"],
    RevealingClothes: ["Swimwear or Underwear", "Female Swimwear or Underwear", "Male Swimwear or Underwear"],
  },
  Violence: {
    Violence: ["Violence", "Explosions and Blasts", "Crashes"],
    WeaponViolence: ["Weapons", "Weapon Violence"],
    GraphicViolenceOrGore: ["Graphic Violence", "Blood & Gore", "Visually Disturbing", "Death and Emaciation"],
    PhysicalViolence: ["Physical Violence", "Self-Harm"],
  },
  DrugAndAlcohol: {
    DrugProducts: ["Drugs & Tobacco", "Products", "Pills"],
    DrugUse: ["Drugs & Tobacco Paraphernalia & Use"],
    Smoking: ["Smoking"],
    Alcohol: ["Alcohol", "Alcoholic Beverages"],
    Drinking: ["Alcohol Use", "Drinking"],
  },
  Content: { MiddleFinger: ["Rude Gestures", "Middle Finger"] },
  Finance: { Gambling: ["Gambling"] },
  HateAndExtremism: { Hate: ["Hate Symbols"], Extremist: ["Nazi Party", "White Supremacy", "Extremist"] },
});
