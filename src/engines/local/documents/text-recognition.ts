// ocr/ocr, ocr/ocr_async and ocr/ocr_tables_async: what is written in a document, and where.

import type { LocalEngine } from "../local-engine.ts";
import { type DocumentReader, limitsNow, limitsOfJobs, readerPackages } from "./document-reader.ts";
import { asSent, type Box, type Page, surround, toText } from "./page.ts";
import { findTables, type Table, type TableCell } from "./tables.ts";

export function createOcr(reader: DocumentReader): LocalEngine {
  return {
    task: "ocr/ocr",
    packages: readerPackages,
    async load() {
      return async ({ input, files }) => {
        const language = typeof input["language"] === "string" ? input["language"] : null;
        const pages = await reader.read(files["file"], { language, limits: limitsNow });
        const boxes = pages
          .filter(hasPlaces)
          .flatMap((page) => asSent(page).lines.map(({ text, box }) => ({ text, ...box })));
        return {
          output: { text: pages.map(toText).join("\n\n"), bounding_boxes: boxes },
          original: describe(pages),
          units: { page: pages.length },
        };
      };
    },
  };
}

export function createOcrAsync(reader: DocumentReader): LocalEngine {
  return {
    task: "ocr/ocr_async",
    timeLimit: "job",
    packages: readerPackages,
    async load() {
      return async ({ files, tellProgress }) => {
        const pages = await reader.read(files["file"], { language: null, limits: limitsOfJobs, tellProgress });
        return {
          output: {
            raw_text: pages.map(toText).join("\n\n"),
            pages: pages.map((page) => toPage(asSent(page))),
            number_of_pages: pages.length,
          },
          original: describe(pages),
          units: { page: pages.length },
        };
      };
    },
  };
}

export function createOcrTables(reader: DocumentReader): LocalEngine {
  return {
    task: "ocr/ocr_tables_async",
    timeLimit: "job",
    packages: readerPackages,
    async load() {
      return async ({ files, tellProgress }) => {
        const pages = await reader.read(files["file"], { language: null, limits: limitsOfJobs, tellProgress });
        return {
          output: { pages: pages.map((page) => ({ tables: findTables(page).map(toTable) })), num_pages: pages.length },
          original: describe(pages),
          units: { page: pages.length },
        };
      };
    },
  };
}

/** How each page was read: a caller who wonders about the quality wants to know whether it was guessed. */
export function describe(pages: readonly Page[]): { pages: { source: string; confidence: number | null }[] } {
  return {
    pages: pages.map((page) => {
      const sure = page.lines.flatMap((line) => (line.confidence === null ? [] : [line.confidence]));
      const mean = sure.reduce((total, value) => total + value, 0) / sure.length;
      return { source: page.source, confidence: sure.length === 0 ? null : Math.round(mean * 1e4) / 1e4 };
    }),
  };
}

function hasPlaces(page: Page): boolean {
  return page.source !== "flow";
}

function toPage(page: Page) {
  const place = (box: Box) => (hasPlaces(page) ? box : { left: 0, top: 0, width: 0, height: 0 });
  return {
    lines: page.lines.map((line) => ({
      text: line.text,
      words: line.words.map(({ text, box, confidence }) => ({ text, bounding_box: place(box), confidence })),
      bounding_box: hasPlaces(page) ? line.box : null,
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
    const nowhere = { left: null, top: null, width: null, height: null };
    return { text: null, row_span: 1, col_span: 1, confidence: null, bounding_box: nowhere };
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
