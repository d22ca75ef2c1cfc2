// Which values a JSON Schema allows: each keyword with values on both sides of its limit. The meaning is that of JSON Schema 2020-12 and,
// where a case says so, of the drafts before it or of OpenAPI 3.0.

import { describe, expect, test } from "bun:test";
import { areEqual, canonicalText, type Json, SchemaDocument, SchemaProblem } from "../../src/lib/json-schema/schema.ts";
import { fitsSchema, schemasOfKey } from "../../src/lib/json-schema/schema-check.ts";

function fits(value: Json, schema: unknown): boolean {
  const document = new SchemaDocument(schema);
  return fitsSchema(value, document.root, document);
}

interface Case {
  readonly schema: unknown;
  readonly allows: readonly Json[];
  readonly refuses: readonly Json[];
}

const cases: Readonly<Record<string, Case>> = {
  "the schema true": { schema: true, allows: [null, 0, "", [], {}], refuses: [] },
  "the schema false": { schema: false, allows: [], refuses: [null, 0, "", [], {}] },
  "a schema that is neither": { schema: "none", allows: [null, 1], refuses: [] },
  "type string": { schema: { type: "string" }, allows: ["", "a"], refuses: [1, null, true, [], {}] },
  "type number": { schema: { type: "number" }, allows: [0, 1.5], refuses: ["1", null, true] },
  "type integer": { schema: { type: "integer" }, allows: [0, -1, 2.0], refuses: [1.5, "1", null] },
  "type boolean": { schema: { type: "boolean" }, allows: [true, false], refuses: [0, "true", null] },
  "type null": { schema: { type: "null" }, allows: [null], refuses: [0, false, "", {}] },
  "type array": { schema: { type: "array" }, allows: [[], [1]], refuses: [{}, "[]", null] },
  "type object": { schema: { type: "object" }, allows: [{}, { a: 1 }], refuses: [[], null, "{}"] },
  "several types": { schema: { type: ["string", "null"] }, allows: ["a", null], refuses: [1, []] },
  "nullable of OpenAPI 3.0": {
    schema: { type: "string", nullable: true },
    allows: ["a", null],
    refuses: [1],
  },
  "not nullable": { schema: { type: "string", nullable: false }, allows: ["a"], refuses: [null] },
  const: {
    schema: { const: { a: [1, { b: null }] } },
    allows: [{ a: [1, { b: null }] }],
    refuses: [{ a: [1] }, { a: [1, { b: 0 }] }, { a: [1, { b: null }], c: 1 }, null],
  },
  "const null": { schema: { const: null }, allows: [null], refuses: [0, false] },
  enum: { schema: { enum: [1, "a", null] }, allows: [1, "a", null], refuses: [2, "b", false] },
  $ref: {
    schema: { $ref: "#/$defs/a~1b", $defs: { "a/b": { type: "string" } } },
    allows: ["a"],
    refuses: [1],
  },
  "$ref into a list": { schema: { $ref: "#/allOf/1", allOf: [true, { minimum: 2 }] }, allows: [2], refuses: [1] },
  "$ref with a percent sign": { schema: { $ref: "#/$defs/a%20b", $defs: { "a b": false } }, allows: [], refuses: [1] },
  "$ref to the whole document": {
    schema: { properties: { next: { $ref: "#" } }, required: ["value"] },
    allows: [{ value: 1 }, { value: 1, next: { value: 2 } }],
    refuses: [{ value: 1, next: {} }],
  },
  allOf: { schema: { allOf: [{ minimum: 1 }, { maximum: 3 }] }, allows: [1, 3], refuses: [0, 4] },
  anyOf: { schema: { anyOf: [{ type: "string" }, { minimum: 5 }] }, allows: ["a", 5], refuses: [4] },
  oneOf: { schema: { oneOf: [{ minimum: 1 }, { maximum: 3 }] }, allows: [0, 4], refuses: [1, 2, 3] },
  "oneOf without a match": { schema: { oneOf: [{ type: "string" }, { type: "null" }] }, allows: [null], refuses: [1] },
  not: { schema: { not: { type: "string" } }, allows: [1, null], refuses: ["a"] },
  "if, then and else": {
    schema: JSON.parse('{"if":{"type":"number"},"then":{"minimum":5},"else":{"minLength":2}}'),
    allows: [5, "ab"],
    refuses: [4, "a"],
  },
  "if without then and else": { schema: { if: { type: "number" } }, allows: [1, "a"], refuses: [] },
  minimum: { schema: { minimum: 3 }, allows: [3, 4, "a"], refuses: [2.9] },
  maximum: { schema: { maximum: 3 }, allows: [3, 2, "a"], refuses: [3.1] },
  exclusiveMinimum: { schema: { exclusiveMinimum: 3 }, allows: [3.1], refuses: [3, 2] },
  exclusiveMaximum: { schema: { exclusiveMaximum: 3 }, allows: [2.9], refuses: [3, 4] },
  "exclusiveMinimum of draft 4": { schema: { minimum: 3, exclusiveMinimum: true }, allows: [3.1], refuses: [3, 2] },
  "exclusiveMaximum of draft 4": { schema: { maximum: 3, exclusiveMaximum: true }, allows: [2.9], refuses: [3, 4] },
  multipleOf: { schema: { multipleOf: 0.1 }, allows: [0, 0.3, 1], refuses: [0.25] },
  "minLength, in code points": { schema: { minLength: 2 }, allows: ["ab", "😀😀", 1], refuses: ["a", "😀"] },
  "maxLength, in code points": { schema: { maxLength: 2 }, allows: ["ab", "😀😀", 1], refuses: ["abc"] },
  pattern: { schema: { pattern: "^a+$" }, allows: ["a", "aa", 1], refuses: ["", "ab"] },
  minItems: { schema: { minItems: 2 }, allows: [[1, 2], "a"], refuses: [[1], []] },
  maxItems: { schema: { maxItems: 2 }, allows: [[1, 2], []], refuses: [[1, 2, 3]] },
  uniqueItems: {
    schema: { uniqueItems: true },
    allows: [[1, "1", [1]], []],
    refuses: [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  },
  "uniqueItems false": { schema: { uniqueItems: false }, allows: [[1, 1]], refuses: [] },
  items: { schema: { items: { type: "number" } }, allows: [[], [1, 2]], refuses: [[1, "a"]] },
  prefixItems: {
    schema: { prefixItems: [{ type: "string" }], items: { type: "number" } },
    allows: [[], ["a"], ["a", 1]],
    refuses: [[1], ["a", "b"]],
  },
  "a tuple of the earlier drafts": {
    schema: { items: [{ type: "string" }], additionalItems: false },
    allows: [[], ["a"]],
    refuses: [[1], ["a", "b"]],
  },
  contains: { schema: { contains: { const: 1 } }, allows: [[1], [2, 1, 1]], refuses: [[], [2]] },
  "minContains and maxContains": {
    schema: { contains: { const: 1 }, minContains: 2, maxContains: 3 },
    allows: [
      [1, 1],
      [1, 1, 1],
    ],
    refuses: [[1], [1, 1, 1, 1]],
  },
  "minContains 0": { schema: { contains: { const: 1 }, minContains: 0 }, allows: [[], [2]], refuses: [] },
  minProperties: { schema: { minProperties: 1 }, allows: [{ a: 1 }, []], refuses: [{}] },
  maxProperties: { schema: { maxProperties: 1 }, allows: [{}, { a: 1 }], refuses: [{ a: 1, b: 2 }] },
  required: { schema: { required: ["a", "toString"] }, allows: [{ a: 1, toString: 1 }], refuses: [{ a: 1 }, {}] },
  properties: {
    schema: { properties: { a: { type: "number" } } },
    allows: [{ a: 1 }, { b: "x" }],
    refuses: [{ a: "x" }],
  },
  patternProperties: {
    schema: { patternProperties: { "^n": { type: "number" } }, additionalProperties: { type: "string" } },
    allows: [{ n1: 1, a: "x" }],
    refuses: [{ n1: "x" }, { a: 1 }],
  },
  "properties and patternProperties of one key": {
    schema: { properties: { n: { minimum: 1 } }, patternProperties: { n: { maximum: 3 } } },
    allows: [{ n: 2 }],
    refuses: [{ n: 0 }, { n: 4 }],
  },
  "no additionalProperties": {
    schema: { properties: { a: true }, additionalProperties: false },
    allows: [{}, { a: 1 }],
    refuses: [{ b: 1 }, { constructor: 1 }],
  },
  propertyNames: { schema: { propertyNames: { maxLength: 2 } }, allows: [{ ab: 1 }], refuses: [{ abc: 1 }] },
  dependentRequired: {
    schema: { dependentRequired: { a: ["b"] } },
    allows: [{}, { b: 1 }, { a: 1, b: 1 }],
    refuses: [{ a: 1 }],
  },
  dependentSchemas: {
    schema: { dependentSchemas: { a: { minProperties: 2 } } },
    allows: [{ b: 1 }, { a: 1, b: 1 }],
    refuses: [{ a: 1 }],
  },
};

describe("a value is checked against", () => {
  test.each(Object.entries(cases))("%s", (_title, { schema, allows, refuses }) => {
    expect(allows.filter((value) => !fits(value, schema))).toEqual([]);
    expect(refuses.filter((value) => fits(value, schema))).toEqual([]);
  });

  test.each([
    ["#/$defs/missing", "the reference #/$defs/missing leads nowhere"],
    ["#/constructor", "the reference #/constructor leads nowhere"],
    ["other.json", "the reference other.json is not local (#/...)"],
    ["#", "the schema is nested too deeply, or refers to itself"],
  ])("a reference to %s is refused", (reference, message) => {
    expect(() => fits(1, { $ref: reference })).toThrow(new SchemaProblem(message));
  });

  test("a nested schema, as long as it is not too deep", () => {
    const nest = (depth: number): unknown => (depth === 0 ? { type: "string" } : { items: nest(depth - 1) });
    const wrap = (depth: number): Json => (depth === 0 ? "a" : [wrap(depth - 1)]);
    expect(fits(wrap(300), nest(300))).toBe(true);
    // The depth is counted per branch, so many branches are not deep.
    expect(fits(1, { allOf: Array.from({ length: 1_000 }, () => ({ type: "number" })) })).toBe(true);
    expect(() => fits(wrap(500), nest(500))).toThrow("nested too deeply");
  });
});

test("the schemas of a key are those of its name and of its patterns, or the one of additional keys", () => {
  const named = { type: "number" };
  const patterned = { minimum: 1 };
  const additional = { type: "string" };
  const schema = { properties: { n: named }, patternProperties: { n: patterned }, additionalProperties: additional };
  const document = new SchemaDocument(schema);
  const schemasOf = (key: string) => schemasOfKey(key, schema, document);
  expect(["n", "nn", "x"].map(schemasOf)).toEqual([[named, patterned], [patterned], [additional]]);
});

test("values are equal when their members are, whatever their order", () => {
  const equal: readonly [Json, Json][] = [
    [1, 1],
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    [[], []],
  ];
  const different: readonly [Json, Json][] = [
    [1, "1"],
    [null, {}],
    [{}, null],
    [[1], [1, 2]],
    [[1], { 0: 1 }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 2 }],
    [
      { a: 1, b: 2 },
      { a: 1, b: 3 },
    ],
  ];
  for (const [one, other] of equal) {
    expect(areEqual(one, other)).toBe(true);
    expect(canonicalText(one)).toBe(canonicalText(other));
  }
  for (const [one, other] of different) {
    expect([one, other, areEqual(one, other)]).toEqual([one, other, false]);
    expect(canonicalText(one)).not.toBe(canonicalText(other));
  }
});
