// Google Cloud Document AI: tables of a form parser that the operator has made.

import type { JsonObject } from "../dialect.ts";
import { asNumber, asScore, asText, at, objectsIn } from "../lenient.ts";
import { fileOf } from "../shapes/inputs.ts";
import { boxAround, checkTableNumber, type ReadCell, toTables } from "../shapes/pages.ts";
import type { ProviderTask } from "../task.ts";

/** The vendor answers when it is done: behind a job there is nothing to ask for. */
export const readTables: ProviderTask = {
  task: "ocr/ocr_tables_async",
  docs: "https://docs.cloud.google.com/document-ai/docs/reference/rest/v1/projects.locations.processors/process",
  service: "documentai-us",
  // `projects/…/locations/us/processors/…`
  requiredSettings: { processor: "GOOGLE_DOCUMENT_AI_FORM_PROCESSOR" },
  files: {
    maxBytes: 20 * 1_048_576,
    mediaTypes: [
      "application/pdf",
      "image/gif",
      "image/tiff",
      "image/jpeg",
      "image/png",
      "image/bmp",
      "image/x-ms-bmp",
      "image/webp",
    ],
  },
  toRequest: async (call) => {
    const processor = (call.settings["processor"] ?? "").split("/").map(encodeURIComponent).join("/");
    const file = fileOf(call);
    const mimeType = file.mediaType === "image/x-ms-bmp" ? "image/bmp" : file.mediaType;
    const content = Buffer.from(await file.read()).toString("base64");
    return {
      service: /\/locations\/eu\//.test(processor) ? "documentai-eu" : "documentai-us",
      path: `/v1/${processor}:process`,
      body: {
        kind: "json",
        // Without pictures of its pages a document may be twice as long.
        value: { rawDocument: { content, mimeType }, skipHumanReview: true, imagelessMode: true },
      },
    };
  },
  fromResponse({ json }) {
    const document = at(json, "document");
    if (document === undefined) throw new TypeError("there is no document in the answer");
    const text = [...(asText(at(document, "text")) ?? "")];
    const pages = objectsIn(at(document, "pages")).map((page) =>
      objectsIn(page["tables"]).map((table) => toCells(table, text)),
    );
    return toTables(pages);
  },
};

function toCells(table: JsonObject, text: readonly string[]): readonly ReadCell[] {
  const headers = objectsIn(table["headerRows"]);
  // By column: the first row below the cell that reaches down in it.
  const freeFrom = new Map<number, number>();
  return [...headers, ...objectsIn(table["bodyRows"])].flatMap((row, rowIndex) => {
    let column = 0;
    return objectsIn(row["cells"]).map((cell): ReadCell => {
      // A cell that reaches down takes the place of cells in the rows below it.
      while ((freeFrom.get(column) ?? 0) > rowIndex) column++;
      const [rowSpan, columnSpan] = [spanOf(cell["rowSpan"]), spanOf(cell["colSpan"])];
      for (let right = 0; right < columnSpan; right++) freeFrom.set(column + right, rowIndex + rowSpan);
      const layout = cell["layout"];
      const confidence = at(layout, "confidence");
      return {
        text: readAnchor(at(layout, "textAnchor"), text),
        row: rowIndex,
        column,
        rowSpan,
        columnSpan,
        box: boxAround(
          objectsIn(at(layout, "boundingPoly", "normalizedVertices")).flatMap(({ x = 0, y = 0 }) => [x, y]),
          1,
          1,
        ),
        confidence: asScore(confidence),
        isHeader: rowIndex < headers.length,
      };
    });
  });
}

function spanOf(value: unknown): number {
  return checkTableNumber(asNumber(value) || 1);
}

/** Places in the text of the whole document, counted in characters. A start of 0 is left out. */
function readAnchor(anchor: unknown, text: readonly string[]): string | null {
  const pieces = objectsIn(at(anchor, "textSegments")).map(({ startIndex, endIndex }) =>
    text.slice(asNumber(startIndex) ?? 0, asNumber(endIndex) ?? 0).join(""),
  );
  const read = pieces.join("").trim();
  return read === "" ? null : read;
}
