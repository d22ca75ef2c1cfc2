// Amazon Rekognition. Boxes are relative already; confidences are percentages.

import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asText, at, fromPercentage, limitToOne, objectsIn } from "../lenient.ts";
import { fileOf } from "../shapes/inputs.ts";
import { type Kind, toLikelihood, toModeration } from "../shapes/likelihood.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { FileLimits, InputFile, ProviderTask, TaskCall, TaskRequest } from "../task.ts";
import { toAwsRequest } from "./aws-json.ts";

const docs = "https://docs.aws.amazon.com/rekognition/latest/APIReference/";
const target = "RekognitionService.";

// https://docs.aws.amazon.com/rekognition/latest/dg/limits.html, for images that come with the request.
const files: FileLimits = { maxBytes: 5 * 1_048_576, mediaTypes: ["image/jpeg", "image/png"] };

const oneImage = { image: 1, file: 1, request: 1 } as const;

export const detectObjects: ProviderTask = {
  task: "image/object_detection",
  docs: `${docs}API_DetectLabels.html`,
  service: "rekognition",
  files,
  toRequest: (call) => toImageRequest("DetectLabels", call),
  fromResponse: (answer) => {
    const labels = objectsIn(asObject(answer.json)["Labels"]);
    return { output: { items: labels.flatMap(toItems) }, units: oneImage };
  },
};

/**
 * One for each position at which the object was seen; one without a position for what the whole picture shows. The schema requires a
 * confidence: without one there is no item.
 */
function toItems(label: JsonObject): JsonObject[] {
  const name = asText(label["Name"]) ?? "";
  const ofLabel = fromPercentage(label["Confidence"]);
  const instances = objectsIn(label["Instances"]);
  if (instances.length === 0) return ofLabel === null ? [] : [{ label: name, confidence: ofLabel, ...nowhere }];
  return instances.flatMap((instance) => {
    const confidence = fromPercentage(instance["Confidence"]) ?? ofLabel;
    return confidence === null ? [] : [{ label: name, confidence, ...toEdges(instance["BoundingBox"]) }];
  });
}

const nowhere = { x_min: null, x_max: null, y_min: null, y_max: null };

function toEdges(box: unknown): JsonObject {
  const { Left, Top, Width, Height } = asObject(box);
  const [left, top, width, height] = [asNumber(Left), asNumber(Top), asNumber(Width), asNumber(Height)];
  if (left === null || top === null || width === null || height === null) return nowhere;
  return { x_min: left, x_max: left + width, y_min: top, y_max: top + height };
}

export const detectExplicitContent: ProviderTask = {
  task: "image/explicit_content",
  docs: `${docs}API_DetectModerationLabels.html`,
  service: "rekognition",
  files,
  toRequest: (call) => toImageRequest("DetectModerationLabels", call),
  fromResponse: (answer) => {
    const labels = objectsIn(asObject(answer.json)["ModerationLabels"]);
    const findings = labels.map((label) => {
      const name = asText(label["Name"]) ?? "";
      return {
        label: name,
        score: fromPercentage(label["Confidence"]),
        kind: kindOf(name, asText(label["ParentName"])),
      };
    });
    return { output: toModeration(findings), units: oneImage };
  },
};

/** https://docs.aws.amazon.com/rekognition/latest/dg/moderation-api.html; labels of the third level are like their parents. */
const kinds: Readonly<Record<string, Kind>> = {
  Explicit: ["Sexual", "Sexual"],
  "Explicit Nudity": ["Sexual", "Nudity"],
  "Explicit Sexual Activity": ["Sexual", "SexualActivity"],
  "Sex Toys": ["Sexual", "AdultToys"],
  "Non-Explicit Nudity of Intimate parts and Kissing": ["Sexual", "Suggestive"],
  "Non-Explicit Nudity": ["Sexual", "PartialNudity"],
  "Obstructed Intimate Parts": ["Sexual", "PartialNudity"],
  "Kissing on the Lips": ["Sexual", "SexualSituations"],
  "Swimwear or Underwear": ["Sexual", "RevealingClothes"],
  "Female Swimwear or Underwear": ["Sexual", "RevealingClothes"],
  "Male Swimwear or Underwear": ["Sexual", "RevealingClothes"],
  Violence: ["Violence", "Violence"],
  Weapons: ["Violence", "WeaponViolence"],
  "Graphic Violence": ["Violence", "GraphicViolenceOrGore"],
  "Physical Violence": ["Violence", "PhysicalViolence"],
  "Weapon Violence": ["Violence", "WeaponViolence"],
  "Self-Harm": ["Violence", "PhysicalViolence"],
  "Blood & Gore": ["Violence", "GraphicViolenceOrGore"],
  "Explosions and Blasts": ["Violence", "Violence"],
  "Visually Disturbing": ["Violence", "GraphicViolenceOrGore"],
  "Death and Emaciation": ["Violence", "GraphicViolenceOrGore"],
  Crashes: ["Violence", "Violence"],
  "Drugs & Tobacco": ["DrugAndAlcohol", "DrugProducts"],
  Products: ["DrugAndAlcohol", "DrugProducts"],
  Pills: ["DrugAndAlcohol", "DrugProducts"],
  "Drugs & Tobacco Paraphernalia & Use": ["DrugAndAlcohol", "DrugUse"],
  Smoking: ["DrugAndAlcohol", "Smoking"],
  Alcohol: ["DrugAndAlcohol", "Alcohol"],
  "Alcohol Use": ["DrugAndAlcohol", "Drinking"],
  Drinking: ["DrugAndAlcohol", "Drinking"],
  "Alcoholic Beverages": ["DrugAndAlcohol", "Alcohol"],
  "Rude Gestures": ["Content", "MiddleFinger"],
  "Middle Finger": ["Content", "MiddleFinger"],
  Gambling: ["Finance", "Gambling"],
  "Hate Symbols": ["HateAndExtremism", "Hate"],
  "Nazi Party": ["HateAndExtremism", "Extremist"],
  "White Supremacy": ["HateAndExtremism", "Extremist"],
  Extremist: ["HateAndExtremism", "Extremist"],
};

function kindOf(name: string, parent: string | null): Kind {
  return lookUp(kinds, name) ?? lookUp(kinds, parent ?? "") ?? ["Other", "Other"];
}

export const compareFaces: ProviderTask = {
  task: "image/face_compare",
  docs: `${docs}API_CompareFaces.html`,
  service: "rekognition",
  files,
  toRequest: async (call) =>
    toAwsRequest(`${target}CompareFaces`, {
      SourceImage: await toImage(fileOf(call, "file1")),
      TargetImage: await toImage(fileOf(call, "file2")),
    }),
  fromResponse: (answer) => {
    const matches = objectsIn(asObject(answer.json)["FaceMatches"]);
    return { output: { items: matches.map(toMatch) }, units: { image: 2, file: 2, request: 1 } };
  },
};

function toMatch(match: JsonObject): JsonObject {
  const box = asObject(at(match, "Face", "BoundingBox"));
  return {
    confidence: fromPercentage(match["Similarity"]),
    bounding_box: {
      top: asNumber(box["Top"]),
      left: asNumber(box["Left"]),
      height: asNumber(box["Height"]),
      width: asNumber(box["Width"]),
    },
  };
}

export const detectFaces: ProviderTask = {
  task: "image/face_detection",
  docs: `${docs}API_DetectFaces.html`,
  service: "rekognition",
  files,
  toRequest: (call) => toImageRequest("DetectFaces", call, { Attributes: ["ALL"] }),
  fromResponse: (answer) => {
    const faces = objectsIn(asObject(answer.json)["FaceDetails"]);
    return { output: toShape("image/face_detection", { items: faces.flatMap(toFace) }), units: oneImage };
  },
};

const landmarks: Readonly<Record<string, string>> = {
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

const emotions: Readonly<Record<string, string>> = {
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

/** None without a confidence, because the schema requires one. */
function toFace(face: JsonObject): JsonObject[] {
  const confidence = fromPercentage(face["Confidence"]);
  return confidence === null ? [] : [{ confidence, ...toTraits(face) }];
}

function toTraits(face: JsonObject): JsonObject {
  const pose = asObject(face["Pose"]);
  return {
    landmarks: toLandmarks(face),
    emotions: toEmotions(face),
    poses: { pitch: pose["Pitch"], roll: pose["Roll"], yaw: pose["Yaw"] },
    age: toAge(face["AgeRange"]),
    gender: asText(at(face, "Gender", "Value")),
    bounding_box: toEdges(face["BoundingBox"]),
    facial_hair: { moustache: toChance(face["Mustache"]), beard: toChance(face["Beard"]) },
    quality: {
      brightness: toPart(at(face, "Quality", "Brightness")),
      sharpness: toPart(at(face, "Quality", "Sharpness")),
    },
    accessories: { sunglasses: toChance(face["Sunglasses"]), eyeglasses: toChance(face["Eyeglasses"]) },
    occlusions: toOcclusions(face["FaceOccluded"]),
    features: {
      eyes_open: toChance(face["EyesOpen"]),
      smile: toChance(face["Smile"]),
      mouth_open: toChance(face["MouthOpen"]),
    },
  };
}

function toLandmarks(face: JsonObject): JsonObject {
  const found = objectsIn(face["Landmarks"]).flatMap(({ Type, X, Y }) => {
    const name = lookUp(landmarks, String(Type));
    const [x, y] = [asNumber(X), asNumber(Y)];
    return name === undefined || x === null || y === null ? [] : [[name, [x, y]] as const];
  });
  return Object.fromEntries(found);
}

function toEmotions(face: JsonObject): JsonObject {
  const found = objectsIn(face["Emotions"]).flatMap(({ Type, Confidence }) => {
    const name = lookUp(emotions, String(Type).toUpperCase());
    const score = fromPercentage(Confidence);
    return name === undefined || score === null ? [] : [[name, toLikelihood(score)] as const];
  });
  return Object.fromEntries(found);
}

/** The middle of the range. */
function toAge(range: unknown): number | null {
  const low = asNumber(at(range, "Low"));
  const high = asNumber(at(range, "High"));
  return low === null || high === null ? (low ?? high) : (low + high) / 2;
}

/** How likely it is there: the confidence of a no is that of its absence. */
function toChance(attribute: unknown): number | null {
  const confidence = asNumber(at(attribute, "Confidence"));
  if (confidence === null) return null;
  return limitToOne((at(attribute, "Value") === true ? confidence : 100 - confidence) / 100);
}

function toOcclusions(attribute: unknown): JsonObject {
  // It says that something is hidden, not what: only that nothing is can be told.
  if (at(attribute, "Value") !== false) return {};
  return { eye_occluded: false, forehead_occluded: false, mouth_occluded: false };
}

function toPart(percent: unknown): number | null {
  const number = asNumber(percent);
  return number === null ? null : number / 100;
}

async function toImageRequest(operation: string, call: TaskCall, more: JsonObject = {}): Promise<TaskRequest> {
  return toAwsRequest(`${target}${operation}`, { Image: await toImage(fileOf(call)), ...more });
}

async function toImage(file: InputFile): Promise<JsonObject> {
  return { Bytes: Buffer.from(await file.read()).toString("base64") };
}
