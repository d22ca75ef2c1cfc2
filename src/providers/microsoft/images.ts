// Azure AI Content Safety, and version 3.2 of Azure AI Vision, the last one that finds brands and landmarks. Vision sends boxes in pixels,
// with the size of the image.

import type { KnownOutput, TaskName } from "../../contract/tasks.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asScore, asString, asText, at, objectsIn } from "../lenient.ts";
import { type Edges, edgesAround, noEdges, toPoints, toVertices } from "../shapes/boxes.ts";
import { fileOf, modelOf, oneImage, postJson, readBase64, textUnits } from "../shapes/inputs.ts";
import { other, toKinds, toModeration } from "../shapes/moderation.ts";
import { defineTask, type ProviderTask, type TaskCall, type TaskRequest } from "../task.ts";

const version = { "api-version": "2024-09-01" };
const contentSafety = "content-safety";
const vision = "vision";

export const moderationTasks: readonly ProviderTask[] = [
  defineTask("text/moderation", {
    docs: "https://learn.microsoft.com/en-us/rest/api/contentsafety/text-operations/analyze-text",
    unsupported: ["language"],
    toRequest: ({ input }) => {
      const value = { text: input.text, outputType: "EightSeverityLevels" };
      return postJson("/contentsafety/text:analyze", value, { query: version });
    },
    fromResponse: ({ json }, call) => ({ output: fromSeverities(json, 7), units: textUnits(call) }),
  }),
  defineTask("image/explicit_content", {
    docs: "https://learn.microsoft.com/en-us/rest/api/contentsafety/image-operations/analyze-image",
    models: [contentSafety, vision],
    defaultModel: contentSafety,
    files: { maxBytes: 4 * 1_048_576, mediaTypes: ["image/"] },
    toRequest: async (call) => {
      if (modelOf(call) === vision) return toVisionRequest(call, { visualFeatures: "Adult" });
      const value = { image: { content: await readBase64(fileOf(call)) } };
      return postJson("/contentsafety/image:analyze", value, { query: version });
    },
    fromResponse: ({ json }, call) => ({
      output: call.model === vision ? fromAdultScores(asObject(at(json, "adult"))) : fromSeverities(json, 6),
      units: oneImage,
    }),
  }),
];

const kinds = toKinds({
  HateAndExtremism: { Hate: ["Hate"] },
  Violence: { PhysicalViolence: ["SelfHarm"], Violence: ["Violence"] },
  Sexual: { Sexual: ["Sexual"] },
});

/** Severities are steps from 0 to the worst one. */
function fromSeverities(json: unknown, worst: number) {
  const findings = objectsIn(at(json, "categoriesAnalysis")).map(({ category, severity }) => {
    const [label, step] = [asString(category), asNumber(severity)];
    return { label, score: step === null ? null : step / worst, kind: lookUp(kinds, label) ?? other };
  });
  return toModeration(findings);
}

function fromAdultScores({ goreScore, adultScore, racyScore }: JsonObject) {
  return toModeration([
    { label: "Gore", score: goreScore, kind: ["Violence", "GraphicViolenceOrGore"] },
    { label: "Adult", score: adultScore, kind: ["Sexual", "Sexual"] },
    { label: "Racy", score: racyScore, kind: ["HateAndExtremism", "Racy"] },
  ]);
}

export const visionTasks: readonly ProviderTask[] = [
  createTask("image/object_detection", { visualFeatures: "Objects" }, ({ objects, metadata }) => ({
    items: objectsIn(objects).flatMap(({ object, confidence, rectangle }) => {
      const score = asScore(confidence);
      // The schema requires a confidence.
      if (score === null) return [];
      return [{ label: asString(object), confidence: score, ...toEdges(rectangle, metadata) }];
    }),
  })),
  createTask("image/logo_detection", { visualFeatures: "Brands" }, ({ brands, metadata }) => ({
    items: objectsIn(brands).map(({ name, confidence, rectangle }) => {
      const vertices = toVertices(toEdges(rectangle, metadata));
      return { bounding_poly: { vertices }, description: asText(name), score: asScore(confidence) };
    }),
  })),
  createTask("image/landmark_detection", { visualFeatures: "Categories", details: "Landmarks" }, ({ categories }) => {
    // A landmark that belongs to several categories is listed with each of them. The schema requires a confidence.
    const confidences = new Map<string, number>();
    const found = objectsIn(categories).flatMap(({ detail }) => objectsIn(at(detail, "landmarks")));
    for (const { name, confidence } of found) {
      const score = asScore(confidence);
      if (score !== null) confidences.set(String(name), Math.max(confidences.get(String(name)) ?? 0, score));
    }
    const entries = [...confidences];
    return {
      items: entries.map(([description, confidence]) => ({ description, confidence, bounding_box: [], locations: [] })),
    };
  }),
];

function createTask<const Name extends TaskName, Output extends JsonObject>(
  task: Name,
  query: TaskRequest["query"],
  toOutput: (response: JsonObject) => KnownOutput<Name, Output>,
): ProviderTask {
  return {
    task,
    docs: "https://learn.microsoft.com/en-us/rest/api/computervision/analyze-image-in-stream/analyze-image-in-stream",
    files: {
      maxBytes: 4 * 1_048_576,
      mediaTypes: ["image/jpeg", "image/png", "image/gif", "image/bmp", "image/x-ms-bmp"],
    },
    toRequest: (call) => toVisionRequest(call, query),
    fromResponse: ({ json }) => ({ output: toOutput(asObject(json)), units: oneImage }),
  };
}

async function toVisionRequest(call: TaskCall, query: TaskRequest["query"] = {}): Promise<TaskRequest> {
  const bytes = await fileOf(call).read();
  return { path: "/vision/v3.2/analyze", query, body: { kind: "bytes", bytes, mediaType: "application/octet-stream" } };
}

function toEdges(rectangle: unknown, metadata: unknown): Edges | typeof noEdges {
  const { x, y, w, h } = asObject(rectangle);
  const [left, top, across, down] = [asNumber(x), asNumber(y), asNumber(w), asNumber(h)];
  if (left === null || top === null || across === null || down === null) return noEdges;
  const corners = [left, top, left + across, top + down];
  return edgesAround(toPoints(corners, at(metadata, "width"), at(metadata, "height"))) ?? noEdges;
}
