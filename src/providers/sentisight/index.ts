import { type ImageSize, readImageSize } from "../../lib/image-size.ts";
import { lookUp } from "../../lib/look-up.ts";
import { asString, asText, fromPercentage, objectsIn } from "../lenient.ts";
import { defineProvider } from "../provider.ts";
import { boxAround, nowhere, toRelative } from "../shapes/boxes.ts";
import { fileOf, languageOf, oneImage as units } from "../shapes/inputs.ts";
import { type Kind, other, safe, toModeration } from "../shapes/moderation.ts";
import { defineTask, type TaskCall, type TaskRequest } from "../task.ts";

const common = {
  docs: "https://docs.sentisight.ai/en/latest/api/pretrained.html",
  files: { mediaTypes: ["image/png", "image/jpeg", "image/gif", "image/webp"] },
};

async function toRequest(model: string, call: TaskCall): Promise<TaskRequest> {
  const bytes = await fileOf(call).read();
  return {
    path: `/api/pm-predict/${model}`,
    query: { lang: languageOf(call) },
    body: { kind: "bytes", bytes, mediaType: "application/octet-stream" },
  };
}

/** The vendor sends positions in pixels. */
async function sizeOf(call: TaskCall): Promise<ImageSize> {
  const size = readImageSize(await fileOf(call).read());
  if (size === null || size.width === 0 || size.height === 0) throw new TypeError("the image has no size");
  return size;
}

const readText = defineTask("ocr/ocr", {
  ...common,
  toRequest: (call) => toRequest("Text-recognition", call),
  async fromResponse({ json }, call) {
    const { width, height } = await sizeOf(call);
    const boxes = objectsIn(json).map(({ label, points }) => {
      const corners = objectsIn(points).flatMap(({ x, y }) => [x, y]);
      return { text: asText(label), ...(boxAround(corners, width, height) ?? nowhere) };
    });
    const text = boxes.map((box) => box.text ?? "").join(" ");
    return { output: { text, bounding_boxes: boxes }, units: { ...units, page: 1 } };
  },
});

const detectObjects = defineTask("image/object_detection", {
  ...common,
  toRequest: (call) => toRequest("Object-detection", call),
  async fromResponse({ json }, call) {
    const { width, height } = await sizeOf(call);
    const items = objectsIn(json).flatMap(({ label, score, x0, x1, y0, y1 }) => {
      const confidence = fromPercentage(score);
      // The schema requires a confidence.
      if (confidence === null) return [];
      const [x_min, x_max] = [toRelative(x0, width), toRelative(x1, width)];
      const [y_min, y_max] = [toRelative(y0, height), toRelative(y1, height)];
      return [{ label: asString(label), confidence, x_min, x_max, y_min, y_max }];
    });
    return { output: { items }, units };
  },
});

const kinds: Readonly<Record<string, Kind>> = { unsafe: ["Sexual", "Nudity"], safe };

const detectExplicitContent = defineTask("image/explicit_content", {
  ...common,
  toRequest: (call) => toRequest("NSFW-classification", call),
  fromResponse({ json }) {
    const findings = objectsIn(json).map(({ label, score }) => ({
      label: asString(label),
      score: fromPercentage(score),
      kind: lookUp(kinds, asString(label)) ?? other,
    }));
    if (findings.length === 0) throw new TypeError("there are no classes in the answer");
    return { output: toModeration(findings), units };
  },
});

export const sentisight = defineProvider("sentisight", "SentiSight.ai", {
  docs: "https://docs.sentisight.ai",
  baseUrl: "https://platform.sentisight.ai",
  auth: { kind: "header", name: "x-auth-token" },
  tasks: [readText, detectObjects, detectExplicitContent],
});
