// Azure AI Vision, version 3.2: the last one that knows brands and landmarks. Boxes are told in pixels, with the picture's size.

import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asScore, asText, at, limitToOne, objectsIn } from "../lenient.ts";
import { fileOf } from "../shapes/inputs.ts";
import type { FileLimits, ProviderTask, TaskCall, TaskRequest } from "../task.ts";

const docs =
  "https://learn.microsoft.com/en-us/rest/api/computervision/analyze-image-in-stream/analyze-image-in-stream";

const files: FileLimits = {
  maxBytes: 4 * 1_048_576,
  mediaTypes: ["image/jpeg", "image/png", "image/gif", "image/bmp", "image/x-ms-bmp"],
};

const oneImage = { image: 1, file: 1, request: 1 } as const;

export async function toVisionRequest(call: TaskCall, query: TaskRequest["query"] = {}): Promise<TaskRequest> {
  const bytes = await fileOf(call).read();
  return {
    path: "/vision/v3.2/analyze",
    query,
    body: { kind: "bytes", bytes, mediaType: "application/octet-stream" },
  };
}

export const detectObjects: ProviderTask = {
  task: "image/object_detection",
  docs,
  files,
  toRequest: (call) => toVisionRequest(call, { visualFeatures: "Objects" }),
  fromResponse: ({ json }) => {
    const answer = asObject(json);
    const items = objectsIn(answer["objects"]).flatMap((object) => {
      const confidence = asScore(object["confidence"]);
      // The schema requires a confidence.
      if (confidence === null) return [];
      const label = asText(object["object"]) ?? "";
      return [{ label, confidence, ...toEdges(asObject(object["rectangle"]), answer) }];
    });
    return { output: { items }, units: oneImage };
  },
};

export const detectLogos: ProviderTask = {
  task: "image/logo_detection",
  docs,
  files,
  toRequest: (call) => toVisionRequest(call, { visualFeatures: "Brands" }),
  fromResponse: ({ json }) => {
    const answer = asObject(json);
    const items = objectsIn(answer["brands"]).map((brand) => {
      const { x_min, x_max, y_min, y_max } = toEdges(asObject(brand["rectangle"]), answer);
      return {
        bounding_poly: {
          vertices: [
            { x: x_min, y: y_min },
            { x: x_max, y: y_min },
            { x: x_max, y: y_max },
            { x: x_min, y: y_max },
          ],
        },
        description: asText(brand["name"]),
        score: asScore(brand["confidence"]),
      };
    });
    return { output: { items }, units: oneImage };
  },
};

export const detectLandmarks: ProviderTask = {
  task: "image/landmark_detection",
  docs,
  files,
  toRequest: (call) => toVisionRequest(call, { visualFeatures: "Categories", details: "Landmarks" }),
  fromResponse: ({ json }) => {
    const found = objectsIn(asObject(json)["categories"]).flatMap((category) =>
      objectsIn(at(category, "detail", "landmarks")),
    );
    // One that belongs to several categories is told with each of them.
    const confidences = new Map<string, number>();
    for (const { name, confidence } of found) {
      const score = asScore(confidence);
      // The schema requires a confidence.
      if (score === null) continue;
      confidences.set(String(name), Math.max(confidences.get(String(name)) ?? 0, score));
    }
    const items = [...confidences].map(([description, confidence]) => ({
      description,
      confidence,
      bounding_box: [],
      locations: [],
    }));
    return { output: { items }, units: oneImage };
  },
};

interface Edges {
  readonly x_min: number | null;
  readonly x_max: number | null;
  readonly y_min: number | null;
  readonly y_max: number | null;
}

function toEdges({ x, y, w, h }: JsonObject, answer: JsonObject): Edges {
  const nowhere = { x_min: null, x_max: null, y_min: null, y_max: null };
  const width = asNumber(at(answer, "metadata", "width")) ?? 0;
  const height = asNumber(at(answer, "metadata", "height")) ?? 0;
  if (width <= 0 || height <= 0) return nowhere;
  const [left, top, across, down] = [asNumber(x), asNumber(y), asNumber(w), asNumber(h)];
  if (left === null || top === null || across === null || down === null) return nowhere;
  return {
    x_min: limitToOne(left / width),
    x_max: limitToOne((left + across) / width),
    y_min: limitToOne(top / height),
    y_max: limitToOne((top + down) / height),
  };
}
