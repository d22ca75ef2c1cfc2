import { type ImageSize, readImageSize } from "../../lib/image-size.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asText, fromPercentage, objectsIn, rounded } from "../lenient.ts";
import type { ProviderRow } from "../provider.ts";
import { boxAround, nowhere } from "../shapes/boxes.ts";
import { fileOf, languageOf } from "../shapes/inputs.ts";
import { type Kind, other, safe, toModeration } from "../shapes/moderation.ts";
import type { ProviderTask, TaskCall, TaskRequest } from "../task.ts";

const units = { file: 1, image: 1, request: 1 };
const files = { mediaTypes: ["image/png", "image/jpeg", "image/gif", "image/webp"] };

async function toRequest(model: string, call: TaskCall): Promise<TaskRequest> {
  const bytes = await fileOf(call).read();
  return {
    path: `/api/pm-predict/${model}`,
    query: { lang: languageOf(call) },
    body: { kind: "bytes", bytes, mediaType: "application/octet-stream" },
  };
}

/** Positions are told in pixels. */
async function sizeOf(call: TaskCall): Promise<ImageSize> {
  const size = readImageSize(await fileOf(call).read());
  if (size === null || size.width === 0 || size.height === 0) throw new TypeError("the image has no size");
  return size;
}

const readText: ProviderTask = {
  task: "ocr/ocr",
  docs: "https://docs.sentisight.ai/en/latest/api/pretrained.html",
  files,
  toRequest: (call) => toRequest("Text-recognition", call),
  async fromResponse({ json }, call) {
    const size = await sizeOf(call);
    const boxes = objectsIn(json).map((line) => toTextBox(line, size));
    const text = boxes.map((box) => box.text ?? "").join(" ");
    return { output: { text, bounding_boxes: boxes }, units: { ...units, page: 1 } };
  },
};

function toTextBox(line: JsonObject, { width, height }: ImageSize) {
  const corners = objectsIn(line["points"]).flatMap(({ x, y }) => [x, y]);
  const box = boxAround(corners, width, height);
  return { text: asText(line["label"]), ...(box ?? nowhere) };
}

const detectObjects: ProviderTask = {
  task: "image/object_detection",
  docs: "https://docs.sentisight.ai/en/latest/api/pretrained.html",
  files,
  toRequest: (call) => toRequest("Object-detection", call),
  async fromResponse({ json }, call) {
    const { width, height } = await sizeOf(call);
    const relative = (pixels: unknown, whole: number) => {
      const number = asNumber(pixels);
      return number === null ? null : rounded(number / whole);
    };
    const items = objectsIn(json).flatMap((found) => {
      const confidence = fromPercentage(found["score"]);
      // The schema requires a confidence.
      if (confidence === null) return [];
      return [
        {
          label: asText(found["label"]) ?? "",
          confidence,
          x_min: relative(found["x0"], width),
          x_max: relative(found["x1"], width),
          y_min: relative(found["y0"], height),
          y_max: relative(found["y1"], height),
        },
      ];
    });
    return { output: { items }, units };
  },
};

const kinds: Readonly<Record<string, Kind>> = { unsafe: ["Sexual", "Nudity"], safe };

const detectExplicitContent: ProviderTask = {
  task: "image/explicit_content",
  docs: "https://docs.sentisight.ai/en/latest/api/pretrained.html",
  files,
  toRequest: (call) => toRequest("NSFW-classification", call),
  fromResponse({ json }) {
    const findings = objectsIn(json).map(({ label, score }) => ({
      label: asText(label) ?? "",
      score: fromPercentage(score),
      kind: lookUp(kinds, String(label)) ?? other,
    }));
    if (findings.length === 0) throw new TypeError("there are no classes in the answer");
    return { output: toModeration(findings), units };
  },
};

export const sentisight: ProviderRow = {
  name: "sentisight",
  title: "SentiSight.ai",
  docs: "https://docs.sentisight.ai",
  baseUrl: "https://platform.sentisight.ai",
  auth: { kind: "header", name: "x-auth-token" },
  tasks: [readText, detectObjects, detectExplicitContent],
};
