// Amazon Textract for documents of many pages: begun on a file in a bucket, and asked for until it is done.

import type { TaskDraft, TaskName } from "../../contract/tasks.ts";
import type { JsonObject } from "../dialect.ts";
import { asCount, asList, asNumber, asText, at, fromPercentage, objectsIn, rounded } from "../lenient.ts";
import { fileOf } from "../shapes/inputs.ts";
import { type Box, type ReadCell, type ReadLine, toPages, toTables } from "../shapes/pages.ts";
import {
  type FileLimits,
  type ProviderTask,
  TaskFailure,
  type TaskRequest,
  type TaskResponse,
  type TaskResult,
} from "../task.ts";
import { toAwsRequest } from "./aws-json.ts";
import { bucketSettings, putFile, removeFile, type Stored, toStored } from "./bucket.ts";

// https://docs.aws.amazon.com/textract/latest/dg/limits-document.html
const files: FileLimits = {
  maxBytes: 500 * 1_048_576,
  mediaTypes: ["image/jpeg", "image/png", "image/tiff", "application/pdf"],
};

/** Blocks come in portions; those before the last one. */
interface Gathered extends Stored {
  readonly job?: string;
  readonly portions?: readonly (readonly JsonObject[])[];
}

interface Work<Name extends TaskName> {
  readonly task: Name;
  readonly docs: string;
  /** Of the operation, after `Start` and `Get`. */
  readonly operation: string;
  readonly more: JsonObject;
  readonly fromBlocks: (blocks: readonly JsonObject[], pages: number) => TaskResult<TaskDraft<Name>>;
}

function createTask<Name extends TaskName>(work: Work<Name>): ProviderTask<Name> {
  const { task, docs, operation, more, fromBlocks } = work;
  const toQuestion = (state: Gathered, token: string | null): TaskRequest => ({
    ...toAwsRequest(`Textract.Get${operation}`, { JobId: state.job, ...(token !== null && { NextToken: token }) }),
    state,
  });
  return {
    task,
    docs,
    service: "textract",
    requiredSettings: bucketSettings,
    // The same token begins nothing new: https://docs.aws.amazon.com/textract/latest/dg/api-async.html
    isIdempotent: true,
    files,
    toRequest: (call) => putFile(fileOf(call), call, toStored(call)),
    next(answer, call, asked) {
      const state = asked.state as Gathered;
      if (asked.service === "s3") {
        const location = { S3Object: { Bucket: call.settings["bucket"], Name: state.key } };
        const value = { DocumentLocation: location, ClientRequestToken: state.token, ...more };
        return { ...toAwsRequest(`Textract.Start${operation}`, value), state, acceptsProviderParams: true };
      }
      const { json } = answer;
      if (state.job === undefined) {
        const job = asText(at(json, "JobId"));
        if (job === null) throw new TypeError("there is no job in the answer");
        return { ...toQuestion({ ...state, job }, null), waitMs: "growing" };
      }
      const status = at(json, "JobStatus");
      if (status === "IN_PROGRESS") return { ...asked, waitMs: "growing" };
      if (status === "FAILED")
        throw new TaskFailure(400, asText(at(json, "StatusMessage")) ?? "the document was not read");
      const token = asText(at(json, "NextToken"));
      return token === null ? null : toQuestion({ ...state, portions: portionsOf(state, json) }, token);
    },
    fromResponse: ({ json }: TaskResponse, _call, { state }) => {
      const blocks = portionsOf(state as Gathered | undefined, json).flat();
      const pages = Math.max(1, asCount(at(json, "DocumentMetadata", "Pages")));
      return fromBlocks(blocks, pages);
    },
    cleanUpRequests: removeFile,
  };
}

function portionsOf(state: Gathered | undefined, json: unknown): readonly (readonly JsonObject[])[] {
  return [...(state?.portions ?? []), objectsIn(at(json, "Blocks"))];
}

export const readPages = createTask({
  task: "ocr/ocr_async",
  docs: "https://docs.aws.amazon.com/textract/latest/dg/API_StartDocumentTextDetection.html",
  operation: "DocumentTextDetection",
  more: {},
  fromBlocks: (blocks, count) => {
    const children = findChildren(blocks);
    const lines = blocks.filter(({ BlockType }) => BlockType === "LINE");
    const pages = splitPages(lines, count).map((ofPage) =>
      ofPage.map((line): ReadLine => ({ ...toWord(line), words: children(line, "WORD").map(toWord) })),
    );
    return toPages(lines.map(({ Text }) => asText(Text) ?? "").join("\n"), pages);
  },
});

export const readTables = createTask({
  task: "ocr/ocr_tables_async",
  docs: "https://docs.aws.amazon.com/textract/latest/dg/API_StartDocumentAnalysis.html",
  operation: "DocumentAnalysis",
  more: { FeatureTypes: ["TABLES"] },
  fromBlocks: (blocks, count) => {
    const children = findChildren(blocks);
    const tables = blocks.filter(({ BlockType }) => BlockType === "TABLE");
    return toTables(
      splitPages(tables, count).map((ofPage) =>
        ofPage.map((table) => children(table, "CELL").map((cell) => toCell(cell, children(cell, "WORD")))),
      ),
    );
  },
});

type Children = (block: JsonObject, type: string) => readonly JsonObject[];

function findChildren(blocks: readonly JsonObject[]): Children {
  const byId = new Map(blocks.map((block) => [block["Id"], block]));
  return (block, type) =>
    objectsIn(block["Relationships"])
      .filter(({ Type }) => Type === "CHILD")
      .flatMap(({ Ids }) => asList(Ids))
      .flatMap((id) => [byId.get(id) ?? {}])
      .filter(({ BlockType }) => BlockType === type);
}

/** A document of one page does not tell its number. */
function splitPages(blocks: readonly JsonObject[], count: number): readonly JsonObject[][] {
  const pages: JsonObject[][] = Array.from({ length: count }, () => []);
  for (const block of blocks) pages[(asNumber(block["Page"]) ?? 1) - 1]?.push(block);
  return pages;
}

function toWord(block: JsonObject) {
  return { text: asText(block["Text"]) ?? "", box: toBox(block), confidence: fromPercentage(block["Confidence"]) };
}

function toCell(cell: JsonObject, words: readonly JsonObject[]): ReadCell {
  const text = words.map(({ Text }) => asText(Text) ?? "").join(" ");
  return {
    text: text === "" ? null : text,
    row: Math.max(0, (asNumber(cell["RowIndex"]) ?? 1) - 1),
    column: Math.max(0, (asNumber(cell["ColumnIndex"]) ?? 1) - 1),
    rowSpan: asNumber(cell["RowSpan"]) ?? 1,
    columnSpan: asNumber(cell["ColumnSpan"]) ?? 1,
    box: toBox(cell),
    confidence: fromPercentage(cell["Confidence"]),
    isHeader: asList(cell["EntityTypes"]).includes("COLUMN_HEADER"),
  };
}

function toBox(block: JsonObject): Box | null {
  const box = at(block, "Geometry", "BoundingBox");
  const [left, top, width, height] = ["Left", "Top", "Width", "Height"].map((side) => asNumber(at(box, side)));
  if (left == null || top == null || width == null || height == null) return null;
  return { left: rounded(left), top: rounded(top), width: rounded(width), height: rounded(height) };
}
