// Google Cloud Vision for documents of many pages: read from a bucket and written into it, where the results stay as long as the bucket's own
// rules say. Pictures are read at once.

import type { JsonObject } from "../dialect.ts";
import { asObject, asScore, asText, at, limitToOne, objectsIn } from "../lenient.ts";
import { fileOf } from "../shapes/inputs.ts";
import { type Box, boxAround, type ReadLine, type ReadWord, toPages } from "../shapes/pages.ts";
import type { ProviderTask, ProviderTaskCall } from "../task.ts";
import { throwIfFailed } from "./google-json.ts";
import {
  addressOf,
  askForOperation,
  bucketSettings,
  getFile,
  listFiles,
  putFile,
  removeFile,
  type Stored,
  toStored,
} from "./operation.ts";
import { documents, pictures, toRequest as toImageRequest } from "./vision.ts";

const pagesPerFile = 50;

/** Results are several files, read one after another. */
interface Gathered extends Stored {
  readonly mediaType: string;
  readonly waiting?: readonly string[];
  readonly parts?: readonly JsonObject[];
}

export const readPages: ProviderTask = {
  task: "ocr/ocr_async",
  docs: "https://docs.cloud.google.com/vision/docs/reference/rest/v1/files/asyncBatchAnnotate",
  service: "vision",
  requiredSettings: bucketSettings,
  files: { mediaTypes: [...pictures, ...documents] },
  toRequest: (call) => {
    const file = fileOf(call);
    return documents.includes(file.mediaType)
      ? putFile(file, call, toPut(call, file.mediaType))
      : toImageRequest("DOCUMENT_TEXT_DETECTION", call);
  },
  next({ json }, call, asked) {
    const state = asked.state as Gathered | undefined;
    if (state === undefined) return null;
    if (asked.path.startsWith("/upload/")) {
      const value = {
        inputConfig: { gcsSource: { uri: addressOf(call, state.key) }, mimeType: state.mediaType },
        features: [{ type: "DOCUMENT_TEXT_DETECTION" }],
        outputConfig: { gcsDestination: { uri: addressOf(call, folderOf(state)) }, batchSize: pagesPerFile },
      };
      return {
        path: "/v1/files:asyncBatchAnnotate",
        paramsPath: ["requests", 0],
        acceptsProviderParams: true,
        body: { kind: "json", value: { requests: [value] } },
        state,
      };
    }
    if (asked.service !== "storage") {
      const question = askForOperation(json, "v1", asked);
      return question ?? listFiles(call, folderOf(state), state);
    }
    const isList = state.waiting === undefined;
    const found = objectsIn(at(json, "items")).flatMap(({ name }) => asText(name) ?? []);
    if (isList && found.length === 0) throw new TypeError("there are no results in the bucket");
    const [first, ...waiting] = state.waiting ?? found.toSorted(byPage);
    const parts = isList ? [] : [...(state.parts ?? []), ...objectsIn(at(json, "responses"))];
    return first === undefined ? null : getFile(call, first, { ...state, waiting, parts });
  },
  fromResponse({ json }, _call, { state }) {
    const read = [...((state as Gathered | undefined)?.parts ?? []), ...objectsIn(at(json, "responses"))];
    if (read.length === 0) throw new TypeError("there is nothing in the answer");
    for (const part of read) throwIfFailed(part);
    const texts = read.map((part) => asText(at(part, "fullTextAnnotation", "text")) ?? "");
    const pages = read.map((part) => objectsIn(at(part, "fullTextAnnotation", "pages")).flatMap(toLines));
    return toPages(texts.join("\n").trim(), pages);
  },
  cleanUpRequests: (call, asked) => (asked.state === undefined ? [] : removeFile(call, asked)),
};

function toPut(call: ProviderTaskCall, mediaType: string): Gathered {
  return { ...toStored(call), mediaType };
}

function folderOf({ key }: Stored): string {
  return key.replace(/input$/, "output/");
}

/** `output-1-to-50.json` */
function byPage(one: string, another: string): number {
  return one.localeCompare(another, "en", { numeric: true });
}

const lineEnds: readonly unknown[] = ["LINE_BREAK", "EOL_SURE_SPACE", "HYPHEN"];

/** The vendor tells words, and after which of their signs a line ends. */
function toLines(page: JsonObject): readonly ReadLine[] {
  const lines: ReadLine[] = [];
  for (const paragraph of objectsIn(page["blocks"]).flatMap((block) => objectsIn(block["paragraphs"]))) {
    let words: ReadWord[] = [];
    for (const word of objectsIn(paragraph["words"])) {
      words.push(toWord(word, page));
      const last = objectsIn(word["symbols"]).at(-1);
      if (!lineEnds.includes(at(last, "property", "detectedBreak", "type"))) continue;
      lines.push(toLine(words));
      words = [];
    }
    if (words.length > 0) lines.push(toLine(words));
  }
  return lines;
}

function toWord(word: JsonObject, page: JsonObject): ReadWord {
  const signs = objectsIn(word["symbols"]).map((symbol) => asText(symbol["text"]) ?? "");
  return {
    text: signs.join(""),
    box: toBox(asObject(word["boundingBox"]), page),
    confidence: asScore(word["confidence"]),
  };
}

function toLine(words: readonly ReadWord[]): ReadLine {
  const boxes = words.flatMap(({ box }) => box ?? []);
  const scores = words.flatMap(({ confidence }) => confidence ?? []);
  return {
    text: words.map(({ text }) => text).join(" "),
    words,
    box: boxAround(
      boxes.flatMap(({ left, top, width, height }) => [left, top, left + width, top + height]),
      1,
      1,
    ),
    confidence: scores.length === 0 ? null : limitToOne(scores.reduce((sum, score) => sum + score, 0) / scores.length),
  };
}

/** In documents shares of the page, in pictures pixels. Members of value 0 are left out. */
function toBox(poly: JsonObject, page: JsonObject): Box | null {
  const corners = (vertices: unknown) => objectsIn(vertices).flatMap(({ x = 0, y = 0 }) => [x, y]);
  const shares = corners(poly["normalizedVertices"]);
  if (shares.length > 0) return boxAround(shares, 1, 1);
  return boxAround(corners(poly["vertices"]), page["width"], page["height"]);
}
