// How the answer of a model becomes an output, and what the model is told about an answer that does not fit. The schemas are invented.

import { describe, expect, test } from "bun:test";
import { AnswerProblem } from "../../src/engines/llm/definition.ts";
import { type Expected, readJson, readOutput } from "../../src/engines/llm/read-answer.ts";
import type { JsonObject } from "../../src/lib/lenient-json.ts";
import { thrownBy } from "../support/thrown.ts";

const object = (properties: JsonObject, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe("the object in an answer is read", () => {
  test.each([
    ["alone", '{"a":{"b":1}}'],
    ["between sentences", 'Here it is: {"a":{"b":1}} as you asked.'],
    ["in a fence", '```json\n{"a":{"b":1}}\n```'],
    ["before a sentence", '{"a":{"b":1}} is the answer.'],
    ["at the end of a sentence", 'It is {"a":{"b":1}}'],
  ])("when it stands %s", (_, text) => {
    expect(readJson(text)).toEqual({ a: { b: 1 } });
  });

  test.each([
    [""],
    ["no object"],
    ["{"],
    ["}"],
    ["} and {"],
    ['{"a":1} or {"a":2}'],
    ["[1]"],
    ["null"],
  ])("no object is found in %j", (text) => {
    expect(readJson(text)).toBeUndefined();
  });

  test("up to 64 levels deep", () => {
    expect(readJson(nested(64))).toBeObject();
    expect(readJson(nested(65))).toBeUndefined();
  });
});

describe("an answer that does not fit is explained to the model", () => {
  const problemOf = (value: unknown, schema: JsonObject) => {
    const answerSchema = object({ value: schema });
    const expected: Expected = { task: "text/x", answerSchema, outputSchema: answerSchema, input: {} };
    return thrownBy(() => readOutput(JSON.stringify({ value }), expected), AnswerProblem).message;
  };
  const many = Array.from({ length: 61 }, (_, index) => `v${index}`);
  const pair = object({ a: { type: "string" }, b: { type: "string" } });

  const cases: readonly (readonly [what: string, value: unknown, schema: JsonObject, told: string])[] = [
    ["another type", 4, { type: "string" }, "`value` should be of type string, and is 4"],
    ["none of two types", [], { type: ["string", "null"] }, "`value` should be of type string or null, and is a list"],
    ["an object for a text", {}, { type: "string" }, "`value` should be of type string, and is an object"],
    ["another value", "red", { enum: ["a", "b"] }, '`value` should be one of a, b, and is "red"'],
    [
      "none of many values",
      "x",
      { enum: many },
      `\`value\` should be one of ${many.slice(0, 60).join(", ")}, and is "x"`,
    ],
    ["too much", 6, { type: "number", minimum: 1, maximum: 5 }, "`value` should be 1 to 5, and is 6"],
    ["too little", 0, { type: "number", minimum: 1 }, "`value` should be 1 to anything, and is 0"],
    ["above a maximum alone", 6, { type: "number", maximum: 5 }, "`value` should be anything to 5, and is 6"],
    ["too few entries", [], { type: "array", minItems: 1, maxItems: 2 }, "`value` should have 1 to 2 entries"],
    ["no entries", [], { type: "array", minItems: 1 }, "`value` should have 1 to any number of entries"],
    ["too many entries", [1, 2], { type: "array", maxItems: 1 }, "`value` should have 0 to 1 entries"],
    ["an empty text", "", { type: "string", minLength: 1 }, "`value` should not be empty"],
    ["missing members", {}, pair, "`value` lacks a, b"],
    ["a wrong member", { a: "x", b: 1 }, pair, "`value.b` should be of type string, and is 1"],
    ["a wrong entry", ["x", 1], { items: { type: "string" } }, "`value[1]` should be of type string, and is 1"],
    ["a wrong pattern", "x", { type: "string", pattern: "^y$" }, "the object does not fit the schema"],
    [
      "a long text",
      "x".repeat(200),
      { type: "number" },
      `\`value\` should be of type number, and is "${"x".repeat(79)}`,
    ],
  ];
  for (const [what, value, schema, told] of cases) test(what, () => expect(problemOf(value, schema)).toBe(told));

  test("an object that lacks its only member is called the object", () => {
    const schema = object({ value: { type: "string" } });
    const expected: Expected = { task: "text/x", answerSchema: schema, outputSchema: schema, input: {} };
    expect(() => readOutput("{}", expected)).toThrow(new AnswerProblem("the object lacks value"));
  });
});

describe("the output", () => {
  const answerSchema = object({ name: { type: "string" } });
  const outputSchema = object({
    name: { type: "string" },
    place: object({ city: { type: ["string", "null"] }, street: { type: ["string", "null"] } }),
  });

  test("has null for all that the model was not asked for", () => {
    const expected: Expected = { task: "text/x", answerSchema, outputSchema, input: {} };
    expect(readOutput('{"name":"Ada","mood":"good"}', expected)).toEqual({
      name: "Ada",
      place: { city: null, street: null },
    });
  });

  test("is what the task makes of the answer and the input", () => {
    const toOutput = (answer: JsonObject, input: JsonObject) => ({ name: `${input["title"]} ${answer["name"]}` });
    const expected: Expected = { task: "text/x", answerSchema, outputSchema, input: { title: "Lady" }, toOutput };
    expect(readOutput('{"name":"Ada"}', expected)["name"]).toBe("Lady Ada");
  });

  test("that the task makes wrongly is not the fault of the model", () => {
    const expected: Expected = { task: "text/x", answerSchema, outputSchema, input: {}, toOutput: () => ({ name: 7 }) };
    const mistake = thrownBy(() => readOutput('{"name":"Ada"}', expected), Error);
    expect(mistake).not.toBeInstanceOf(AnswerProblem);
    expect(mistake.message).toContain("text/x does not fit: `name` should be of type string, and is 7");
  });
});
