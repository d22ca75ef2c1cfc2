// ocr/ocr, ocr/ocr_async and ocr/ocr_tables_async: the text of a document and its position.

import { createDocumentEngine } from "./document-engine.ts";
import { asSent, type Box, type Page, surround, toText } from "./page.ts";
import { findTables, type Table, type TableCell } from "./tables.ts";

export const ocr = createDocumentEngine({
  task: "ocr/ocr",
  load: async () => (pages) => {
    const lines = pages.filter(hasPositions).flatMap((page) => asSent(page).lines);
    return { text: toWholeText(pages), bounding_boxes: lines.map(({ text, box }) => ({ text, ...box })) };
  },
});

export const ocrAsync = createDocumentEngine({
  task: "ocr/ocr_async",
  load: async () => (pages) => ({
    raw_text: toWholeText(pages),
    pages: pages.map((page) => toPage(asSent(page))),
    number_of_pages: pages.length,
  }),
});

export const ocrTables = createDocumentEngine({
  task: "ocr/ocr_tables_async",
  load: async () => (pages) => ({
    pages: pages.map((page) => ({ tables: findTables(page).map(toTable) })),
    num_pages: pages.length,
  }),
});

function toWholeText(pages: readonly Page[]): string {
  return pages.map(toText).join("\n\n");
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
  const known = cell.words.flatMap((word) => (word.confidence === null ? [] : [word.confidence]));
  return {
    text: cell.text,
    row_span: 1,
    col_span: cell.span,
    confidence: known.length === 0 ? null : Math.min(...known),
    bounding_box: surround(cell.words.map((word) => word.box)),
  };
}
