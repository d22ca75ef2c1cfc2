// Documents of many pages that vendors read, over real HTTP: begun, asked for, and mapped, each step by an engine of its own. Answers are small and say where
// they come from: `documented` follows an example of the vendor's reference, `invented` has its form with values of ours.

import { describe, expect, test } from "bun:test";
import { amazon } from "../../src/providers/amazon/index.ts";
import { google } from "../../src/providers/google/index.ts";
import { microsoft } from "../../src/providers/microsoft/index.ts";
import { mistral } from "../../src/providers/mistral/index.ts";
import { cornersOf } from "../support/corners.ts";
import { failureOf, jobId, pathsOf, runJob } from "./vendors-jobs/job.ts";
import { document, image, type Seen } from "./vendors-others/ask.ts";

/** Storage answers with nothing at all. */
const stored = { bytes: Buffer.alloc(0), mediaType: "application/xml" };

const targetOf = ({ headers }: Seen) => headers.get("x-amz-target");

const scanned = { input: { file: "u" }, files: { file: document } };
const box = { left: 0.1, top: 0.2, width: 0.3, height: 0.05 };

describe("documents of many pages", () => {
  /** One page with one table of two rows and columns. */
  const tableOf = (rows: readonly object[]) => ({
    num_pages: 1,
    pages: [{ tables: [{ num_rows: 2, num_cols: 2, rows }] }],
  });
  const lineOf = (text: string) => {
    const read = { bounding_box: box, confidence: 0.99 };
    return { text, ...read, words: text.split(" ").map((word) => ({ text: word, ...read })) };
  };
  const Geometry = { BoundingBox: { Left: 0.1, Top: 0.2, Width: 0.3, Height: 0.05 } };
  const block = (Id: string, BlockType: string, more: object = {}) => ({
    Id,
    BlockType,
    Confidence: 99,
    Geometry,
    ...more,
  });
  const has = (...Ids: string[]) => ({ Relationships: [{ Type: "CHILD", Ids }] });

  test("amazon's blocks come in portions, and the same job asks with the same token", async () => {
    const answers = [
      stored,
      { json: { JobId: "j1" } },
      { json: { JobStatus: "IN_PROGRESS" } },
      // invented
      {
        json: {
          JobStatus: "SUCCEEDED",
          DocumentMetadata: { Pages: 2 },
          NextToken: "n1",
          Blocks: [
            block("l1", "LINE", { Page: 1, Text: "Hello there", ...has("w1", "w2") }),
            block("w1", "WORD", { Page: 1, Text: "Hello" }),
          ],
        },
      },
      {
        json: {
          JobStatus: "SUCCEEDED",
          DocumentMetadata: { Pages: 2 },
          Blocks: [
            block("w2", "WORD", { Page: 1, Text: "there" }),
            block("l2", "LINE", { Page: 2, Text: "End", ...has("w3") }),
            block("w3", "WORD", { Page: 2, Text: "End" }),
          ],
        },
      },
      {},
    ];
    const job = { row: amazon, task: "ocr/ocr_async", ...scanned, answers };
    const { output, seen, answer } = await runJob(job);
    expect(output).toEqual({
      raw_text: "Hello there\nEnd",
      number_of_pages: 2,
      pages: [{ lines: [lineOf("Hello there")] }, { lines: [lineOf("End")] }],
    });
    expect(answer.units).toMatchObject({ page: 2 });
    expect(seen.map(targetOf)).toEqual([
      null,
      "Textract.StartDocumentTextDetection",
      "Textract.GetDocumentTextDetection",
      "Textract.GetDocumentTextDetection",
      "Textract.GetDocumentTextDetection",
      null,
    ]);
    expect(seen[4]?.json).toEqual({ JobId: "j1", NextToken: "n1" });
    const again = await runJob(job);
    expect(again.seen[1]?.json).toEqual(seen[1]?.json ?? {});
    expect(seen[1]?.json).toMatchObject({ ClientRequestToken: jobId });
    const another = await runJob({ ...job, jobId: "another" });
    expect(another.seen[1]?.json).toMatchObject({ ClientRequestToken: "another" });
  });

  test("amazon's tables are rows of cells", async () => {
    const { output, seen } = await runJob({
      row: amazon,
      task: "ocr/ocr_tables_async",
      ...scanned,
      answers: [
        stored,
        { json: { JobId: "j1" } },
        // invented
        {
          json: {
            JobStatus: "SUCCEEDED",
            DocumentMetadata: { Pages: 1 },
            Blocks: [
              block("t1", "TABLE", { Page: 1, ...has("c1", "c2") }),
              block("c1", "CELL", {
                RowIndex: 1,
                ColumnIndex: 1,
                RowSpan: 1,
                ColumnSpan: 2,
                EntityTypes: ["COLUMN_HEADER"],
                ...has("w1"),
              }),
              block("c2", "CELL", { RowIndex: 2, ColumnIndex: 2, RowSpan: 1, ColumnSpan: 1 }),
              block("w1", "WORD", { Text: "Item" }),
            ],
          },
        },
        {},
      ],
    });
    expect(seen[1]?.json).toMatchObject({ FeatureTypes: ["TABLES"] });
    const cell = { row_span: 1, confidence: 0.99, bounding_box: box };
    expect(output).toEqual(
      tableOf([
        { cells: [{ ...cell, text: "Item", row_index: 0, col_index: 0, col_span: 2, is_header: true }] },
        { cells: [{ ...cell, text: null, row_index: 1, col_index: 1, col_span: 1, is_header: false }] },
      ]),
    );
  });

  test("amazon's failure says why", async () => {
    const failed = { json: { JobStatus: "FAILED", StatusMessage: "UNSUPPORTED_DOCUMENT" } };
    const job = {
      row: amazon,
      task: "ocr/ocr_async",
      ...scanned,
      answers: [stored, { json: { JobId: "j1" } }, failed, {}],
    };
    expect((await failureOf(job)).message).toEndWith("UNSUPPORTED_DOCUMENT");
  });

  const operation = {
    status: 202,
    json: {},
    headers: { "operation-location": "https://elsewhere.example/x/analyzeResults/op-1?a=1", "retry-after": "2" },
  };
  const polygon = [1, 2, 4, 2, 4, 2.5, 1, 2.5];

  test("microsoft's lines hold the words that begin in them", async () => {
    const { output, seen, waits } = await runJob({
      row: microsoft,
      task: "ocr/ocr_async",
      ...scanned,
      answers: [
        operation,
        { json: { status: "running" } },
        // invented
        {
          json: {
            status: "succeeded",
            analyzeResult: {
              content: "Hello there\nEnd",
              pages: [
                {
                  pageNumber: 1,
                  width: 10,
                  height: 10,
                  words: [
                    { content: "Hello", polygon, confidence: 0.9, span: { offset: 0, length: 5 } },
                    { content: "there", polygon, confidence: 0.8, span: { offset: 6, length: 5 } },
                    { content: "End", polygon, confidence: 0.7, span: { offset: 12, length: 3 } },
                  ],
                  lines: [
                    { content: "Hello there", polygon, spans: [{ offset: 0, length: 11 }] },
                    { content: "End", polygon, spans: [{ offset: 12, length: 3 }] },
                  ],
                },
              ],
            },
          },
        },
      ],
    });
    expect(waits.map(({ waitMs }) => waitMs)).toEqual([2_000, 1_250]);
    expect(pathsOf(seen)[1]).toStartWith("GET /documentintelligence/documentModels/prebuilt-read/analyzeResults/op-1");
    expect(output).toMatchObject({
      raw_text: "Hello there\nEnd",
      number_of_pages: 1,
      pages: [
        { lines: [{ words: [{ text: "Hello", bounding_box: box }, { text: "there" }] }, { words: [{ text: "End" }] }] },
      ],
    });
  });

  test("microsoft's tables stand on their pages", async () => {
    const { output } = await runJob({
      row: microsoft,
      task: "ocr/ocr_tables_async",
      ...scanned,
      answers: [
        operation,
        // invented
        {
          json: {
            status: "succeeded",
            analyzeResult: {
              pages: [
                { pageNumber: 1, width: 10, height: 10 },
                { pageNumber: 2, width: 10, height: 10 },
              ],
              tables: [
                {
                  boundingRegions: [{ pageNumber: 2 }],
                  cells: [
                    {
                      kind: "columnHeader",
                      rowIndex: 0,
                      columnIndex: 0,
                      content: "Item",
                      boundingRegions: [{ pageNumber: 2, polygon }],
                    },
                    { rowIndex: 1, columnIndex: 0, columnSpan: 2, content: "" },
                  ],
                },
              ],
            },
          },
        },
      ],
    });
    expect(output).toMatchObject({
      num_pages: 2,
      pages: [
        { tables: [] },
        {
          tables: [
            { num_rows: 2, num_cols: 2, rows: [{ cells: [{ text: "Item", is_header: true, bounding_box: box }] }, {}] },
          ],
        },
      ],
    });
  });

  test("google writes its results into the bucket, and they are read in the order of their pages", async () => {
    const page = (text: string) => ({
      fullTextAnnotation: {
        text,
        pages: [
          {
            width: 600,
            height: 800,
            blocks: [
              {
                paragraphs: [
                  {
                    words: text.split(" ").map((word, index, all) => ({
                      confidence: 0.9,
                      boundingBox: {
                        normalizedVertices: cornersOf({ left: 0.1, top: 0.2, right: 0.4, bottom: 0.25 }),
                      },
                      symbols: [
                        {
                          text: word,
                          ...(index === all.length - 1 && { property: { detectedBreak: { type: "LINE_BREAK" } } }),
                        },
                      ],
                    })),
                  },
                ],
              },
            ],
          },
        ],
      },
    });
    const folder = `switchyard/${jobId}/output/`;
    const { output, seen } = await runJob({
      row: google,
      task: "ocr/ocr_async",
      ...scanned,
      answers: [
        { json: {} },
        { json: { name: "projects/p/operations/7" } },
        { json: { name: "projects/p/operations/7", metadata: { state: "RUNNING" } } },
        { json: { name: "projects/p/operations/7", done: true, response: {} } },
        { json: { items: [{ name: `${folder}output-51-to-60.json` }, { name: `${folder}output-1-to-50.json` }] } },
        // invented
        { json: { responses: [page("Hello there")] } },
        { json: { responses: [page("End")] } },
        {},
      ],
    });
    expect(pathsOf(seen).slice(4)).toEqual([
      `GET /storage/v1/b/files/o?prefix=${encodeURIComponent(folder)}&fields=items%28name%29`,
      `GET /storage/v1/b/files/o/${encodeURIComponent(`${folder}output-1-to-50.json`)}?alt=media`,
      `GET /storage/v1/b/files/o/${encodeURIComponent(`${folder}output-51-to-60.json`)}?alt=media`,
      `DELETE /storage/v1/b/files/o/switchyard%2F${jobId}%2Finput`,
    ]);
    expect(seen[1]?.json).toMatchObject({
      requests: [
        { inputConfig: { gcsSource: { uri: `gs://files/switchyard/${jobId}/input` }, mimeType: "application/pdf" } },
      ],
    });
    expect(output).toMatchObject({
      raw_text: "Hello there\nEnd",
      number_of_pages: 2,
      pages: [
        {
          lines: [
            {
              text: "Hello there",
              bounding_box: box,
              confidence: 0.9,
              words: [{ text: "Hello", bounding_box: box }, {}],
            },
          ],
        },
        { lines: [{ text: "End" }] },
      ],
    });
  });

  test("google reads a picture at once", async () => {
    const job = { row: google, task: "ocr/ocr_async", input: { file: "u" }, files: { file: image } };
    const { output, seen, waits } = await runJob({
      ...job,
      answers: [{ json: { responses: [{ fullTextAnnotation: { text: "Hi", pages: [] } }] } }],
    });
    expect([pathsOf(seen), waits.length, output["raw_text"]]).toEqual([["POST /v1/images:annotate"], 0, "Hi"]);
  });

  test("google's tables come from the operator's form parser", async () => {
    const layout = (startIndex: string | undefined, endIndex: string) => ({
      confidence: 0.9,
      textAnchor: { textSegments: [{ ...(startIndex && { startIndex }), endIndex }] },
      boundingPoly: {
        normalizedVertices: [
          { x: 0.1, y: 0.2 },
          { x: 0.4, y: 0.25 },
        ],
      },
    });
    const { output, seen } = await runJob({
      row: google,
      task: "ocr/ocr_tables_async",
      ...scanned,
      answers: [
        // invented
        {
          json: {
            document: {
              text: "Item🙂\nSum\n5\n",
              pages: [
                {
                  tables: [
                    {
                      headerRows: [
                        {
                          cells: [
                            { layout: layout(undefined, "6"), rowSpan: 2, colSpan: 1 },
                            { layout: layout("6", "10") },
                          ],
                        },
                      ],
                      bodyRows: [{ cells: [{ layout: layout("10", "12") }] }],
                    },
                  ],
                },
              ],
            },
          },
        },
      ],
    });
    expect(pathsOf(seen)).toEqual(["POST /v1/projects/project-1/locations/eu/processors/abc:process"]);
    expect(output).toMatchObject(
      tableOf([
        {
          cells: [
            { text: "Item🙂", row_span: 2, is_header: true, bounding_box: box },
            { text: "Sum", col_index: 1 },
          ],
        },
        { cells: [{ text: "5", row_index: 1, col_index: 1, is_header: false }] },
      ]),
    );
  });

  test("mistral answers at once, with text by page", async () => {
    const answers = [
      { json: { pages: [{ markdown: "# One" }, { markdown: "Two" }], usage_info: { pages_processed: 2 } } },
    ];
    const { output, answer } = await runJob({ row: mistral, task: "ocr/ocr_async", ...scanned, answers });
    expect([output, answer.units.page]).toEqual([{ raw_text: "# One\n\nTwo", pages: [], number_of_pages: 2 }, 2]);
  });
});
