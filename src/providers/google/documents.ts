// Google Cloud Vision reads documents and Google Document AI their tables. Vision reads long documents from a bucket and writes its results
// into it, where they stay until the bucket's own rules delete them.

import type { JsonObject } from "../dialect.ts";
import {
  asCount,
  asList,
  asNumber,
  asScore,
  asString,
  asText,
  at,
  limitToOne,
  objectsIn,
  textsIn,
} from "../lenient.ts";
import { type Box, boxAround, edgesAround, nowhere, toBox } from "../shapes/boxes.ts";
import { deleteFile, type Stored, uploadFile } from "../shapes/bucket.ts";
import { fileOf, postJson, readBase64 } from "../shapes/inputs.ts";
import { checkTableNumber, type ReadCell, type ReadLine, type ReadWord, toPages, toTables } from "../shapes/pages.ts";
import { requireValue } from "../shapes/require-value.ts";
import { defineTask, refuseInput, type TaskCall, type TaskRequest } from "../task.ts";
import { addressOf, bucketSettings, objectsPath, storage } from "./bucket.ts";
import { documentFiles, processDocument } from "./document-ai.ts";
import { pollOperation, throwIfFailed } from "./google-json.ts";
import {
  annotateImage,
  firstResponse,
  languageHints,
  maxBytes,
  mediaTypes,
  pointsOf,
  visionBilledParams,
  visionDocs,
} from "./images.ts";

const pagedTypes = ["application/pdf", "image/tiff"];
const feature = "DOCUMENT_TEXT_DETECTION";
const features = [{ type: feature }];

export const readText = defineTask("ocr/ocr", {
  docs: `${visionDocs}images/annotate`,
  service: "vision",
  billedParams: visionBilledParams,
  files: { maxBytes, mediaTypes: [...mediaTypes, ...pagedTypes] },
  toRequest: (call) => (isPaged(call) ? annotateFile(call) : annotateImage(feature, call)),
  next({ json }, call, { state }) {
    // A caller who names pages wants no others.
    if (!isPaged(call) || call.providerParams["pages"] !== undefined) return null;
    const total = asCount(firstResponse(json)["totalPages"]);
    if (total > maxPages) {
      const message = `This provider reads up to ${maxPages} pages here, and the file has ${total}: use ocr/ocr_async`;
      refuseInput("file", message, "too_long");
    }
    const requests = ((state as ReadState | undefined)?.requests ?? 1) + 1;
    const first = (requests - 1) * pagesPerRequest + 1;
    if (first > total) return null;
    const pages = Array.from({ length: Math.min(pagesPerRequest, total + 1 - first) }, (_, index) => first + index);
    return annotateFile(call, pages, { requests, parts: collectParts(json, state) });
  },
  fromResponse: ({ json }, _call, { state }) => {
    const parts = collectParts(json, state);
    const { text, pages } = readParts(parts);
    const words = pages.flat().flatMap((line) => line.words);
    return {
      output: { text, bounding_boxes: words.map((word) => ({ text: word.text, ...(word.box ?? nowhere) })) },
      units: { page: Math.max(1, parts.length), request: (state as ReadState | undefined)?.requests ?? 1 },
    };
  },
});

/** Vision reads five pages per request: the first ones, unless `pages` names others. */
const pagesPerRequest = 5;
// Every request sends the whole file, one after another, while the caller waits.
const maxPages = 100;

/** The pages that earlier requests have read. */
interface ReadState {
  /** This one included. */
  readonly requests: number;
  readonly parts: readonly JsonObject[];
}

function isPaged(call: TaskCall): boolean {
  return pagedTypes.includes(fileOf(call).mediaType);
}

async function annotateFile(call: TaskCall, pages?: readonly number[], state?: ReadState): Promise<TaskRequest> {
  const inputConfig = { content: await readBase64(fileOf(call)), mimeType: fileOf(call).mediaType };
  const request = { inputConfig, features, ...languageHints(call), ...(pages && { pages }) };
  const more = { paramsPath: ["requests", 0], acceptsProviderParams: true, state };
  return postJson("/v1/files:annotate", { requests: [request] }, more);
}

function collectParts(json: unknown, state: unknown): readonly JsonObject[] {
  const first = firstResponse(json);
  const parts = first["responses"] === undefined ? [first] : objectsIn(first["responses"]);
  return [...((state as ReadState | undefined)?.parts ?? []), ...parts];
}

const pagesPerFile = 50;

/** The results are several files, which are read one after another. */
interface JobState extends Stored {
  readonly waiting?: readonly string[];
  readonly parts?: readonly JsonObject[];
}

/** Images are read at once, without a job. */
export const readPages = defineTask("ocr/ocr_async", {
  docs: `${visionDocs}files/asyncBatchAnnotate`,
  service: "vision",
  billedParams: visionBilledParams,
  requiredSettings: bucketSettings,
  files: { mediaTypes: [...mediaTypes, ...pagedTypes] },
  toRequest: (call) => (isPaged(call) ? uploadFile(storage, call) : annotateImage(feature, call)),
  next({ json }, call, request) {
    const state = request.state as JobState | undefined;
    if (state === undefined) return null;
    const outputFolder = state.key.replace(/input$/, "output/");
    if (request.path.startsWith("/upload/")) {
      const annotation = {
        inputConfig: { gcsSource: { uri: addressOf(call, state.key) }, mimeType: state.mediaType },
        features,
        outputConfig: { gcsDestination: { uri: addressOf(call, outputFolder) }, batchSize: pagesPerFile },
      };
      const more = { paramsPath: ["requests", 0], acceptsProviderParams: true, state };
      return postJson("/v1/files:asyncBatchAnnotate", { requests: [annotation] }, more);
    }
    const fromBucket = { service: storage.service, method: "GET" } as const;
    if (request.service !== storage.service) {
      const query = { prefix: outputFolder, fields: "items(name)" };
      return pollOperation(json, "v1", request) ?? { ...fromBucket, path: objectsPath(call), query, state };
    }
    const isList = state.waiting === undefined;
    const found = objectsIn(at(json, "items")).flatMap(({ name }) => asText(name) ?? []);
    if (isList && found.length === 0) throw new TypeError("there are no results in the bucket");
    const [first, ...waiting] = state.waiting ?? found.toSorted(byPage);
    const parts = isList ? [] : partsOf(state, json);
    if (first === undefined) return null;
    const query = { alt: "media" };
    return { ...fromBucket, path: storage.pathOf(call, first), query, state: { ...state, waiting, parts } };
  },
  fromResponse({ json }, _call, { state }) {
    const parts = partsOf(state as JobState | undefined, json);
    if (parts.length === 0) throw new TypeError("there is nothing in the answer");
    const { text, pages } = readParts(parts);
    return toPages(text, pages);
  },
  cleanUpRequests: (call, request) => deleteFile(storage, call, request),
});

/** Names of result files end with `output-1-to-50.json`. */
function byPage(one: string, another: string): number {
  return one.localeCompare(another, "en", { numeric: true });
}

function partsOf(state: JobState | undefined, json: unknown): readonly JsonObject[] {
  return [...(state?.parts ?? []), ...objectsIn(at(json, "responses"))];
}

function readParts(parts: readonly JsonObject[]) {
  for (const part of parts) throwIfFailed(part);
  const annotations = parts.map(({ fullTextAnnotation }) => fullTextAnnotation);
  return {
    text: textsIn(annotations, "text").join("\n").trim(),
    pages: annotations.map((annotation) => objectsIn(at(annotation, "pages")).flatMap(toLines)),
  };
}

const lineEnds: readonly unknown[] = ["LINE_BREAK", "EOL_SURE_SPACE", "HYPHEN"];

/** Vision sends words, and marks the characters that end a line. */
function toLines(page: JsonObject): readonly ReadLine[] {
  const lines: ReadLine[] = [];
  for (const paragraph of objectsIn(page["blocks"]).flatMap(({ paragraphs }) => objectsIn(paragraphs))) {
    let words: ReadWord[] = [];
    for (const { symbols, boundingBox, confidence } of objectsIn(paragraph["words"])) {
      words.push({
        text: textsIn(symbols, "text").join(""),
        box: boxOf(boundingBox, page),
        confidence: asScore(confidence),
      });
      if (!lineEnds.includes(at(asList(symbols).at(-1), "property", "detectedBreak", "type"))) continue;
      lines.push(toLine(words));
      words = [];
    }
    if (words.length > 0) lines.push(toLine(words));
  }
  return lines;
}

function toLine(words: readonly ReadWord[]): ReadLine {
  const corners = words.flatMap(({ box }) =>
    box === null ? [] : [box.left, box.top, box.left + box.width, box.top + box.height],
  );
  const scores = words.flatMap(({ confidence }) => confidence ?? []);
  const sum = scores.reduce((total, score) => total + score, 0);
  return {
    text: words.map(({ text }) => text).join(" "),
    words,
    box: boxAround(corners, 1, 1),
    confidence: scores.length === 0 ? null : limitToOne(sum / scores.length),
  };
}

function boxOf(polygon: unknown, page: JsonObject | null): Box | null {
  const edges = edgesAround(pointsOf(polygon, page));
  return edges && toBox(edges);
}

/** Uses a form parser that the operator has created. */
export const readTables = defineTask("ocr/ocr_tables_async", {
  docs: "https://docs.cloud.google.com/document-ai/docs/reference/rest/v1/projects.locations.processors/process",
  service: "documentai-us",
  // `projects/…/locations/us/processors/…`
  requiredSettings: { processor: "GOOGLE_DOCUMENT_AI_FORM_PROCESSOR" },
  files: documentFiles,
  toRequest: processDocument,
  fromResponse({ json }) {
    const document = requireValue(at(json, "document"), "document");
    const text = [...asString(at(document, "text"))];
    return toTables(
      objectsIn(at(document, "pages")).map(({ tables }) => objectsIn(tables).map((table) => toCells(table, text))),
    );
  },
});

function toCells({ headerRows, bodyRows }: JsonObject, text: readonly string[]): readonly ReadCell[] {
  const headers = objectsIn(headerRows);
  // By column: the first row below the last cell in it.
  const freeFrom = new Map<number, number>();
  return [...headers, ...objectsIn(bodyRows)].flatMap(({ cells }, row) => {
    let column = 0;
    return objectsIn(cells).map(({ layout, ...spans }): ReadCell => {
      // A cell that spans several rows takes the place of cells in the rows below it.
      while ((freeFrom.get(column) ?? 0) > row) column++;
      const [rowSpan, columnSpan] = [spanOf(spans["rowSpan"]), spanOf(spans["colSpan"])];
      for (let right = 0; right < columnSpan; right++) freeFrom.set(column + right, row + rowSpan);
      return {
        text: readAnchor(at(layout, "textAnchor"), text),
        row_index: row,
        col_index: column,
        row_span: rowSpan,
        col_span: columnSpan,
        box: boxOf(at(layout, "boundingPoly"), null),
        confidence: asScore(at(layout, "confidence")),
        is_header: row < headers.length,
      };
    });
  });
}

function spanOf(value: unknown): number {
  return checkTableNumber(asNumber(value) || 1);
}

/** Positions in the text of the whole document, in characters. A start of 0 is left out. */
function readAnchor(anchor: unknown, text: readonly string[]): string | null {
  const pieces = objectsIn(at(anchor, "textSegments")).map(({ startIndex, endIndex }) =>
    text.slice(asNumber(startIndex) ?? 0, asNumber(endIndex) ?? 0).join(""),
  );
  return pieces.join("").trim() || null;
}
