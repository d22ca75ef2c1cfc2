// What the three clouds have in common: every task, and their recorded answers.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findTask } from "../../src/contract/tasks.ts";
import { amazon } from "../../src/providers/amazon/index.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { google } from "../../src/providers/google/index.ts";
import { rows } from "../../src/providers/index.ts";
import { microsoft } from "../../src/providers/microsoft/index.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import { TaskFailure } from "../../src/providers/task.ts";
import { items, photo, picture, text } from "../support/cloud-tasks.ts";
import { answerOf, type CallOptions, callOf, expectOutput, fileOf, read } from "./vendor-calls.ts";

const clouds = [amazon, google, microsoft];

// Recorded answers of these vendors, each with a normal form, in a folder beside the checkout. They belong to others: where they are
// not there, these tests are skipped.
const recordings =
  process.env["SWITCHYARD_TASK_RECORDINGS"] ?? join(import.meta.dir, "../../../shared/data/task-fixtures");

interface Recorded {
  readonly row: ProviderRow;
  readonly task: string;
  readonly options?: CallOptions;
  /** Recorded by the vendor's library, where that writes otherwise than the wire. */
  toWire?(original: unknown): unknown;
  /** What the recorded form says wrongly, or leaves out, by name: both forms without it. */
  readonly excuse?: string;
  excused?(output: JsonObject, isOurs: boolean): unknown;
}

const wholeText = "Barack Hussein Obama";

const recorded: readonly Recorded[] = [
  { row: amazon, task: "text/sentiment_analysis" },
  { row: amazon, task: "text/keyword_extraction" },
  {
    row: amazon,
    task: "text/entity_sentiment",
    excuse: "has no titles",
    excused: (output) =>
      items(output).map(({ type, ...item }) => ({ ...item, type: type === "PERSONAL_TITLE" ? "OTHER" : type })),
  },
  { row: amazon, task: "text/syntax_analysis" },
  { row: amazon, task: "ocr/ocr" },
  { row: amazon, task: "image/face_compare" },
  {
    row: amazon,
    task: "image/object_detection",
    excuse: "has one of several instances",
    excused: (output, isOurs) => {
      const first = new Map(
        items(output)
          .toReversed()
          .map((item) => [item["label"], item]),
      );
      return isOurs ? items(output).filter((item) => first.get(item["label"]) === item) : items(output);
    },
  },
  {
    row: amazon,
    task: "image/face_detection",
    excuse: "has emotions by a scale that is lost, no eyes and mouths, and features that are always 0",
    excused: (output) =>
      items(output).map(({ emotions: _, features: __, landmarks, ...face }) => {
        const { left_eye, right_eye, mouth_left, mouth_right, ...points } = landmarks as JsonObject;
        const unsaid = /^(?:left|right)_eye_(?:top|right)$/;
        return {
          ...face,
          landmarks: Object.fromEntries(Object.entries(points).filter(([name]) => !unsaid.test(name))),
        };
      }),
  },
  { row: google, task: "text/sentiment_analysis" },
  { row: google, task: "text/moderation" },
  { row: google, task: "text/syntax_analysis" },
  {
    row: google,
    task: "text/named_entity_recognition",
    excuse: "leaves out entities without a weight",
    excused: (output) => items(output).filter(({ importance }) => importance !== null),
  },
  {
    row: google,
    task: "text/entity_sentiment",
    excuse: "does not know the offset 0",
    excused: (output) =>
      items(output).map(({ begin_offset, end_offset, ...item }) =>
        begin_offset ? { ...item, begin_offset, end_offset } : item,
      ),
  },
  {
    row: google,
    task: "text/topic_extraction",
    excuse: "writes names in another case",
    excused: (output) => JSON.parse(JSON.stringify(output).toLowerCase()),
  },
  { row: google, task: "image/object_detection", toWire: (original) => ({ responses: [original] }) },
  {
    row: google,
    task: "image/explicit_content",
    toWire: (original) => ({ responses: [{ safeSearchAnnotation: original }] }),
  },
  {
    row: google,
    task: "image/landmark_detection",
    toWire: (original) => ({ responses: [{ landmarkAnnotations: toCamelCase(original) }] }),
  },
  {
    row: google,
    task: "translation/language_detection",
    // Of the other edition of the service.
    toWire: (original) => ({
      data: {
        detections: [
          items({ items: (original as JsonObject)["languages"] }).map(({ languageCode, confidence }) => ({
            language: languageCode,
            confidence,
          })),
        ],
      },
    }),
  },
  { row: microsoft, task: "text/sentiment_analysis" },
  { row: microsoft, task: "text/named_entity_recognition" },
  { row: microsoft, task: "text/anonymization", options: text("The phone number of Luc is the 06 21 32 43 54.") },
  {
    row: microsoft,
    task: "text/summarize",
    // Of an older version of the service.
    toWire: (original) => ({
      tasks: { items: ((original as JsonObject)["tasks"] as JsonObject)["extractiveSummarizationTasks"] },
    }),
  },
  { row: microsoft, task: "image/object_detection" },
  { row: microsoft, task: "image/explicit_content", options: { model: "vision" } },
  { row: microsoft, task: "image/landmark_detection" },
  {
    row: microsoft,
    task: "image/logo_detection",
    excuse: "tells pixels where boxes are relative",
    excused: (output, isOurs) =>
      items(output).map(({ bounding_poly, ...item }) => {
        const [width, height] = isOurs ? [1_280, 720] : [1, 1];
        const vertices = ((bounding_poly as JsonObject)["vertices"] as readonly { x: number; y: number }[]).map(
          ({ x, y }) => [x * width, y * height],
        );
        return { ...item, corners: vertices.map(String).toSorted() };
      }),
  },
  { row: microsoft, task: "translation/automatic_translation" },
  { row: microsoft, task: "translation/language_detection" },
];

function inSixDecimals(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_name, member) =>
    typeof member === "number" ? Math.round(member * 1e6) / 1e6 : member,
  );
}

function toCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelCase);
  if (typeof value !== "object" || value === null) return value;
  const camel = (name: string) => name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camel(name), toCamelCase(member)]));
}

describe("every task", () => {
  test("is one of the catalogue, and stands once in its vendor's row", () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    for (const { name, tasks = [] } of rows) {
      expect([name, new Set(tasks.map(({ task }) => task)).size]).toEqual([name, tasks.length]);
      for (const { task } of tasks) {
        expect([name, task, findTask(task) !== undefined]).toEqual([name, task, true]);
      }
    }
  });

  test("names a service of its vendor's, where that has several", () => {
    for (const { services = {}, tasks = [] } of rows)
      for (const { service } of tasks) if (service !== undefined) expect(Object.keys(services)).toContain(service);
  });

  const pictures = { file1: fileOf(picture, "image/png"), file2: fileOf(picture, "image/png") };
  const everything = {
    input: { text: "Hello", target_language: "fr", language: null, output_sentences: 1 },
    files: { file: fileOf(picture, "image/png"), ...pictures },
  };

  for (const row of clouds)
    for (const task of row.tasks ?? [])
      test(`${task.task} of ${row.name}: an answer without anything in it fits the schema, or is a failure of the vendor's`, async () => {
        const call = callOf({ ...everything, ...(task.defaultModel && { model: task.defaultModel }) });
        expect((await task.toRequest(call)).path).toStartWith("/");
        try {
          expectOutput(task.task, await task.fromResponse(answerOf({}), call, { path: "/" }));
        } catch (error) {
          if (!(error instanceof TaskFailure)) expect(error).toBeInstanceOf(TypeError);
        }
      });
});

describe.skipIf(!existsSync(recordings))("recorded answers", () => {
  for (const { row, task, options, toWire, excuse, excused } of recorded) {
    const but = excuse === undefined ? "" : `, but that it ${excuse}`;
    test(`${task} of ${row.name} says what the recorded normal form says${but}`, async () => {
      const stored = JSON.parse(readFileSync(join(recordings, task, `${row.name}.json`), "utf8"));
      const json = toWire?.(stored.original_response) ?? stored.original_response;
      const { output } = await read(row, task, json, callOf({ ...text(wholeText), ...photo, ...options }));
      const told = excused?.(output, true) ?? output;
      const expected = excused?.(stored.standardized_response, false) ?? stored.standardized_response;
      expect(inSixDecimals(told)).toEqual(inSixDecimals(expected));
    });
  }
});
