import { lookUp } from "../../../lib/look-up.ts";
import type { JsonObject } from "../../../providers/dialect.ts";
import type { EngineCall } from "../../engine.ts";
import { asNumber, asScore, asText, objectsIn, rounded } from "../lenient.ts";
import { type ImageSize, readImageSize } from "../shapes/image-size.ts";
import { fileOf, languageOf } from "../shapes/inputs.ts";
import { type Kind, other, safe, toModeration } from "../shapes/likelihood.ts";
import type { VendorRequest, VendorRow, VendorTask } from "../vendor-engine.ts";

const units = { file: 1, image: 1, request: 1 };
const files = { mediaTypes: ["image/png", "image/jpeg", "image/gif", "image/webp"] };

async function toRequest(model: string, call: EngineCall): Promise<VendorRequest> {
  const bytes = await fileOf(call).read();
  return {
    path: `/api/pm-predict/${model}`,
    query: { lang: languageOf(call) },
    body: { kind: "bytes", bytes, mediaType: "application/octet-stream" },
  };
}

/** Positions are told in pixels. */
async function sizeOf(call: EngineCall): Promise<ImageSize> {
  const size = readImageSize(await fileOf(call).read());
  if (size === null || size.width === 0 || size.height === 0) throw new TypeError("the image has no size");
  return size;
}

const readText: VendorTask = {
  task: "ocr/ocr",
  docs: "https://docs.sentisight.ai/en/latest/api/pretrained.html",
  files,
  toRequest: (call) => toRequest("Text-recognition", call),
  async fromAnswer({ json }, call) {
    const size = await sizeOf(call);
    const boxes = objectsIn(json).map((line) => toTextBox(line, size));
    const text = boxes.map((box) => box.text ?? "").join(" ");
    return { output: { text, bounding_boxes: boxes }, units: { ...units, page: 1 } };
  },
};

function toTextBox(line: JsonObject, { width, height }: ImageSize) {
  const points = objectsIn(line["points"]);
  const across = points.map(({ x }) => (asNumber(x) ?? 0) / width);
  const down = points.map(({ y }) => (asNumber(y) ?? 0) / height);
  const [left, top] = [Math.min(...across), Math.min(...down)];
  return {
    text: asText(line["label"]),
    left: rounded(left),
    top: rounded(top),
    width: rounded(Math.max(...across) - left),
    height: rounded(Math.max(...down) - top),
  };
}

const detectObjects: VendorTask = {
  task: "image/object_detection",
  docs: "https://docs.sentisight.ai/en/latest/api/pretrained.html",
  files,
  toRequest: (call) => toRequest("Object-detection", call),
  async fromAnswer({ json }, call) {
    const { width, height } = await sizeOf(call);
    const relative = (pixels: unknown, whole: number) => rounded((asNumber(pixels) ?? 0) / whole);
    const items = objectsIn(json).map((found) => ({
      label: asText(found["label"]) ?? "",
      confidence: asScore((asNumber(found["score"]) ?? 0) / 100),
      x_min: relative(found["x0"], width),
      x_max: relative(found["x1"], width),
      y_min: relative(found["y0"], height),
      y_max: relative(found["y1"], height),
    }));
    return { output: { items }, units };
  },
};

const kinds: Readonly<Record<string, Kind>> = { unsafe: ["Sexual", "Nudity"], safe };

const detectExplicitContent: VendorTask = {
  task: "image/explicit_content",
  docs: "https://docs.sentisight.ai/en/latest/api/pretrained.html",
  files,
  toRequest: (call) => toRequest("NSFW-classification", call),
  fromAnswer({ json }) {
    const findings = objectsIn(json).map(({ label, score }) => ({
      label: asText(label) ?? "",
      score: (asNumber(score) ?? 0) / 100,
      kind: lookUp(kinds, String(label)) ?? other,
    }));
    if (findings.length === 0) throw new TypeError("there are no classes in the answer");
    return { output: toModeration(findings), units };
  },
};

export const sentisight: VendorRow = {
  name: "sentisight",
  title: "SentiSight.ai",
  docs: "https://docs.sentisight.ai",
  baseUrl: "https://platform.sentisight.ai",
  auth: { kind: "header", name: "x-auth-token" },
  tasks: [readText, detectObjects, detectExplicitContent],
};
