// ocr/ocr, ocr/ocr_async and ocr/ocr_tables_async: the text of a document and its position.

import { createDocumentEngine } from "./document-engine.ts";
import { drawEachPage } from "./document-reader.ts";
import { readGrey } from "./grey.ts";
import { asSent, type Box, type Page, surround, toLine, toText } from "./page.ts";
import { findRules } from "./rules.ts";
import type { Table, TableCell } from "./table.ts";
import { findTables } from "./tables.ts";

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
  load:
    async () =>
    async (pages, { files }) => {
      const found: { tables: ReturnType<typeof toTable>[] }[] = [];
      for await (const picture of drawEachPage(files["file"])) {
        const page = pages[found.length];
        if (page === undefined) break;
        const grey = await readGrey(picture);
        const rules = grey === null ? undefined : findRules(grey, page.turned);
        found.push({ tables: findTables(page, rules).map((table) => toTable(table, page)) });
      }
      // Files without pages have no drawing.
      const others = pages.slice(found.length).map((page) => ({
        tables: findTables(page).map((table) => toTable(table, page)),
      }));
      return { pages: [...found, ...others], num_pages: pages.length };
    },
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

function toTable(table: Table, page: Page) {
  return {
    rows: table.rows.map((row, rowIndex) => ({
      cells: row.map((cell, columnIndex) => ({
        ...toCell(cell, page),
        row_index: rowIndex,
        col_index: columnIndex,
        is_header: table.hasHeader && rowIndex === 0,
      })),
    })),
    num_rows: table.rows.length,
    num_cols: table.columns,
  };
}

function toCell(cell: TableCell | null, page: Page) {
  if (cell === null) {
    const noPosition = { left: null, top: null, width: null, height: null };
    return { text: null, row_span: 1, col_span: 1, confidence: null, bounding_box: noPosition };
  }
  const known = cell.words.flatMap((word) => (word.confidence === null ? [] : [word.confidence]));
  return {
    text: cell.text,
    row_span: cell.rowSpan,
    col_span: cell.span,
    confidence: known.length === 0 ? null : Math.min(...known),
    bounding_box: asSent({ ...page, lines: [toLine(cell.words)] }).lines[0]?.box ?? surround([]),
  };
}
