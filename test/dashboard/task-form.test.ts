// The form of a task, from its schema: every task that the gateway has gets one, and what is typed is sent as the task expects it.

import { describe, expect, test } from "bun:test";
import { tasks } from "../../src/contract/tasks.ts";
import { examplesFor } from "../../src/dashboard/pages/playground-tasks/samples/inputs.ts";
import {
  type Field,
  toFields,
  toInitialValues,
  toInput,
  toLabel,
} from "../../src/dashboard/pages/playground-tasks/schema.ts";
import { type Json, SchemaDocument } from "../../src/lib/json-schema/schema.ts";
import { fitsSchema } from "../../src/lib/json-schema/schema-check.ts";

const uploadId = "00000000-0000-4000-8000-000000000000";

function fieldsOf(name: string): readonly Field[] {
  const task = tasks.find((one) => one.name === name);
  if (task === undefined) throw new Error(`no task ${name}`);
  return toFields(task.inputSchema);
}

function fieldOf(name: string, member: string): Field | undefined {
  return fieldsOf(name).find((one) => one.name === member);
}

describe("the kind of a field", () => {
  test.each([
    ["text/moderation", "text", "text"],
    ["text/summarize", "output_sentences", "number"],
    ["text/search", "similarity_metric", "choice"],
    ["audio/speech_to_text_async", "profanity_filter", "boolean"],
    ["ocr/ocr", "file", "file"],
    ["image/generation", "mask", "file"],
    ["text/embeddings", "texts", "list"],
    ["image/generation", "reference_images", "list"],
    ["ocr/custom_document_parsing_async", "queries", "list"],
    ["web/research_async", "schema", "json"],
  ] as const)("of %s %s is %s", (task, member, kind) => {
    expect(fieldOf(task, member)?.kind).toBe(kind);
  });

  test("of a list is a field for each of its items", () => {
    expect(fieldOf("image/generation", "reference_images")).toMatchObject({ item: { kind: "file" } });
    expect(fieldOf("text/custom_classification", "examples")).toMatchObject({ item: { kind: "tuple" } });
    expect(fieldOf("ocr/custom_document_parsing_async", "queries")).toMatchObject({
      item: { kind: "object", fields: [{ name: "query", kind: "text" }, { name: "pages" }] },
    });
  });

  test("has the bounds of the schema", () => {
    expect(fieldOf("audio/tts", "speed")).toMatchObject({ min: 0.25, max: 4, isInteger: false });
    expect(fieldOf("image/generation", "num_images")).toMatchObject({ min: 1, max: 10, isInteger: true });
  });
});

test.each([
  ["target_language", "Target language"],
  ["invoice_receipt_id", "Invoice receipt ID"],
  ["mailling_address", "Mailing address"],
  ["startTimeOffset", "Start time offset"],
  ["__proto__", "Proto"],
  ["_", "_"],
])("the label of %s is %s", (name, label) => expect(toLabel(name)).toBe(label));

test("required fields come first", () => {
  for (const { name } of tasks) {
    const required = fieldsOf(name).map(({ isRequired }) => isRequired);
    expect(required, name).toEqual(required.toSorted((one, other) => Number(other) - Number(one)));
  }
});

test.each(tasks.map(({ name }) => name))("the first example of %s is a valid input", (name) => {
  const fields = fieldsOf(name);
  const files = Object.fromEntries(
    fields.filter(({ kind, isRequired }) => kind === "file" && isRequired).map((field) => [field.name, uploadId]),
  );
  const collection = name === "image/face_recognition" ? { collection_id: uploadId } : {};
  const values = { ...toInitialValues(fields), ...files, ...collection, ...examplesFor(name)[0]?.input };
  const schema = tasks.find((one) => one.name === name)?.inputSchema ?? {};
  const document = new SchemaDocument(schema, "unlimited");
  expect(fitsSchema(toInput(fields, values) as Json, document.root, document)).toBe(true);
});

test("empty fields are not sent, unless the task needs a list there", () => {
  const fields = fieldsOf("text/custom_classification");
  expect(toInput(fields, { texts: ["", "one"], labels: [], examples: [["a", "b"]] })).toEqual({
    texts: ["one"],
    labels: [],
    examples: [["a", "b"]],
  });
  expect(toInput(fieldsOf("text/summarize"), { text: "", language: "", output_sentences: undefined })).toEqual({});
});

test("zero and false are values", () => {
  const fields = fieldsOf("audio/speech_to_text_async");
  expect(toInput(fields, { file: uploadId, profanity_filter: false })).toEqual({
    file: uploadId,
    profanity_filter: false,
  });
  expect(toInput(fieldsOf("image/question_answer"), { file: uploadId, temperature: 0 })).toMatchObject({
    temperature: 0,
  });
});

test("JSON is sent as JSON, and other text is sent unchanged", () => {
  const fields = fieldsOf("web/research_async");
  expect(toInput(fields, { prompt: "a", schema: '{"type":"object"}' })).toEqual({
    prompt: "a",
    schema: { type: "object" },
  });
  expect(toInput(fields, { prompt: "a", schema: "{" })).toEqual({ prompt: "a", schema: "{" });
});
