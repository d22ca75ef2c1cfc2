// ocr/ocr, ocr/ocr_async and ocr/ocr_tables_async: the text of a document and its position.

import type { LocalAnswer, LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { type DocumentReader, limitsNow, limitsOfJobs, readerPackages } from "./document-reader.ts";
import { asSent, type Box, type Page, surround, toText } from "./page.ts";
import { findTables, type Table, type TableCell } from "./tables.ts";

export function createOcr(reader: DocumentReader): LocalEngine {
  return createRecognition(reader, "ocr/ocr", (pages) => {
    const boxes = pages
      .filter(hasPositions)
      .flatMap((page) => asSent(page).lines.map(({ text, box }) => ({ text, ...box })));
    return { text: pages.map(toText).join("\n\n"), bounding_boxes: boxes };
  });
}

export function createOcrAsync(reader: DocumentReader): LocalEngine {
  return createRecognition(reader, "ocr/ocr_async", (pages) => ({
    raw_text: pages.map(toText).join("\n\n"),
    pages: pages.map((page) => toPage(asSent(page))),
    number_of_pages: pages.length,
  }));
}

export function createOcrTables(reader: DocumentReader): LocalEngine {
  return createRecognition(reader, "ocr/ocr_tables_async", (pages) => ({
    pages: pages.map((page) => ({ tables: findTables(page).map(toTable) })),
    num_pages: pages.length,
  }));
}

/** Tasks whose name ends in `_async` run as jobs, with larger limits; their inputs have no language. */
function createRecognition(
  reader: DocumentReader,
  task: string,
  toOutput: (pages: readonly Page[]) => LocalAnswer["output"],
): LocalEngine {
  const isJob = task.endsWith("_async");
  return {
    task,
    packages: readerPackages,
    ...(isJob ? { timeLimit: "job" } : {}),
    async load() {
      return async ({ input, files, onProgress }) => {
        const language = !isJob && typeof input["language"] === "string" ? input["language"] : null;
        const limits = isJob ? limitsOfJobs : limitsNow;
        const pages = await reader.read(files["file"], { language, limits, ...(isJob ? { onProgress } : {}) });
        return { output: toOutput(pages), original: describe(pages), units: { page: pages.length } };
      };
    },
  };
}

/** How each page was read, so that callers can judge the quality of the text. */
export function describe(pages: readonly Page[]): { pages: { source: string; confidence: number | null }[] } {
  return {
    pages: pages.map((page) => {
      const sure = page.lines.flatMap((line) => (line.confidence === null ? [] : [line.confidence]));
      const mean = sure.reduce((total, value) => total + value, 0) / sure.length;
      return { source: page.source, confidence: sure.length === 0 ? null : round(mean) };
    }),
  };
}

function hasPositions(page: Page): boolean {
  return page.source !== "flow";
}

function toPage(page: Page) {
  const toBox = (box: Box) => (hasPositions(page) ? box : { left: 0, top: 0, width: 0, height: 0 });
  return {
    lines: page.lines.map((line) => ({
      text: line.text,
      words: line.words.map(({ text, box, confidence }) => ({ text, bounding_box: toBox(box), confidence })),
      bounding_box: hasPositions(page) ? line.box : null,
      confidence: line.confidence,
    })),
  };
}

function toTable(table: Table) {
  return {
    rows: table.rows.map((row, rowIndex) => ({
      cells: row.map((cell, columnIndex) => ({
        ...toCell(cell),
        row_index: rowIndex,
        col_index: columnIndex,
        is_header: table.hasHeader && rowIndex === 0,
      })),
    })),
    num_rows: table.rows.length,
    num_cols: table.columns,
  };
}

function toCell(cell: TableCell | null) {
  if (cell === null) {
    const noPosition = { left: null, top: null, width: null, height: null };
    return { text: null, row_span: 1, col_span: 1, confidence: null, bounding_box: noPosition };
  }
  const sure = cell.cell.words.flatMap((word) => (word.confidence === null ? [] : [word.confidence]));
  return {
    text: cell.text,
    row_span: 1,
    col_span: cell.span,
    confidence: sure.length === 0 ? null : Math.min(...sure),
    bounding_box: surround(cell.cell.boxes),
  };
}
