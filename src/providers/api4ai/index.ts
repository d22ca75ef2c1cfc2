import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asObject, asScore, asText, at, objectsIn, rounded } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { type Edges, noEdges, toVertices } from "../shapes/boxes.ts";
import { toCutOut } from "../shapes/images.ts";
import { fileOf, modelOf, oneImage as units } from "../shapes/inputs.ts";
import { safe, toFindings, toModeration } from "../shapes/moderation.ts";
import { postForm } from "../shapes/requests.ts";
import { requireValue } from "../shapes/require-value.ts";
import { toShape } from "../shapes/to-shape.ts";
import { defineTask, type TaskCall, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";

function toRequest(path: string, call: TaskCall): Promise<TaskRequest> {
  return postForm(path, { image: fileOf(call) });
}

/** The entities of the only result. Failures are reported with status 200. */
function entitiesOf({ json }: TaskResponse): readonly JsonObject[] {
  const result = at(json, "results", 0);
  if (at(result, "status", "code") === "failure")
    throw new TaskFailure(400, asText(at(result, "status", "message")) ?? "The image could not be read");
  return objectsIn(at(result, "entities"));
}

/** An entity of kind `objects` has a member `objects`, and so on. */
function entityOf(entities: unknown, kind: string): unknown {
  return objectsIn(entities).find((entity) => entity["kind"] === kind)?.[kind];
}

/** The objects in the image: each has a box and, in its entities, scores by class. */
function objectsOf(response: TaskResponse): readonly JsonObject[] {
  return objectsIn(entityOf(entitiesOf(response), "objects"));
}

function classesOf({ entities }: JsonObject): readonly (readonly [string, number | null])[] {
  const classes = asObject(entityOf(entities, "classes"));
  return Object.entries(classes).map(([name, score]) => [name, asScore(score)]);
}

/** For outputs whose schema requires a confidence. */
function scoredClassesOf(object: JsonObject): readonly (readonly [string, number])[] {
  return classesOf(object).flatMap(([name, score]) => (score === null ? [] : [[name, score] as const]));
}

/** The vendor sends left, top, width and height, relative to the image. */
function sidesOf({ box }: JsonObject): readonly (number | null)[] {
  return [0, 1, 2, 3].map((index) => asNumber(at(box, index)));
}

function edgesOf(object: JsonObject): Edges | typeof noEdges {
  const [left = null, top = null, width = null, height = null] = sidesOf(object);
  if (left === null || top === null || width === null || height === null) return noEdges;
  return { x_min: rounded(left), x_max: rounded(left + width), y_min: rounded(top), y_max: rounded(top + height) };
}

const detectObjects = defineTask("image/object_detection", {
  docs: "https://api4.ai/docs/general-detection",
  toRequest: (call) => toRequest("/general-det/v1/results", call),
  fromResponse(response) {
    const items = objectsOf(response).flatMap((object) =>
      scoredClassesOf(object).map(([label, confidence]) => ({ label, confidence, ...edgesOf(object) })),
    );
    return { output: { items }, units };
  },
});

const detectLogos = defineTask("image/logo_detection", {
  docs: "https://api4.ai/docs/brand-recognition",
  models: ["v1", "v2"],
  defaultModel: "v1",
  toRequest: (call) => toRequest(`/brand-det/${modelOf(call)}/results`, call),
  fromResponse(response) {
    const items = [...objectsOf(response).flatMap(toLogos), ...entitiesOf(response).flatMap(toNamedBrands)];
    return { output: { items }, units };
  },
});

function toLogos(object: JsonObject) {
  const vertices = toVertices(edgesOf(object));
  return classesOf(object).map(([description, score]) => ({ bounding_poly: { vertices }, description, score }));
}

/** Version 2 names the brands without a position or a confidence. */
function toNamedBrands({ array }: JsonObject) {
  return asList(array).flatMap((brand) => {
    const description = asText(brand) ?? asText(at(brand, "name"));
    return description === null ? [] : [{ bounding_poly: { vertices: null }, description, score: null }];
  });
}

const anonymize = defineTask("image/anonymization", {
  docs: "https://api4.ai/docs/image-anonymization",
  toRequest: (call) => toRequest("/img-anonymization/v1/results", call),
  fromResponse(response) {
    const items = objectsOf(response).flatMap((object) =>
      scoredClassesOf(object).map(([kind, confidence]) => ({ kind, confidence, bounding_boxes: edgesOf(object) })),
    );
    const image = { base64Path: ["image"], urlPath: ["image_resource_url"], ...toImage(response) };
    return { output: { items }, units, binaries: [image] };
  },
});

const removeBackground = defineTask("image/background_removal", {
  docs: "https://api4.ai/docs/background-removal",
  toRequest: (call) => toRequest("/img-bg-removal/v1/general/results", call),
  fromResponse: (response) => toCutOut(toImage(response)),
});

function toImage(response: TaskResponse): { bytes: Uint8Array; mediaType: string } {
  const { image, format } = asObject(entitiesOf(response).find(({ kind }) => kind === "image"));
  const base64 = requireValue(asText(image), "image");
  const type = (asText(format) ?? "png").toLowerCase();
  return { bytes: Buffer.from(base64, "base64"), mediaType: `image/${type === "jpg" ? "jpeg" : type}` };
}

const detectFaces = defineTask("image/face_detection", {
  docs: "https://api4.ai/docs/face-analysis",
  toRequest: (call) => toRequest("/face-analyzer/v1/results", call),
  fromResponse(response) {
    const items = objectsOf(response).flatMap(toFace);
    return { output: toShape("image/face_detection", { items }), units };
  },
});

/** The schema requires a confidence. */
function toFace(object: JsonObject) {
  const confidence = asScore(at(entityOf(object["entities"], "classes"), "face"));
  if (confidence === null) return [];
  const point = (name: string) => asList(at(entityOf(object["entities"], "namedpoints"), name));
  const landmarks = {
    left_eye: point("left-eye"),
    right_eye: point("right-eye"),
    nose_tip: point("nose-tip"),
    mouth_left: point("mouth-left-corner"),
    mouth_right: point("mouth-right-corner"),
  };
  return [{ confidence, landmarks, bounding_box: edgesOf(object) }];
}

const detectExplicitContent = defineTask("image/explicit_content", {
  docs: "https://api4.ai/docs/nsfw",
  toRequest: (call) => toRequest("/nsfw/v1/results", call),
  fromResponse(response) {
    const findings = toFindings(entityOf(entitiesOf(response), "classes"), { nsfw: ["Sexual", "Sexual"], sfw: safe });
    return { output: toModeration(findings), units };
  },
});

const readText = defineTask("ocr/ocr", {
  docs: "https://api4.ai/docs/ocr",
  unsupported: ["language"],
  toRequest: (call) => toRequest("/ocr/v1/results", call),
  fromResponse(response) {
    const boxes = objectsOf(response).flatMap((object) => {
      const sides = sidesOf(object).map((side) => (side === null ? null : rounded(side)));
      const [left = null, top = null, width = null, height = null] = sides;
      const texts = objectsIn(object["entities"]).map(({ text }) => text);
      return texts.filter((text) => typeof text === "string").map((text) => ({ text, left, top, width, height }));
    });
    const text = boxes.map((box) => box.text).join("\n");
    return { output: { text, bounding_boxes: boxes }, units: { ...units, page: 1 } };
  },
});

export const api4ai = defineProvider("api4ai", "API4AI", {
  docs: "https://api4.ai/docs",
  baseUrl: "https://api4ai.cloud",
  auth: { kind: "header", name: "x-api-key" },
  // They would replace the file that was checked.
  sealedParams: ["url", "image"],
  tasks: [detectObjects, detectLogos, anonymize, removeBackground, detectFaces, detectExplicitContent, readText],
});
