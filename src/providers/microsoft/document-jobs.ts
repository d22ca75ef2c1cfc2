// Azure AI Document Intelligence for documents of many pages: lines with their words, and tables.

import type { JsonObject } from "../dialect.ts";
import { asList, asNumber, asScore, asText, at, objectsIn } from "../lenient.ts";
import { boxAround, type ReadCell, type ReadLine, type ReadWord, toPages, toTables } from "../shapes/pages.ts";
import { createTask, maxBytes, pictures } from "./document-intelligence.ts";

export const readPages = createTask({
  task: "ocr/ocr_async",
  files: { maxBytes, mediaTypes: pictures },
  modelOf: () => "prebuilt-read",
  toOutput: (result) => toPages(asText(result["content"]) ?? "", objectsIn(result["pages"]).map(toLines)).output,
});

function toLines(page: JsonObject): readonly ReadLine[] {
  const words = objectsIn(page["words"])
    .map((word) => ({ offset: asNumber(at(word, "span", "offset")) ?? -1, word: toWord(word, page) }))
    .sort((one, another) => one.offset - another.offset);
  const firstFrom = (offset: number) => {
    let [low, high] = [0, words.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((words[middle]?.offset ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return objectsIn(page["lines"]).map((line) => {
    // A word belongs to the line in whose stretch of the text it begins.
    const own = objectsIn(line["spans"]).flatMap(({ offset, length }) => {
      const start = asNumber(offset) ?? 0;
      return words.slice(firstFrom(start), firstFrom(start + (asNumber(length) ?? 0)));
    });
    return { ...toWord(line, page), words: own.map(({ word }) => word) };
  });
}

/** Inches for documents and pixels for pictures: relative to the page they are the same. */
function toWord(read: JsonObject, page: JsonObject): ReadWord {
  return {
    text: asText(read["content"]) ?? "",
    box: boxAround(asList(read["polygon"]), page["width"], page["height"]),
    confidence: asScore(read["confidence"]),
  };
}

export const readTables = createTask({
  task: "ocr/ocr_tables_async",
  files: { maxBytes, mediaTypes: pictures },
  modelOf: () => "prebuilt-layout",
  toOutput: (result) => {
    const pages = objectsIn(result["pages"]);
    const byPage = Map.groupBy(objectsIn(result["tables"]), (table) => at(table, "boundingRegions", 0, "pageNumber"));
    return toTables(
      pages.map((page) =>
        (byPage.get(page["pageNumber"]) ?? []).map((table) =>
          objectsIn(table["cells"]).map((cell) => toCell(cell, page)),
        ),
      ),
    ).output;
  },
});

function toCell(cell: JsonObject, page: JsonObject): ReadCell {
  return {
    text: asText(cell["content"]),
    row: asNumber(cell["rowIndex"]) ?? 0,
    column: asNumber(cell["columnIndex"]) ?? 0,
    rowSpan: asNumber(cell["rowSpan"]) ?? 1,
    columnSpan: asNumber(cell["columnSpan"]) ?? 1,
    box: boxAround(asList(at(cell, "boundingRegions", 0, "polygon")), page["width"], page["height"]),
    confidence: null,
    isHeader: cell["kind"] === "columnHeader",
  };
}
