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

describe("a field made from a schema", () => {
  /** The field of the member `name`, which is not required. */
  const fieldFrom = (name: string, schema: object, root: object = {}) =>
    toFields({ ...root, properties: { [name]: schema } })[0];
  const text = { type: "string" };
  const reference = (name: string) => ({ $ref: `#/$defs/${name}` });

  test("has the description of the schema, but not where the label says enough", () => {
    const described = { ...text, description: "What it is for." };
    expect(fieldFrom("title", described)?.description).toBe("What it is for.");
    expect(fieldFrom("title", { ...text, description: 5 })?.description).toBeNull();
    expect(fieldFrom("language", described)?.description).toBeNull();
    const file = { $ref: "#/$defs/file_input", description: "An id or an address." };
    expect(fieldFrom("document", file)).toMatchObject({ kind: "file", description: null });
  });

  test.each([
    ["language", "detected if empty", "fr"],
    ["target_language", "detected if empty", "fr"],
    ["languages", null, null],
    ["resolution", null, "1024x1024"],
    ["audio_format", null, "mp3"],
    ["title", null, null],
  ])("suggests values for %s", (name, placeholder, suggestion) => {
    const field = fieldFrom(name, text);
    if (field?.kind !== "text") throw new Error("it is no text");
    expect(field.placeholder).toBe(placeholder);
    if (suggestion === null) expect(field.suggestions).toEqual([]);
    else expect(field.suggestions).toContain(suggestion);
  });

  test("says which language codes look like where the task needs one", () => {
    const [field] = toFields({ properties: { source_language: text }, required: ["source_language"] });
    expect(field).toMatchObject({ isRequired: true, placeholder: "such as fr" });
  });

  test("has several lines for a text, and one line for a name or an address", () => {
    expect(fieldFrom("prompt", text)).toMatchObject({ isLong: true });
    expect(fieldFrom("title", text)).toMatchObject({ isLong: false });
    expect(fieldFrom("text", { ...text, format: "uri" })).toMatchObject({ isLong: false });
  });

  test.each([
    ["the fixed number of items is two", { minItems: 2, maxItems: 2 }, "tuple"],
    ["the fixed number of items is four", { minItems: 4, maxItems: 4 }, "tuple"],
    ["a fixed number of items is too large for one row", { minItems: 5, maxItems: 5 }, "list"],
    ["the only item is one of a list", { minItems: 1, maxItems: 1 }, "list"],
    ["the number of items is not fixed", { minItems: 2, maxItems: 3 }, "list"],
    ["the number of items has no end", { minItems: 2 }, "list"],
  ])("of a list: %s", (_, bounds, kind) => {
    expect(fieldFrom("pairs", { type: "array", items: text, ...bounds })?.kind).toBe(kind as Field["kind"]);
  });

  test("of a list has an item that is required and named in the singular", () => {
    for (const [name, singular] of [
      ["queries", "Query"],
      ["labels", "Label"],
      ["classes", "Class"],
      ["data", "Data"],
    ] as const)
      expect(fieldFrom(name, { type: "array", items: text })).toMatchObject({
        minItems: 0,
        item: { label: singular, isRequired: true },
      });
  });

  test.each([
    ["a list of lists", { type: "array", items: { type: "array", items: text } }],
    ["a list of anything", { type: "array", items: {} }],
    ["an object without members", { type: "object" }],
    ["anything", {}],
  ])("is JSON for %s", (_, schema) => expect(fieldFrom("value", schema)?.kind).toBe("json"));

  test("follows references and alternatives, and ends where they lead in a circle", () => {
    const definitions = {
      maybe: { anyOf: [{ type: "null" }, reference("one")] },
      one: { oneOf: [reference("number")] },
      number: { type: ["null", "integer"], minimum: 3 },
      circle: reference("circle"),
    };
    const read = (name: string) => fieldFrom("value", reference(name), { $defs: definitions });
    expect(read("maybe")).toMatchObject({ kind: "number", isInteger: true, min: 3, max: null });
    expect(read("circle")?.kind).toBe("json");
  });
});

test("a form begins with the defaults, and with one row in a list that needs one", () => {
  const list = { type: "array", items: { type: "string" } };
  const fields = toFields({
    properties: {
      ...{ speed: { type: "number", default: 0 }, sort: { type: "string", default: "new" }, title: { type: "string" } },
      ...{ needed: list, optional: list, several: { ...list, minItems: 2 }, none: { type: "string", default: null } },
      pair: { ...list, minItems: 2, maxItems: 2 },
      range: { type: "object", properties: { from: { type: "integer", default: 1 }, to: { type: "integer" } } },
    },
    required: ["needed", "several"],
  });
  expect(toInitialValues(fields)).toStrictEqual({
    ...{ speed: 0, sort: "new", title: undefined, none: undefined },
    ...{ needed: [undefined], optional: [], several: [undefined, undefined] },
    ...{ pair: [undefined, undefined], range: { from: 1, to: undefined } },
  });
});

test("an object is sent if a member of it was filled in, or if the task needs it", () => {
  const range = { type: "object", properties: { from: { type: "integer" }, to: { type: "integer" } } };
  const fields = toFields({ properties: { range, needed: range }, required: ["needed"] });
  expect(toInput(fields, { range: { from: null, to: "" }, needed: {} })).toEqual({ needed: {} });
  expect(toInput(fields, { range: { from: 0 }, needed: { to: 2 } })).toEqual({ range: { from: 0 }, needed: { to: 2 } });
});

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
