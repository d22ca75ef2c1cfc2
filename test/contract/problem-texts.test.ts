// What a refused value is told: each kind of problem with its place, its type and its message.

import { expect, test } from "bun:test";
import { z } from "zod";
import { closedObject, limitedRecord, parse, wholeNumber } from "../../src/contract/problems.ts";
import { problemsOf } from "../support/thrown.ts";

const kinds = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("a"), text: z.string() }),
  z.object({ kind: z.literal("b"), count: wholeNumber }),
]);

const cases: readonly (readonly [
  title: string,
  schema: z.ZodType,
  value: unknown,
  problems: readonly (readonly [loc: string, type: string, msg: string])[],
])[] = [
  ["a missing member", z.object({ a: z.string() }), {}, [["a", "missing", "Field required"]]],
  ["a missing choice", z.object({ a: z.enum(["x"]) }), {}, [["a", "missing", "Field required"]]],
  // Every object has a member `constructor`, but not as its own.
  ["a missing constructor", z.object({ constructor: z.string() }), {}, [["constructor", "missing", "Field required"]]],
  ["no text", z.string(), 1, [["", "string_type", "Input should be a valid string"]]],
  ["null instead of a text", z.string(), null, [["", "string_type", "Input should be a valid string"]]],
  ["no number", z.number(), "1", [["", "float_type", "Input should be a valid number"]]],
  [
    "an endless number",
    z.number(),
    Number.POSITIVE_INFINITY,
    [["", "finite_number", "Input should be a finite number"]],
  ],
  ["no integer", wholeNumber, "1", [["", "int_type", "Input should be a valid integer"]]],
  [
    "a fraction instead of an integer",
    wholeNumber,
    1.5,
    [["", "int_from_float", "Input should be a valid integer, got a number with a fractional part"]],
  ],
  ["no boolean", z.boolean(), "true", [["", "bool_type", "Input should be a valid boolean"]]],
  ["no list", z.array(z.string()), {}, [["", "list_type", "Input should be a valid list"]]],
  ["no object", z.object({}), [], [["", "model_attributes_type", "Input should be a valid object"]]],
  ["no dictionary", z.record(z.string(), z.string()), 1, [["", "dict_type", "Input should be a valid dictionary"]]],
  ["no null", z.null(), 1, [["", "none_required", "Input should be null"]]],
  ["a long text", z.string().max(2), "abc", [["", "string_too_long", "String should have at most 2 characters"]]],
  ["a short text", z.string().min(2), "a", [["", "string_too_short", "String should have at least 2 characters"]]],
  ["a long list", z.array(z.int()).max(1), [1, 2], [["", "too_long", "Input should have at most 1 items"]]],
  ["a short list", z.array(z.int()).min(1), [], [["", "too_short", "Input should have at least 1 items"]]],
  ["a large number", z.number().max(2), 3, [["", "less_than_equal", "Input should be less than or equal to 2"]]],
  ["a small number", z.number().min(2), 1, [["", "greater_than_equal", "Input should be greater than or equal to 2"]]],
  ["a number at an open limit", z.number().gt(0), 0, [["", "greater_than", "Input should be greater than 0"]]],
  ["a number at an open end", z.number().lt(1), 1, [["", "less_than", "Input should be less than 1"]]],
  ["no UUID", z.uuid(), "a", [["", "uuid_parsing", "Input should be a valid UUID"]]],
  ["no time", z.iso.datetime(), "a", [["", "datetime_parsing", "Input should be a valid ISO 8601 date and time"]]],
  [
    "a text of another form",
    z.string().regex(/^a$/),
    "b",
    [["", "string_pattern_mismatch", "String should match the documented form"]],
  ],
  ["a form with its own message", z.string().regex(/^a$/, "Say a"), "b", [["", "string_pattern_mismatch", "Say a"]]],
  ["another choice", z.enum(["x", "y"]), "z", [["", "literal_error", "Input should be 'x' or 'y'"]]],
  ["a number instead of a choice", z.enum(["x"]), 1, [["", "string_type", "Input should be a valid string"]]],
  ["a text instead of false", z.literal(false), "x", [["", "literal_error", "Input should be 'false'"]]],
  [
    "an unknown kind",
    kinds,
    { kind: "c" },
    [["kind", "literal_error", "Input should be one of the documented values"]],
  ],
  ["a kind that is no text", kinds, { kind: 1 }, [["kind", "string_type", "Input should be a valid string"]]],
  ["no kind", kinds, {}, [["kind", "missing", "Field required"]]],
  ["a problem of a kind", kinds, { kind: "b", count: "1" }, [["count", "int_type", "Input should be a valid integer"]]],
  [
    "a list with a problem, where a text is possible too",
    z.object({ a: z.union([z.string(), z.array(z.string())]) }),
    { a: ["x", 1] },
    [["a.1", "string_type", "Input should be a valid string"]],
  ],
  [
    "a value of neither type",
    z.union([z.string(), z.array(z.string())]),
    1,
    [["", "string_type", "Input should be a valid string"]],
  ],
  [
    "unknown members",
    closedObject({ port: z.int().optional() }),
    { prt: 1, something_else: 2 },
    [
      ["prt", "extra_forbidden", "Extra inputs are not permitted; the nearest known name is 'port'"],
      ["something_else", "extra_forbidden", "Extra inputs are not permitted"],
    ],
  ],
  [
    "an unknown member of another object",
    z.strictObject({}),
    { a: 1 },
    [["a", "extra_forbidden", "Extra inputs are not permitted"]],
  ],
  [
    "a name in a record",
    z.record(z.string().max(1), z.int()),
    { ab: 1 },
    [["ab", "string_too_long", "String should have at most 1 characters"]],
  ],
  [
    "too many pairs",
    limitedRecord(z.string(), z.int(), 1),
    { a: 1, b: 2 },
    [["", "too_long", "Input should have at most 1 items"]],
  ],
  ["a check of its own", z.string().refine(() => false, "Say something"), "a", [["", "value_error", "Say something"]]],
  [
    "a part of a step",
    z.number().multipleOf(2),
    3,
    [["", "int_from_float", "Input should be a valid integer, got a number with a fractional part"]],
  ],
  [
    "several problems, in the order of the schema",
    z.object({ a: z.string(), b: z.object({ c: wholeNumber }) }),
    { b: { c: "x" } },
    [
      ["a", "missing", "Field required"],
      ["b.c", "int_type", "Input should be a valid integer"],
    ],
  ],
];

test.each(cases)("%s is explained", (_title, schema, value, expected) => {
  const problems = problemsOf(() => parse(schema, value));
  expect(problems.map(({ loc, type, msg }) => [loc.slice(1).join("."), type, msg])).toEqual(
    expected.map((problem) => [...problem]),
  );
  expect(new Set(problems.map(({ loc }) => loc[0]))).toEqual(new Set(["body"]));
});

test("the place begins with the part of the request", () => {
  expect(problemsOf(() => parse(z.string(), 1, "query"))[0]?.loc).toEqual(["query"]);
});

test("a record takes as many pairs as it may have", () => {
  expect(parse(limitedRecord(z.string(), z.int(), 2), { a: 1, b: 2 })).toEqual({ a: 1, b: 2 });
});
