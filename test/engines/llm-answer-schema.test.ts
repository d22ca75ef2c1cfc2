// The schema that a model's answer has to fit, made from the output schema of a task. The schemas here are invented.

import { describe, expect, test } from "bun:test";
import {
  choice,
  conform,
  listOfEach,
  objectOf,
  schemaAt,
  toAnswerSchema,
  toStrictSchema,
} from "../../src/engines/llm/answer-schema.ts";

const text = { type: "string" };

describe("the schema of an answer", () => {
  test("requires every member, and an optional one may be null", () => {
    const output = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        name: text,
        alias: { type: "string", default: "" },
        kind: { type: "string", enum: ["a", "b"] },
        any: {},
        known: { type: ["string", "null"] },
        tags: { type: "array", items: text },
      },
      required: ["name"],
    };
    const nullable = { type: ["string", "null"] };
    expect(toAnswerSchema(output)).toEqual(
      objectOf({
        name: text,
        alias: nullable,
        kind: { ...nullable, enum: ["a", "b", null] },
        any: nullable,
        known: nullable,
        tags: { type: "array", items: text },
      }),
    );
  });

  test("bounds scores to 0 and 1, unless the task has bounds of its own", () => {
    const number = { type: "number" };
    const score = { type: "number", minimum: 0, maximum: 1 };
    const percent = { type: "number", minimum: 0, maximum: 100 };
    const output = objectOf({ confidence: number, importance: percent, width: number, score: text });
    expect(toAnswerSchema(output)).toEqual(
      objectOf({ confidence: score, importance: percent, width: number, score: text }),
    );
    expect(schemaAt(toAnswerSchema(objectOf({ items: listOfEach(output) })), "items.confidence")).toEqual(score);
  });

  test("leaves out the members that a model is not asked for, also inside lists", () => {
    const entry = objectOf({ text, box: objectOf({ left: text }), name: objectOf({ left: text, right: text }) });
    const output = objectOf({ text, items: listOfEach(entry) });
    expect(toAnswerSchema(output, ["items.box", "items.*.right"])).toEqual(
      objectOf({ text, items: listOfEach(objectOf({ text, name: objectOf({ left: text }) })) }),
    );
  });
});

test("vendors get no bounds: the description states them", () => {
  const schema = objectOf({
    rate: { type: "number", minimum: 0, maximum: 1, description: "How strong" },
    least: { type: "number", minimum: 3 },
    most: { type: "number", maximum: 9 },
    pair: listOfEach(text, 2),
    some: { type: "array", items: text, minItems: 1, maxItems: 4 },
    short: { type: "string", minLength: 1 },
    kind: choice(["a", "b", "a"]),
    any: {},
  });
  expect(toStrictSchema(schema)).toEqual(
    objectOf({
      rate: { type: "number", description: "How strong; 0 to 1" },
      least: { type: "number", description: "3 to " },
      most: { type: "number", description: " to 9" },
      pair: { type: "array", description: "exactly 2 entries", items: text },
      some: { type: "array", items: text },
      short: text,
      kind: { type: "string", enum: ["a", "b"] },
      any: text,
    }),
  );
});

describe("a value is made to fit its schema", () => {
  const nullable = { type: ["string", "null"] };
  const schema = objectOf({ text, note: nullable, place: objectOf({ city: nullable }), list: listOfEach(text) });

  test("without members that the schema does not have, and with null for what may be missing", () => {
    expect(conform({ text: "x", mood: "good", list: ["a"] }, schema)).toEqual({ text: "x", note: null, list: ["a"] });
    expect(conform({ text: null, place: null, note: null }, schema)).toEqual({ note: null });
  });

  test("with missing objects filled in if the caller requests it, also inside lists", () => {
    expect(conform({ text: "x" }, schema, true)).toEqual({ text: "x", note: null, place: { city: null } });
    expect(conform([{ list: [] }], listOfEach(schema), true)).toEqual([
      { note: null, place: { city: null }, list: [] },
    ]);
  });

  test("but a value of another type stays as it is", () => {
    expect(conform("x", schema)).toBe("x");
    expect(conform({ text: { deep: 1 } }, objectOf({ text }))).toEqual({ text: { deep: 1 } });
  });
});
