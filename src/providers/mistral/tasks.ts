import { lookUp } from "../../lib/look-up.ts";
import { asCount, asList, asNumber, asObject, asText, at, objectsIn } from "../lenient.ts";
import { boxAround, nowhere } from "../shapes/boxes.ts";
import { dataUrlOf, fileOf, textOf } from "../shapes/inputs.ts";
import { type Kind, other, toModeration } from "../shapes/moderation.ts";
import type { InputFile, ProviderTask } from "../task.ts";
import { transcribe } from "./transcribe.ts";

const readDocument: ProviderTask = {
  task: "ocr/ocr",
  docs: "https://docs.mistral.ai/api/endpoint/ocr",
  unsupported: ["language"],
  models: ["mistral-ocr-latest"],
  acceptsAnyModel: true,
  toRequest: async (call) => ({
    path: "/ocr",
    body: {
      kind: "json",
      value: { model: call.model ?? "mistral-ocr-latest", document: await toDocument(fileOf(call)) },
    },
  }),
  fromResponse({ json }) {
    const pages = objectsIn(asObject(json)["pages"]);
    if (pages.length === 0) throw new TypeError("there are no pages in the answer");
    const text = pages.map(({ markdown }) => asText(markdown) ?? "").join("\n\n");
    const processed = asCount(at(json, "usage_info", "pages_processed"));
    return {
      output: { text, bounding_boxes: pages.flatMap(toBoxes) },
      units: { page: processed || pages.length, file: 1, request: 1 },
    };
  },
};

/** The vendor answers when it is done: behind a job there is nothing to ask for. */
const readPages: ProviderTask = {
  ...readDocument,
  task: "ocr/ocr_async",
  // This task names no language.
  unsupported: [],
  fromResponse({ json }) {
    const pages = objectsIn(asObject(json)["pages"]);
    if (pages.length === 0) throw new TypeError("there are no pages in the answer");
    const raw_text = pages.map(({ markdown }) => asText(markdown) ?? "").join("\n\n");
    const processed = asCount(at(json, "usage_info", "pages_processed"));
    return {
      // Of lines and words the vendor tells nothing.
      output: { raw_text, pages: [], number_of_pages: pages.length },
      units: { page: processed || pages.length, file: 1, request: 1 },
    };
  },
};

async function toDocument(file: InputFile): Promise<object> {
  const url = await dataUrlOf(file);
  if (file.mediaType.startsWith("image/")) return { type: "image_url", image_url: url };
  return { type: "document_url", document_url: url, document_name: file.name };
}

/** There are blocks when `include_blocks` was asked for, in pixels of the page. */
function toBoxes(page: object): object[] {
  const { blocks, dimensions } = page as { readonly blocks?: unknown; readonly dimensions?: unknown };
  const width = asNumber(at(dimensions, "width")) ?? 0;
  const height = asNumber(at(dimensions, "height")) ?? 0;
  if (width <= 0 || height <= 0) return [];
  return objectsIn(blocks).map((block) => {
    const { top_left_x, top_left_y, bottom_right_x, bottom_right_y } = block;
    const box = boxAround([top_left_x, top_left_y, bottom_right_x, bottom_right_y], width, height);
    return { text: asText(block["content"]), ...(box ?? nowhere) };
  });
}

const kinds: Readonly<Record<string, Kind>> = {
  sexual: ["Sexual", "Sexual"],
  hate_and_discrimination: ["HateAndExtremism", "Hate"],
  violence_and_threats: ["Violence", "Violence"],
  dangerous_and_criminal_content: ["Content", "PublicSafety"],
  dangerous: ["Content", "PublicSafety"],
  criminal: ["Content", "Legal"],
  selfharm: ["Violence", "PhysicalViolence"],
  health: ["Content", "Health"],
  financial: ["Finance", "Finance"],
  law: ["Content", "Legal"],
};

const moderateText: ProviderTask = {
  task: "text/moderation",
  docs: "https://docs.mistral.ai/api/endpoint/classifiers",
  unsupported: ["language"],
  models: ["mistral-moderation-latest"],
  acceptsAnyModel: true,
  toRequest: (call) => ({
    path: "/moderations",
    body: { kind: "json", value: { model: call.model ?? "mistral-moderation-latest", input: textOf(call) } },
  }),
  fromResponse({ json }) {
    const scores = asObject(asObject(asList(asObject(json)["results"])[0])["category_scores"]);
    const findings = Object.entries(scores).map(([label, score]) => ({
      label,
      score,
      kind: lookUp(kinds, label) ?? other,
    }));
    if (findings.length === 0) throw new TypeError("there are no scores in the answer");
    return { output: toModeration(findings), units: { request: 1 } };
  },
};

export const tasks: readonly ProviderTask[] = [readDocument, readPages, moderateText, transcribe];
