// Document tasks for models that read images or PDFs. A model knows neither positions on the page nor a meaningful confidence, so there are no
// boxes, and confidence is null wherever the schema allows it.

import type { JsonObject } from "../../../lib/lenient-json.ts";
import { listOfEach, nullableString, objectOf, score, string } from "../answer-schema.ts";
import { AnswerProblem, listIn, type TaskDefinitions } from "../definition.ts";
import { byNumber } from "./text.ts";

const asWritten =
  "Take values from the document only, as it writes them; dates as YYYY-MM-DD where they are complete; null for what it does not say.";

/** For a schema that does not allow an unknown position. */
const wholePage = { left: 0, top: 0, width: 1, height: 1 };
const unknownBox = { left: null, top: null, width: null, height: null };

const pageNumber = { type: "integer", minimum: 1, maximum: 100_000 };

export const documentTasks: TaskDefinitions = {
  "ocr/ocr": {
    instructions:
      "Read all text of the document, in reading order, with its line breaks, letter by letter as it is written. Correct nothing, leave out nothing, " +
      "add nothing.",
    omitted: ["bounding_boxes"],
    toOutput: ({ text }) => ({ text, bounding_boxes: [] }),
  },
  "ocr/ocr_tables_async": {
    instructions:
      "Find the tables of the document. pages holds one entry for each page, in order, also for pages without tables. The cells of a row stand from " +
      "left to right; a cell that spans several rows or columns stands once, where it begins. is_header says whether it names a row or column.",
    answerSchema: () => {
      const span = { type: "integer", minimum: 1, maximum: 200 };
      const cell = objectOf({ text: nullableString, row_span: span, col_span: span, is_header: { type: "boolean" } });
      const table = objectOf({ rows: listOfEach(objectOf({ cells: listOfEach(cell) })) });
      return objectOf({ pages: listOfEach(objectOf({ tables: listOfEach(table) })) });
    },
    toOutput: (answer) => {
      const pages = listIn(answer, "pages").map((page) => ({ tables: listIn(page, "tables").map(countCells) }));
      return { pages, num_pages: pages.length };
    },
  },
  "ocr/financial_parser": {
    instructions:
      `Read the invoices or receipts in the document: one entry of extracted_data for each. ${asWritten} Amounts and rates are plain numbers; ` +
      "currency_code is the ISO 4217 code; country_code and language are ISO codes; document_index counts from 0 and document_page_number from 1.",
    omitted: ["extracted_data.financial_document_information.barcodes"],
  },
  "ocr/identity_parser": {
    instructions:
      `Read the identity documents (passports, cards, licences) in the file: one entry of extracted_data for each. ${asWritten} gender is M, F or X; ` +
      "mrz is the machine-readable zone with its line breaks; alpha2 and alpha3 are the ISO 3166 codes of the issuing country.",
    omitted: ["extracted_data.*.confidence", "extracted_data.image_id", "extracted_data.image_signature"],
  },
  "ocr/resume_parser": {
    instructions: `Read the résumé. ${asWritten} Dates that are less than complete are kept as they are written; totals of years are counted from the entries.`,
  },
  "ocr/bank_check_parsing": {
    instructions: `Read the cheques in the document: one entry of extracted_data for each. ${asWritten} amount is a plain number; currency is the ISO 4217 code; micr is the line of magnetic ink at the bottom.`,
  },
  "ocr/data_extraction": {
    instructions: `List the fields of the document: every label with the value that belongs to it. ${asWritten}`,
    answerSchema: () =>
      objectOf({
        fields: listOfEach(objectOf({ key: string, value: { type: ["string", "number", "boolean", "null"] } })),
      }),
    toOutput: (answer) => ({
      fields: listIn(answer, "fields").map((field) => ({ ...field, bounding_box: wholePage, confidence_score: null })),
    }),
  },
  "ocr/custom_document_parsing_async": {
    instructions:
      "Answer each of the queries from the document, briefly and in its own words. `pages` of a query says where to look, such as 2-4 or 1-*. number is the " +
      "place of the query in the list, from 1; every query has exactly one entry; value is null when the document does not say; page is where the answer " +
      "stands, from 1; confidence says how sure you are.",
    answerSchema: ({ queries }) => {
      const one = objectOf({ number: { type: "integer" }, value: nullableString, page: pageNumber, confidence: score });
      return objectOf({ items: listOfEach(one, queries.length) });
    },
    toOutput: (answer, { queries }) => {
      const findNumber = byNumber(listIn(answer, "items"));
      const items = queries.map(({ query }, index) => {
        const { value, page, confidence } = findNumber(index + 1);
        return { query, value, page, confidence, bounding_box: unknownBox };
      });
      return { items: items.filter(({ value }) => value !== null) };
    },
  },
  "ocr/invoice_splitter_async": {
    reads: "pdf",
    instructions:
      "The document holds one invoice or several, one after the other. Group its pages by invoice: pages are the numbers of the pages, from 1, and " +
      "confidence says how sure you are of the group.",
    answerSchema: () =>
      objectOf({ invoices: listOfEach(objectOf({ pages: listOfEach(pageNumber), confidence: score })) }),
    toOutput: (answer) => {
      const groups = listIn(answer, "invoices").map(({ pages, confidence }) => {
        return { page_indexes: (pages as readonly number[]).map((page) => page - 1), confidence };
      });
      const all = groups.flatMap(({ page_indexes }) => page_indexes);
      if (new Set(all).size < all.length) throw new AnswerProblem("a page should belong to one invoice only");
      return { extracted_data: groups.filter(({ page_indexes }) => page_indexes.length > 0) };
    },
  },
};

/** Counts rows and columns from the cells and their spans. */
function countCells(table: JsonObject) {
  // Row and column of each position that a cell of a row above spans.
  const taken = new Set<string>();
  let columns = 0;
  const rowCount = listIn(table, "rows").length;
  const rows = listIn(table, "rows").map((row, rowIndex) => {
    let column = 0;
    const cells = listIn(row, "cells").map((cell) => {
      while (taken.has(`${rowIndex} ${column}`)) column++;
      const located = { ...cell, row_index: rowIndex, col_index: column, confidence: null, bounding_box: unknownBox };
      const width = Number(cell["col_span"]);
      const below = Math.min(rowCount, rowIndex + Number(cell["row_span"]));
      for (let reached = rowIndex + 1; reached < below; reached++)
        for (let along = 0; along < width; along++) taken.add(`${reached} ${column + along}`);
      column += width;
      columns = Math.max(columns, column);
      return located;
    });
    return { cells };
  });
  return { rows, num_rows: rows.length, num_cols: columns };
}
