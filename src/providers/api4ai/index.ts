import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asObject, asScore, asText, at, objectsIn, rounded } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { toCutOut } from "../shapes/images.ts";
import { fileOf, filePart } from "../shapes/inputs.ts";
import { type Kind, other, safe, toModeration } from "../shapes/moderation.ts";
import type { TaskCall } from "../task.ts";
import { type ProviderTask, TaskFailure, type TaskRequest, type TaskResponse } from "../task.ts";
import { toBox } from "./box.ts";
import { toFaces } from "./faces.ts";

const units = { file: 1, image: 1, request: 1 };

async function toRequest(path: string, call: TaskCall): Promise<TaskRequest> {
  return { path, body: { kind: "form", parts: [await filePart("image", fileOf(call))] } };
}

/** The entities of the only result. Failures come with status 200. */
function entitiesOf({ json }: TaskResponse): readonly JsonObject[] {
  const result = at(json, "results", 0);
  if (at(result, "status", "code") === "failure")
    throw new TaskFailure(400, asText(at(result, "status", "message")) ?? "The image could not be read");
  return objectsIn(at(result, "entities"));
}

/** What was found in the image: a box, and for each name how sure it is. */
function objectsOf(answer: TaskResponse): readonly JsonObject[] {
  return objectsIn(entitiesOf(answer).find(({ kind }) => kind === "objects")?.["objects"]);
}

function classesOf(found: JsonObject): readonly (readonly [string, number | null])[] {
  const classes = asObject(objectsIn(found["entities"]).find(({ kind }) => kind === "classes")?.["classes"]);
  return Object.entries(classes).map(([name, score]) => [name, asScore(score)]);
}

/** For outputs whose schema requires a confidence. */
function scoredClassesOf(found: JsonObject): readonly (readonly [string, number])[] {
  return classesOf(found).flatMap(([name, score]) => (score === null ? [] : [[name, score] as const]));
}

const detectObjects: ProviderTask = {
  task: "image/object_detection",
  docs: "https://api4.ai/docs/general-detection",
  toRequest: (call) => toRequest("/general-det/v1/results", call),
  fromResponse(answer) {
    const items = objectsOf(answer).flatMap((found) =>
      scoredClassesOf(found).map(([label, confidence]) => ({ label, confidence, ...toBox(found["box"]) })),
    );
    return { output: { items }, units };
  },
};

const detectLogos: ProviderTask = {
  task: "image/logo_detection",
  docs: "https://api4.ai/docs/brand-recognition",
  models: ["v1", "v2"],
  toRequest: (call) => toRequest(`/brand-det/${call.model ?? "v1"}/results`, call),
  fromResponse(answer) {
    const items = [...objectsOf(answer).flatMap(toLogos), ...entitiesOf(answer).flatMap(toNamedBrands)];
    return { output: { items }, units };
  },
};

function toLogos(found: JsonObject): object[] {
  const { x_min, x_max, y_min, y_max } = toBox(found["box"]);
  const vertices = [
    { x: x_min, y: y_min },
    { x: x_max, y: y_min },
    { x: x_max, y: y_max },
    { x: x_min, y: y_max },
  ];
  return classesOf(found).map(([description, score]) => ({ bounding_poly: { vertices }, description, score }));
}

/** The second version names the brands of the image without saying where they are or how sure it is. */
function toNamedBrands({ array }: JsonObject): object[] {
  return asList(array).flatMap((brand) => {
    const description = asText(brand) ?? asText(at(brand, "name"));
    return description === null ? [] : [{ bounding_poly: { vertices: null }, description, score: null }];
  });
}

const anonymize: ProviderTask = {
  task: "image/anonymization",
  docs: "https://api4.ai/docs/image-anonymization",
  toRequest: (call) => toRequest("/img-anonymization/v1/results", call),
  fromResponse(answer) {
    const image = toImage(answer);
    const items = objectsOf(answer).flatMap((found) =>
      scoredClassesOf(found).map(([kind, confidence]) => ({ kind, confidence, bounding_boxes: toBox(found["box"]) })),
    );
    return {
      output: { items },
      units,
      binaries: [{ base64Path: ["image"], urlPath: ["image_resource_url"], ...image }],
    };
  },
};

const removeBackground: ProviderTask = {
  task: "image/background_removal",
  docs: "https://api4.ai/docs/background-removal",
  toRequest: (call) => toRequest("/img-bg-removal/v1/general/results", call),
  fromResponse: (answer) => toCutOut(toImage(answer)),
};

function toImage(answer: TaskResponse): { bytes: Uint8Array; mediaType: string } {
  const image = entitiesOf(answer).find(({ kind }) => kind === "image");
  const base64 = asText(image?.["image"]);
  if (base64 === null) throw new TypeError("there is no image in the answer");
  const format = (asText(image?.["format"]) ?? "png").toLowerCase();
  return { bytes: Buffer.from(base64, "base64"), mediaType: `image/${format === "jpg" ? "jpeg" : format}` };
}

const detectFaces: ProviderTask = {
  task: "image/face_detection",
  docs: "https://api4.ai/docs/face-analysis",
  toRequest: (call) => toRequest("/face-analyzer/v1/results", call),
  fromResponse: (answer) => ({ output: { items: toFaces(objectsOf(answer)) }, units }),
};

const kinds: Readonly<Record<string, Kind>> = { nsfw: ["Sexual", "Sexual"], sfw: safe };

const detectExplicitContent: ProviderTask = {
  task: "image/explicit_content",
  docs: "https://api4.ai/docs/nsfw",
  toRequest: (call) => toRequest("/nsfw/v1/results", call),
  fromResponse(answer) {
    const classes = asObject(entitiesOf(answer).find(({ kind }) => kind === "classes")?.["classes"]);
    const findings = Object.entries(classes).map(([label, score]) => ({
      label,
      score,
      kind: lookUp(kinds, label) ?? other,
    }));
    if (findings.length === 0) throw new TypeError("there are no classes in the answer");
    return { output: toModeration(findings), units };
  },
};

const readText: ProviderTask = {
  task: "ocr/ocr",
  docs: "https://api4.ai/docs/ocr",
  unsupported: ["language"],
  toRequest: (call) => toRequest("/ocr/v1/results", call),
  fromResponse(answer) {
    const boxes = objectsOf(answer).flatMap((found) =>
      objectsIn(found["entities"]).flatMap(({ text }) => {
        if (typeof text !== "string") return [];
        const sides = [0, 1, 2, 3].map((index) => {
          const side = asNumber(at(found["box"], index));
          return side === null ? null : rounded(side);
        });
        const [left = null, top = null, width = null, height = null] = sides;
        return [{ text, left, top, width, height }];
      }),
    );
    const text = boxes.map((box) => box.text).join("\n");
    return { output: { text, bounding_boxes: boxes }, units: { ...units, page: 1 } };
  },
};

export const api4ai: ProviderRow = {
  name: "api4ai",
  title: "API4AI",
  docs: "https://api4.ai/docs",
  baseUrl: "https://api4ai.cloud",
  auth: { kind: "header", name: "x-api-key" },
  // Instead of an upload it takes an address: that would be another file than the one that was checked.
  sealedParams: ["url", "image"],
  tasks: [detectObjects, detectLogos, anonymize, removeBackground, detectFaces, detectExplicitContent, readText],
};
