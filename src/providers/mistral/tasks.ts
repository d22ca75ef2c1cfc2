import { asCount, asString, asText, at, objectsIn } from "../lenient.ts";
import { boxAround, nowhere } from "../shapes/boxes.ts";
import { dataUrlOf, fileOf, modelOf, postJson } from "../shapes/inputs.ts";
import { defineTextModeration, type Kind } from "../shapes/moderation.ts";
import { defineTask, type TaskCall, type TaskRequest } from "../task.ts";
import { transcribe } from "./transcribe.ts";

const documentTask = {
  docs: "https://docs.mistral.ai/api/endpoint/ocr",
  models: ["mistral-ocr-latest"],
  acceptsAnyModel: true,
  defaultModel: "mistral-ocr-latest",
  async toRequest(call: TaskCall): Promise<TaskRequest> {
    const file = fileOf(call);
    const url = await dataUrlOf(file);
    const document = file.mediaType.startsWith("image/")
      ? { type: "image_url", image_url: url }
      : { type: "document_url", document_url: url, document_name: file.name };
    return postJson("/ocr", { model: modelOf(call), document });
  },
};

const readDocument = defineTask("ocr/ocr", {
  ...documentTask,
  unsupported: ["language"],
  fromResponse({ json }) {
    const { pages, text, units } = readPages(json);
    return { output: { text, bounding_boxes: pages.flatMap(toBoxes) }, units };
  },
});

/** The vendor responds when it has read all pages, so there is nothing to poll. It sends no lines or words. */
const readLongDocument = defineTask("ocr/ocr_async", {
  ...documentTask,
  fromResponse({ json }) {
    const { pages, text, units } = readPages(json);
    return { output: { raw_text: text, pages: [], number_of_pages: pages.length }, units };
  },
});

function readPages(json: unknown) {
  const pages = objectsIn(at(json, "pages"));
  if (pages.length === 0) throw new TypeError("there are no pages in the answer");
  const text = pages.map(({ markdown }) => asString(markdown)).join("\n\n");
  const billed = asCount(at(json, "usage_info", "pages_processed"));
  return { pages, text, units: { page: billed || pages.length, file: 1, request: 1 } };
}

/** A page has blocks, with positions in pixels, if the caller sets `include_blocks`. */
function toBoxes({ blocks, dimensions }: { readonly blocks?: unknown; readonly dimensions?: unknown }) {
  const [width, height] = [asCount(at(dimensions, "width")), asCount(at(dimensions, "height"))];
  if (width === 0 || height === 0) return [];
  return objectsIn(blocks).map(({ content, top_left_x, top_left_y, bottom_right_x, bottom_right_y }) => {
    const box = boxAround([top_left_x, top_left_y, bottom_right_x, bottom_right_y], width, height);
    return { text: asText(content), ...(box ?? nowhere) };
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

const moderateText = defineTextModeration({
  docs: "https://docs.mistral.ai/api/endpoint/classifiers",
  models: ["mistral-moderation-latest"],
  kinds,
});

export const tasks = [readDocument, readLongDocument, moderateText, transcribe];
