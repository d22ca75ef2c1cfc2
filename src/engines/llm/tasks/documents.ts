// Documents: what a model that sees reads off a page. It cannot say where on the page something stands, nor how sure it is in a
// way that would mean anything, so there are no boxes, and null for confidence wherever the task's schema has room for it.

import { listOfEach, objectOf, score, text, textOrNull } from "../answer-schema.ts";
import { AnswerProblem, listIn, type TaskDefinition } from "../definition.ts";
import { countCells } from "./table-cells.ts";
import { byNumber } from "./text.ts";

const asWritten =
  "Take values from the document only, as it writes them; dates as YYYY-MM-DD where they are complete; null for what it does not say.";

/** Somewhere on the page: this task's schema has no room for "not known". */
const wholePage = { left: 0, top: 0, width: 1, height: 1 };
const nowhere = { left: null, top: null, width: null, height: null };

export const documentTasks: readonly TaskDefinition[] = [
  {
    task: "ocr/ocr",
    reads: "document",
    instructions:
      "Read all text of the document, in reading order, with its line breaks, letter by letter as it is written. Correct nothing, leave out nothing, " +
      "add nothing.",
    unasked: ["bounding_boxes"],
    finish: ({ text: read }) => ({ text: read, bounding_boxes: [] }),
  },
  {
    task: "ocr/ocr_tables_async",
    reads: "document",
    instructions:
      "Find the tables of the document. pages holds one entry for each page, in order, also for pages without tables. The cells of a row stand from " +
      "left to right; a cell that spans several rows or columns stands once, where it begins. is_header says whether it names a row or column.",
    asks: () => {
      const span = { type: "integer", minimum: 1, maximum: 200 };
      const cell = objectOf({ text: textOrNull, row_span: span, col_span: span, is_header: { type: "boolean" } });
      const table = objectOf({ rows: listOfEach(objectOf({ cells: listOfEach(cell) })) });
      return objectOf({ pages: listOfEach(objectOf({ tables: listOfEach(table) })) });
    },
    finish: (answer) => {
      const pages = listIn(answer, "pages").map((page) => ({ tables: listIn(page, "tables").map(countCells) }));
      return { pages, num_pages: pages.length };
    },
  },
  {
    task: "ocr/financial_parser",
    reads: "document",
    instructions:
      `Read the invoices or receipts in the document: one entry of extracted_data for each. ${asWritten} Amounts and rates are plain numbers; ` +
      "currency_code is the ISO 4217 code; country_code and language are ISO codes; document_index counts from 0 and document_page_number from 1.",
    unasked: ["extracted_data.financial_document_information.barcodes"],
  },
  {
    task: "ocr/identity_parser",
    reads: "document",
    instructions:
      `Read the identity documents (passports, cards, licences) in the file: one entry of extracted_data for each. ${asWritten} gender is M, F or X; ` +
      "mrz is the machine-readable zone with its line breaks; alpha2 and alpha3 are the ISO 3166 codes of the issuing country.",
    unasked: ["extracted_data.*.confidence", "extracted_data.image_id", "extracted_data.image_signature"],
  },
  {
    task: "ocr/resume_parser",
    reads: "document",
    instructions: `Read the résumé. ${asWritten} Dates that are less than complete are kept as they are written; totals of years are counted from the entries.`,
  },
  {
    task: "ocr/bank_check_parsing",
    reads: "document",
    instructions: `Read the cheques in the document: one entry of extracted_data for each. ${asWritten} amount is a plain number; currency is the ISO 4217 code; micr is the line of magnetic ink at the bottom.`,
  },
  {
    task: "ocr/data_extraction",
    reads: "document",
    instructions: `List the fields of the document: every label with the value that belongs to it. ${asWritten}`,
    asks: () =>
      objectOf({
        fields: listOfEach(objectOf({ key: text, value: { type: ["string", "number", "boolean", "null"] } })),
      }),
    finish: (answer) => ({
      fields: listIn(answer, "fields").map((field) => ({ ...field, bounding_box: wholePage, confidence_score: null })),
    }),
  },
  {
    task: "ocr/custom_document_parsing_async",
    reads: "document",
    instructions:
      "Answer each of the queries from the document, briefly and in its own words. `pages` of a query says where to look, such as 2-4 or 1-*. number is the " +
      "place of the query in the list, from 1; every query has exactly one entry; value is null when the document does not say; page is where the answer " +
      "stands, from 1; confidence says how sure you are.",
    asks: (input) => {
      const value = textOrNull;
      const whole = { type: "integer" };
      const one = objectOf({
        number: whole,
        value,
        page: { ...whole, minimum: 1, maximum: 100_000 },
        confidence: score,
      });
      return objectOf({ items: listOfEach(one, listIn(input, "queries").length) });
    },
    finish: (answer, input) => {
      const findNumber = byNumber(listIn(answer, "items"));
      const items = listIn(input, "queries").map(({ query }, at) => {
        const { value, page, confidence } = findNumber(at + 1);
        return { query, value, page, confidence, bounding_box: nowhere };
      });
      return { items: items.filter(({ value }) => value !== null) };
    },
  },
  {
    task: "ocr/invoice_splitter_async",
    reads: "pdf",
    instructions:
      "The document holds one invoice or several, one after the other. Group its pages by invoice: pages are the numbers of the pages, from 1, and " +
      "confidence says how sure you are of the group.",
    asks: () => {
      const page = { type: "integer", minimum: 1, maximum: 100_000 };
      return objectOf({ invoices: listOfEach(objectOf({ pages: listOfEach(page), confidence: score })) });
    },
    finish: (answer) => {
      const groups = listIn(answer, "invoices").map(({ pages, confidence }) => {
        return { page_indexes: (pages as readonly number[]).map((page) => page - 1), confidence };
      });
      const all = groups.flatMap(({ page_indexes }) => page_indexes);
      if (new Set(all).size < all.length) throw new AnswerProblem("a page should belong to one invoice only");
      return { extracted_data: groups.filter(({ page_indexes }) => page_indexes.length > 0) };
    },
  },
];
