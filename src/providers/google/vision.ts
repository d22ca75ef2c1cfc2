// Google Cloud Vision. Most boxes are in pixels. Google omits members whose value is 0, so a missing score or coordinate is 0.

import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asScore, asText, at, limitToOne, objectsIn } from "../lenient.ts";
import { type ImageSize, readImageSize } from "../shapes/image-size.ts";
import { fileOf, languageOf } from "../shapes/inputs.ts";
import type { Kind } from "../shapes/likelihood.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { FileLimits, ProviderTask, TaskCall, TaskRequest, TaskResponse } from "../task.ts";
import { throwIfFailed } from "./google-json.ts";

const docs = "https://docs.cloud.google.com/vision/docs/reference/rest/v1/";

// https://docs.cloud.google.com/vision/quotas: a request of 10 MB, in which a file takes a third more than its size.
const maxBytes = 7 * 1_048_576;
export const pictures = ["image/jpeg", "image/png", "image/gif", "image/bmp", "image/webp", "image/vnd.microsoft.icon"];
export const documents = ["application/pdf", "image/tiff"];
const files: FileLimits = { maxBytes, mediaTypes: pictures };

const oneImage = { image: 1, file: 1, request: 1 } as const;

export const readText: ProviderTask = {
  task: "ocr/ocr",
  docs: `${docs}images/annotate`,
  service: "vision",
  files: { maxBytes, mediaTypes: [...pictures, ...documents] },
  toRequest: async (call) => {
    const file = fileOf(call);
    if (!documents.includes(file.mediaType)) return toRequest("DOCUMENT_TEXT_DETECTION", call);
    const content = await readBase64(call);
    return {
      path: "/v1/files:annotate",
      paramsPath: ["requests", 0],
      body: {
        kind: "json",
        value: {
          requests: [
            {
              inputConfig: { content, mimeType: file.mediaType },
              features: [{ type: "DOCUMENT_TEXT_DETECTION" }],
              ...toHints(call),
            },
          ],
        },
      },
    };
  },
  fromResponse: (answer) => {
    const first = firstOf(answer);
    const parts = first["responses"] === undefined ? [first] : objectsIn(first["responses"]);
    for (const part of parts) throwIfFailed(part);
    const texts = parts.map((part) => asText(at(part, "fullTextAnnotation", "text")) ?? "");
    return {
      output: {
        text: texts.join("\n").trim(),
        bounding_boxes: parts.flatMap((part) =>
          objectsIn(at(part, "fullTextAnnotation", "pages")).flatMap(toWordBoxes),
        ),
      },
      units: { page: Math.max(1, parts.length), request: 1 },
    };
  },
};

function toWordBoxes(page: JsonObject): JsonObject[] {
  const size = { width: asNumber(page["width"]) ?? 0, height: asNumber(page["height"]) ?? 0 };
  const paragraphs = objectsIn(page["blocks"]).flatMap((block) => objectsIn(block["paragraphs"]));
  return paragraphs
    .flatMap((paragraph) => objectsIn(paragraph["words"]))
    .map((word) => {
      const text = objectsIn(word["symbols"])
        .map((symbol) => asText(symbol["text"]) ?? "")
        .join("");
      const { x_min, x_max, y_min, y_max } = toEdges(asObject(word["boundingBox"]), size);
      const isKnown = x_min !== null && x_max !== null && y_min !== null && y_max !== null;
      return {
        text,
        left: x_min,
        top: y_min,
        width: isKnown ? x_max - x_min : null,
        height: isKnown ? y_max - y_min : null,
      };
    });
}

export const detectObjects: ProviderTask = {
  task: "image/object_detection",
  docs: `${docs}images/annotate`,
  service: "vision",
  files,
  toRequest: (call) => toRequest("OBJECT_LOCALIZATION", call),
  fromResponse: (answer) => ({
    output: {
      items: objectsIn(firstOf(answer)["localizedObjectAnnotations"]).map((object) => ({
        label: asText(object["name"]) ?? "",
        confidence: asScore(object["score"]) ?? 0,
        ...toEdges(asObject(object["boundingPoly"]), null),
      })),
    },
    units: oneImage,
  }),
};

export const detectLogos: ProviderTask = {
  task: "image/logo_detection",
  docs: `${docs}images/annotate`,
  service: "vision",
  files,
  toRequest: (call) => toRequest("LOGO_DETECTION", call),
  fromResponse: async (answer, call) => {
    const size = await sizeOf(call);
    const items = objectsIn(firstOf(answer)["logoAnnotations"]).map((logo) => ({
      bounding_poly: { vertices: toVertices(asObject(logo["boundingPoly"]), size).map(({ x, y }) => ({ x, y })) },
      description: asText(logo["description"]),
      score: asScore(logo["score"]) ?? 0,
    }));
    return { output: { items }, units: oneImage };
  },
};

export const detectLandmarks: ProviderTask = {
  task: "image/landmark_detection",
  docs: `${docs}images/annotate`,
  service: "vision",
  files,
  toRequest: (call) => toRequest("LANDMARK_DETECTION", call),
  fromResponse: (answer) => ({
    output: {
      items: objectsIn(firstOf(answer)["landmarkAnnotations"]).map((landmark) => ({
        description: asText(landmark["description"]) ?? "",
        confidence: asScore(landmark["score"]) ?? 0,
        // Whole numbers, says the schema: these are pixels.
        bounding_box: objectsIn(at(landmark, "boundingPoly", "vertices")).map(({ x, y }) => ({
          x: Math.round(asNumber(x) ?? 0),
          y: Math.round(asNumber(y) ?? 0),
        })),
        locations: objectsIn(landmark["locations"]).map((location) => ({
          lat_lng: {
            latitude: asNumber(at(location, "latLng", "latitude")) ?? 0,
            longitude: asNumber(at(location, "latLng", "longitude")) ?? 0,
          },
        })),
      })),
    },
    units: oneImage,
  }),
};

const explicitKinds: readonly (readonly [member: string, label: string, kind: Kind])[] = [
  ["adult", "Adult", ["Sexual", "Sexual"]],
  ["spoof", "Spoof", ["Other", "Spoof"]],
  ["medical", "Medical", ["Content", "Medical"]],
  ["violence", "Violence", ["Violence", "Violence"]],
  ["racy", "Racy", ["HateAndExtremism", "Racy"]],
];

export const detectExplicitContent: ProviderTask = {
  task: "image/explicit_content",
  docs: `${docs}images/annotate`,
  service: "vision",
  files,
  toRequest: (call) => toRequest("SAFE_SEARCH_DETECTION", call),
  fromResponse: (answer) => {
    const found = asObject(firstOf(answer)["safeSearchAnnotation"]);
    // The schema requires a likelihood: a kind that the vendor does not know is left out.
    const items = explicitKinds.flatMap(([member, label, [category, subcategory]]) => {
      const likelihood = toStep(found[member]);
      return likelihood === null
        ? []
        : [{ label, likelihood, likelihood_score: likelihood / 5, category, subcategory }];
    });
    if (items.length === 0) throw new TypeError("there are no likelihoods in the answer");
    const worst = Math.max(...items.map(({ likelihood }) => likelihood));
    return { output: { nsfw_likelihood: worst, nsfw_likelihood_score: worst / 5, items }, units: oneImage };
  },
};

const steps = ["UNKNOWN", "VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY"];

/** 1..5, or null when the vendor does not know. */
function toStep(likelihood: unknown): number | null {
  const step = typeof likelihood === "number" ? likelihood : steps.indexOf(String(likelihood));
  return step > 0 && step < steps.length ? step : null;
}

export const detectFaces: ProviderTask = {
  task: "image/face_detection",
  docs: `${docs}images/annotate`,
  service: "vision",
  files,
  toRequest: (call) => toRequest("FACE_DETECTION", call),
  fromResponse: async (answer, call) => {
    const size = await sizeOf(call);
    const items = objectsIn(firstOf(answer)["faceAnnotations"]).map((face) => toFace(face, size));
    return { output: toShape("image/face_detection", { items }), units: oneImage };
  },
};

const landmarks: Readonly<Record<string, string>> = {
  LEFT_EYE: "left_eye",
  LEFT_EYE_TOP_BOUNDARY: "left_eye_top",
  LEFT_EYE_RIGHT_CORNER: "left_eye_right",
  LEFT_EYE_BOTTOM_BOUNDARY: "left_eye_bottom",
  LEFT_EYE_LEFT_CORNER: "left_eye_left",
  LEFT_EYE_PUPIL: "left_pupil",
  RIGHT_EYE: "right_eye",
  RIGHT_EYE_TOP_BOUNDARY: "right_eye_top",
  RIGHT_EYE_RIGHT_CORNER: "right_eye_right",
  RIGHT_EYE_BOTTOM_BOUNDARY: "right_eye_bottom",
  RIGHT_EYE_LEFT_CORNER: "right_eye_left",
  RIGHT_EYE_PUPIL: "right_pupil",
  LEFT_OF_LEFT_EYEBROW: "left_eyebrow_left",
  RIGHT_OF_LEFT_EYEBROW: "left_eyebrow_right",
  LEFT_EYEBROW_UPPER_MIDPOINT: "left_eyebrow_top",
  LEFT_OF_RIGHT_EYEBROW: "right_eyebrow_left",
  RIGHT_OF_RIGHT_EYEBROW: "right_eyebrow_right",
  RIGHT_EYEBROW_UPPER_MIDPOINT: "right_eyebrow_top",
  MIDPOINT_BETWEEN_EYES: "midpoint_between_eyes",
  NOSE_TIP: "nose_tip",
  NOSE_BOTTOM_RIGHT: "nose_bottom_right",
  NOSE_BOTTOM_LEFT: "nose_bottom_left",
  NOSE_BOTTOM_CENTER: "nose_bottom_center",
  UPPER_LIP: "upper_lip",
  LOWER_LIP: "under_lip",
  MOUTH_LEFT: "mouth_left",
  MOUTH_RIGHT: "mouth_right",
  MOUTH_CENTER: "mouth_center",
  LEFT_EAR_TRAGION: "left_ear_tragion",
  RIGHT_EAR_TRAGION: "right_ear_tragion",
  FOREHEAD_GLABELLA: "forehead_glabella",
  CHIN_GNATHION: "chin_gnathion",
  CHIN_LEFT_GONION: "chin_left_gonion",
  CHIN_RIGHT_GONION: "chin_right_gonion",
  LEFT_CHEEK_CENTER: "left_cheek_center",
  RIGHT_CHEEK_CENTER: "right_cheek_center",
};

function toFace(face: JsonObject, size: ImageSize | null): JsonObject {
  const points = objectsIn(face["landmarks"]).flatMap(({ type, position }) => {
    const name = lookUp(landmarks, String(type));
    const point = size === null ? null : toPoint(asObject(position), size);
    return name === undefined || point === null ? [] : [[name, [point.x, point.y]] as const];
  });
  const chance = (member: string) => {
    const step = toStep(face[member]);
    return step === null ? null : step / 5;
  };
  return {
    confidence: asScore(face["detectionConfidence"]) ?? 0,
    landmarks: Object.fromEntries(points),
    emotions: {
      joy: toStep(face["joyLikelihood"]),
      sorrow: toStep(face["sorrowLikelihood"]),
      anger: toStep(face["angerLikelihood"]),
      surprise: toStep(face["surpriseLikelihood"]),
    },
    poses: { pitch: face["tiltAngle"], roll: face["rollAngle"], yaw: face["panAngle"] },
    bounding_box: toEdges(asObject(face["boundingPoly"]), size),
    quality: { exposure: chance("underExposedLikelihood"), blur: chance("blurredLikelihood") },
    accessories: { headwear: chance("headwearLikelihood") },
  };
}

interface Edges {
  readonly x_min: number | null;
  readonly x_max: number | null;
  readonly y_min: number | null;
  readonly y_max: number | null;
}

function toEdges(box: JsonObject, size: ImageSize | null): Edges {
  const vertices = toVertices(box, size);
  if (vertices.length === 0) return { x_min: null, x_max: null, y_min: null, y_max: null };
  const xs = vertices.map(({ x }) => x);
  const ys = vertices.map(({ y }) => y);
  return { x_min: Math.min(...xs), x_max: Math.max(...xs), y_min: Math.min(...ys), y_max: Math.max(...ys) };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Relative to the picture; none when they are pixels of a picture whose size nobody knows. */
function toVertices(box: JsonObject, size: ImageSize | null): readonly Point[] {
  const normalized = objectsIn(box["normalizedVertices"]);
  if (normalized.length > 0) return normalized.map((point) => toPoint(point, { width: 1, height: 1 }));
  if (size === null || size.width <= 0 || size.height <= 0) return [];
  return objectsIn(box["vertices"]).map((point) => toPoint(point, size));
}

/** A box may reach over the edge of the picture. */
function toPoint({ x, y }: JsonObject, { width, height }: ImageSize): Point {
  return { x: limitToOne((asNumber(x) ?? 0) / width), y: limitToOne((asNumber(y) ?? 0) / height) };
}

export async function toRequest(feature: string, call: TaskCall): Promise<TaskRequest> {
  const content = await readBase64(call);
  return {
    path: "/v1/images:annotate",
    paramsPath: ["requests", 0],
    body: {
      kind: "json",
      value: { requests: [{ image: { content }, features: [{ type: feature }], ...toHints(call) }] },
    },
  };
}

function toHints(call: TaskCall): JsonObject {
  const language = languageOf(call);
  return language === null ? {} : { imageContext: { languageHints: [language] } };
}

async function readBase64(call: TaskCall): Promise<string> {
  return Buffer.from(await fileOf(call).read()).toString("base64");
}

async function sizeOf(call: TaskCall): Promise<ImageSize | null> {
  return readImageSize(await fileOf(call).read());
}

function firstOf(answer: TaskResponse): JsonObject {
  const first = asObject(at(answer.json, "responses", 0));
  throwIfFailed(first);
  return first;
}
