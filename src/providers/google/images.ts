// Google Cloud Vision. Most boxes are in pixels. Google omits members whose value is 0, so a missing score or coordinate is 0.

import type { KnownOutput, TaskName } from "../../contract/tasks.ts";
import { type ImageSize, readImageSize } from "../../lib/image-size.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asScore, asString, asText, at, objectsIn } from "../lenient.ts";
import { edgesAround, noEdges, toPoints } from "../shapes/boxes.ts";
import { byName, type LandmarkName } from "../shapes/faces.ts";
import { fileOf, languageOf, oneImage, postJson, readBase64 } from "../shapes/inputs.ts";
import type { Kind } from "../shapes/moderation.ts";
import { toShape } from "../shapes/to-shape.ts";
import type { ProviderTask, TaskCall, TaskRequest } from "../task.ts";
import { throwIfFailed } from "./google-json.ts";

export const visionDocs = "https://docs.cloud.google.com/vision/docs/reference/rest/v1/";
// https://docs.cloud.google.com/vision/quotas: a request has up to 10 MB, and base64 makes a file a third larger.
export const maxBytes = 7 * 1_048_576;
export const mediaTypes = ["jpeg", "png", "gif", "bmp", "webp", "vnd.microsoft.icon"].map((type) => `image/${type}`);

/** Google bills every feature in the list. */
export const visionBilledParams: readonly string[] = ["features"];

export const imageTasks: readonly ProviderTask[] = [
  createTask("image/object_detection", "OBJECT_LOCALIZATION", ({ localizedObjectAnnotations }) => ({
    items: objectsIn(localizedObjectAnnotations).map(({ name, score, boundingPoly }) => ({
      label: asString(name),
      confidence: asScore(score) ?? 0,
      ...(edgesAround(pointsOf(boundingPoly, null)) ?? noEdges),
    })),
  })),
  createTask("image/face_detection", "FACE_DETECTION", async ({ faceAnnotations }, call) => {
    const size = await sizeOf(call);
    return toShape("image/face_detection", { items: objectsIn(faceAnnotations).map((face) => toFace(face, size)) });
  }),
  createTask("image/explicit_content", "SAFE_SEARCH_DETECTION", ({ safeSearchAnnotation }) => {
    // The schema requires a likelihood: categories without one are left out.
    const items = explicitKinds.flatMap(([member, label, [category, subcategory]]) => {
      const likelihood = toStep(at(safeSearchAnnotation, member));
      return likelihood === null
        ? []
        : [{ label, likelihood, likelihood_score: likelihood / 5, category, subcategory }];
    });
    if (items.length === 0) throw new TypeError("there are no likelihoods in the answer");
    const worst = Math.max(...items.map(({ likelihood }) => likelihood));
    return { nsfw_likelihood: worst, nsfw_likelihood_score: worst / 5, items };
  }),
  createTask("image/logo_detection", "LOGO_DETECTION", async ({ logoAnnotations }, call) => {
    const size = await sizeOf(call);
    const items = objectsIn(logoAnnotations).map(({ boundingPoly, description, score }) => ({
      bounding_poly: { vertices: pointsOf(boundingPoly, size) },
      description: asText(description),
      score: asScore(score) ?? 0,
    }));
    return { items };
  }),
  createTask("image/landmark_detection", "LANDMARK_DETECTION", ({ landmarkAnnotations }) => ({
    items: objectsIn(landmarkAnnotations).map(({ description, score, boundingPoly, locations }) => ({
      description: asString(description),
      confidence: asScore(score) ?? 0,
      // Pixels: the schema has whole numbers here.
      bounding_box: objectsIn(at(boundingPoly, "vertices")).map(({ x, y }) => ({
        x: Math.round(asNumber(x) ?? 0),
        y: Math.round(asNumber(y) ?? 0),
      })),
      locations: objectsIn(locations).map(({ latLng }) => ({
        lat_lng: { latitude: asNumber(at(latLng, "latitude")) ?? 0, longitude: asNumber(at(latLng, "longitude")) ?? 0 },
      })),
    })),
  })),
];

function createTask<const Name extends TaskName, Output extends JsonObject>(
  task: Name,
  feature: string,
  toOutput: (response: JsonObject, call: TaskCall) => KnownOutput<Name, Output> | Promise<KnownOutput<Name, Output>>,
): ProviderTask {
  return {
    task,
    docs: `${visionDocs}images/annotate`,
    service: "vision",
    files: { maxBytes, mediaTypes },
    billedParams: visionBilledParams,
    toRequest: (call) => annotateImage(feature, call),
    fromResponse: async ({ json }, call) => ({ output: await toOutput(firstResponse(json), call), units: oneImage }),
  };
}

export async function annotateImage(feature: string, call: TaskCall): Promise<TaskRequest> {
  const image = { content: await readBase64(fileOf(call)) };
  const request = { image, features: [{ type: feature }], ...languageHints(call) };
  return postJson("/v1/images:annotate", { requests: [request] }, { paramsPath: ["requests", 0] });
}

export function languageHints(call: TaskCall): JsonObject {
  const language = languageOf(call);
  return language === null ? {} : { imageContext: { languageHints: [language] } };
}

export function firstResponse(json: unknown): JsonObject {
  const first = asObject(at(json, "responses", 0));
  throwIfFailed(first);
  return first;
}

async function sizeOf(call: TaskCall): Promise<ImageSize | null> {
  return readImageSize(await fileOf(call).read());
}

/** The corners of a polygon relative to the image; empty when they are pixels of an image of unknown size. */
export function pointsOf(polygon: unknown, size: { readonly width?: unknown; readonly height?: unknown } | null) {
  const corners = (vertices: unknown) =>
    objectsIn(vertices).flatMap(({ x, y }) => [asNumber(x) ?? 0, asNumber(y) ?? 0]);
  const { normalizedVertices, vertices } = asObject(polygon);
  const shares = corners(normalizedVertices);
  return shares.length > 0 ? toPoints(shares, 1, 1) : toPoints(corners(vertices), size?.width, size?.height);
}

const steps = ["UNKNOWN", "VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY"];

/** 1..5, or null when the likelihood is unknown. */
function toStep(likelihood: unknown): number | null {
  const step = typeof likelihood === "number" ? likelihood : steps.indexOf(String(likelihood));
  return step > 0 && step < steps.length ? step : null;
}

function toFace(face: JsonObject, size: ImageSize | null) {
  const points = objectsIn(face["landmarks"]).map(({ type, position }) => {
    const { x = 0, y = 0 } = asObject(position);
    const [point] = toPoints([x, y], size?.width, size?.height);
    return [type, point === undefined ? null : [point.x, point.y]] as const;
  });
  const step = (name: string) => toStep(face[`${name}Likelihood`]);
  const chance = (name: string) => {
    const likelihood = step(name);
    return likelihood === null ? null : likelihood / 5;
  };
  return {
    confidence: asScore(face["detectionConfidence"]) ?? 0,
    landmarks: byName(landmarks, points),
    emotions: { joy: step("joy"), sorrow: step("sorrow"), anger: step("anger"), surprise: step("surprise") },
    poses: { pitch: face["tiltAngle"], roll: face["rollAngle"], yaw: face["panAngle"] },
    bounding_box: edgesAround(pointsOf(face["boundingPoly"], size)) ?? noEdges,
    quality: { exposure: chance("underExposed"), blur: chance("blurred") },
    accessories: { headwear: chance("headwear") },
  };
}

const explicitKinds: readonly (readonly [member: string, label: string, kind: Kind])[] = [
  ["adult", "Adult", ["Sexual", "Sexual"]],
  ["spoof", "Spoof", ["Other", "Spoof"]],
  ["medical", "Medical", ["Content", "Medical"]],
  ["violence", "Violence", ["Violence", "Violence"]],
  ["racy", "Racy", ["HateAndExtremism", "Racy"]],
];

const landmarks: Readonly<Record<string, LandmarkName>> = {
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
