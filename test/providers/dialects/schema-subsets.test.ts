// The parts of JSON Schema that vendors accept for structured answers, and what becomes of the other parts. The vendors' lists are
// documented on the pages that the code names; the schemas here are invented.

import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/providers/dialect.ts";
import { isNativeSchema, toNativeSchema } from "../../../src/providers/dialects/anthropic/schema.ts";
import { toStrictSchema as toBedrockSchema } from "../../../src/providers/dialects/bedrock/schema.ts";
import { toGeminiSchema } from "../../../src/providers/dialects/gemini/schema.ts";

const text = { type: "string" };

function closed(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false, ...more };
}

/** What becomes of the schema of a member. */
const memberOf = (write: (schema: JsonObject) => JsonObject | null, schema: JsonObject) =>
  (write(closed({ a: schema }))?.["properties"] as JsonObject | undefined)?.["a"];

describe("a schema for Anthropic", () => {
  test.each([
    [
      { ...text, title: "A", const: "x" },
      { ...text, title: "A", const: "x" },
    ],
    [
      { ...text, format: "date-time" },
      { ...text, format: "date-time" },
    ],
    [
      { ...text, format: "color" },
      { ...text, description: '(format: "color")' },
    ],
    [
      { type: "array", items: text, minItems: 1 },
      { type: "array", items: text, minItems: 1 },
    ],
    [
      { type: "array", items: text, minItems: 0 },
      { type: "array", items: text, minItems: 0 },
    ],
    [
      { type: "array", items: text, minItems: 2 },
      { type: "array", items: text, description: "(minItems: 2)" },
    ],
    [
      { ...text, description: "Long", maxLength: 5 },
      { ...text, description: "Long (maxLength: 5)" },
    ],
    [
      { ...text, pattern: "date", minLength: 1 },
      { ...text, description: '(pattern: "date", minLength: 1)' },
    ],
    [{ ...text, default: "x", examples: ["y"], $comment: "z" }, text],
    [{ oneOf: [text, { type: "null" }] }, { anyOf: [text, { type: "null" }] }],
    [{ anyOf: [text] }, { anyOf: [text] }],
    [{ allOf: [text] }, { allOf: [text] }],
  ])("with %j has %j", (schema, expected) => {
    expect(memberOf(toNativeSchema, schema)).toEqual(expected);
  });

  test.each([
    ["properties by pattern", { type: "object", patternProperties: { "^x": text }, additionalProperties: false }],
    ["a tuple", { type: "array", prefixItems: [text] }],
    ["open objects", { type: "object", properties: { a: text }, additionalProperties: true }],
    ["objects of any members", { type: "object" }],
    ["objects of any members by name", { type: "object", properties: {} }],
    ["a boolean in place of a schema", { anyOf: [true] }],
    ["a foreign reference", { $ref: "https://example.com/schema" }],
    ["a reference that leads nowhere", { $ref: "#/$defs/missing" }],
  ])("cannot have %s", (_, schema) => {
    expect(toNativeSchema(closed({ a: schema }))).toBeNull();
  });

  test("is the schema of an object, directly or by reference", () => {
    const $defs = { city: closed({ name: text }), name: text };
    expect(toNativeSchema({ $ref: "#/$defs/city", $defs })).toMatchObject({ $ref: "#/$defs/city" });
    expect(toNativeSchema({ $ref: "#/$defs/name", $defs })).toBeNull();
    expect(toNativeSchema({ type: "array", items: text })).toBeNull();
    expect(toNativeSchema({ type: ["object", "null"], properties: { a: text } })).not.toBeNull();
    expect(toNativeSchema({ properties: { a: text } })).toEqual({
      properties: { a: text },
      additionalProperties: false,
    });
  });

  test("is kept without a loss only if nothing changes", () => {
    expect(isNativeSchema(closed({ a: text }))).toBe(true);
    expect(isNativeSchema(closed({ a: closed({}) }))).toBe(true);
    expect(isNativeSchema(closed({ a: { ...text, maxLength: 5 } }))).toBe(false);
    expect(isNativeSchema({ type: "object", properties: { a: text } })).toBe(false);
  });

  test("may have twelve optional properties, in all its objects together", () => {
    const properties = (count: number, name: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, text]));
    const optional = (count: number) => {
      const inner = { type: "object", properties: properties(6, "inner") };
      return { type: "object", properties: { ...properties(count, "outer"), inner }, required: ["inner"] };
    };
    expect(toNativeSchema(optional(6))).not.toBeNull();
    expect(toNativeSchema(optional(7))).toBeNull();
  });

  test("may be nested 32 levels deep", () => {
    const nested = (levels: number): JsonObject => (levels === 0 ? text : { type: "array", items: nested(levels - 1) });
    expect(toNativeSchema(closed({ a: nested(31) }))).not.toBeNull();
    expect(toNativeSchema(closed({ a: nested(32) }))).toBeNull();
  });

  test("may not lead back to itself", () => {
    expect(toNativeSchema(closed({ a: { $ref: "#" } }))).toBeNull();
    const loop = { one: closed({ a: { $ref: "#/$defs/two" } }), two: closed({ a: { $ref: "#/$defs/one" } }) };
    expect(toNativeSchema({ ...closed({ a: { $ref: "#/$defs/one" } }), $defs: loop })).toBeNull();
    const unused = { ...closed({ a: text }), $defs: loop };
    expect(toNativeSchema(unused)).not.toBeNull();
    const escaped = { ...closed({ a: { $ref: "#/$defs/x~1y~0z" } }), $defs: { "x/y~z": text } };
    expect(toNativeSchema(escaped)).not.toBeNull();
  });

  test("may have 64 references one after the other", () => {
    const chain = (length: number) => {
      const names = Array.from({ length }, (_, index) => `d${index}`);
      const one = (index: number) => (index + 1 < length ? { $ref: `#/definitions/d${index + 1}` } : text);
      const definitions = Object.fromEntries(names.map((name, index) => [name, one(index)]));
      return { ...closed({ a: { $ref: "#/definitions/d0" } }), definitions };
    };
    expect(toNativeSchema(chain(64))).not.toBeNull();
    expect(toNativeSchema(chain(65))).toBeNull();
  });
});

describe("a schema for Bedrock", () => {
  test.each([
    [
      { type: "number", multipleOf: 2, minimum: 0 },
      { type: "number", description: "(multipleOf: 2, minimum: 0)" },
    ],
    [
      { type: "array", items: text, minItems: 1 },
      { type: "array", items: text, minItems: 1 },
    ],
    [
      { type: "array", items: text, minItems: 2 },
      { type: "array", items: text, description: "(minItems: 2)" },
    ],
    [
      { type: "array", items: text, maxItems: 2 },
      { type: "array", items: text, description: "(maxItems: 2)" },
    ],
    [
      { ...text, pattern: "^a+$" },
      { ...text, pattern: "^a+$" },
    ],
    [
      { ...text, pattern: "a(?=b)" },
      { ...text, description: '(pattern: "a(?=b)")' },
    ],
    [
      { ...text, pattern: "(a)\\1" },
      { ...text, description: '(pattern: "(a)\\\\1")' },
    ],
    [
      { ...text, $schema: "x", default: "y" },
      { ...text, default: "y" },
    ],
    [
      { type: "array", prefixItems: [text] },
      { type: "array", prefixItems: [text] },
    ],
  ])("with %j has %j", (schema, expected) => {
    expect(memberOf(toBedrockSchema, schema)).toEqual(expected);
  });

  test("cannot have properties by pattern", () => {
    expect(toBedrockSchema(closed({ a: closed({}, { patternProperties: { "^x": text } }) }))).toBeNull();
  });
});

describe("a schema for Gemini", () => {
  test.each([
    [
      { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 9 },
      { type: "integer", minimum: 1, maximum: 8 },
    ],
    [
      { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 9 },
      { type: "number", minimum: 0, maximum: 9 },
    ],
    [
      { type: "number", exclusiveMinimum: 0, minimum: 2 },
      { type: "number", minimum: 2 },
    ],
    [
      { type: "number", exclusiveMaximum: 9, maximum: 5 },
      { type: "number", maximum: 5 },
    ],
    [{ const: "x" }, { type: "string", enum: ["x"] }],
    [{ const: 1 }, { type: "integer", enum: [1] }],
    [{ const: 1.5 }, { type: "number", enum: [1.5] }],
    [{ const: true }, { type: "boolean" }],
    [{ const: null }, { type: "null" }],
    [{ enum: ["a", null] }, { type: ["string", "null"], enum: ["a"] }],
    [
      { type: "string", enum: ["a", "b"] },
      { type: "string", enum: ["a", "b"] },
    ],
    [{ enum: [true, "a"] }, { type: ["boolean", "string"] }],
    [{ enum: [[1], { a: 1 }] }, { type: ["array", "object"] }],
    [{ ...text, pattern: "^a", $comment: "x" }, text],
    [{ items: [text, { type: "null" }] }, { prefixItems: [text, { type: "null" }] }],
    [{ items: true }, { items: {} }],
    [{ additionalProperties: { ...text, pattern: "x" } }, { additionalProperties: text }],
    [{ additionalProperties: false }, { additionalProperties: false }],
    [{ $ref: "https://example.com/x", ...text }, text],
    [
      {
        allOf: [
          { properties: { x: text }, required: ["x"] },
          { properties: { y: text }, required: ["y"] },
        ],
      },
      { properties: { x: text, y: text }, required: ["y", "x"] },
    ],
    [
      { allOf: [{ ...text }, true], title: "T" },
      { ...text, title: "T" },
    ],
    [{ allOf: [{ allOf: [text] }] }, text],
    [{ allOf: [{ properties: { x: text } }] }, { properties: { x: text } }],
    [{ allOf: [{ required: ["x"] }] }, { required: ["x"] }],
  ])("with %j has %j", (schema, expected) => {
    expect(memberOf(toGeminiSchema, schema)).toEqual(expected);
  });

  test("keeps references to its definitions under one name", () => {
    const written = toGeminiSchema({
      properties: { a: { $ref: "#/definitions/x~1y", description: "lost" }, b: { allOf: [{ $ref: "#/$defs/z" }] } },
      definitions: { "x/y": text },
      $defs: { z: { ...text, pattern: "p" } },
    });
    expect(written).toEqual({
      properties: { a: { $ref: "#/$defs/x~1y" }, b: { anyOf: [{ $ref: "#/$defs/z" }] } },
      $defs: { "x/y": text, z: text },
    });
  });

  test("does not require a property that leads back to its own definition", () => {
    const node = {
      properties: { name: text, next: { $ref: "#/$defs/node" }, link: { $ref: "#/$defs/link" } },
      required: ["name", "next", "link"],
    };
    const link = { properties: { to: { $ref: "#/$defs/node" } }, required: ["to"] };
    const leaf = { properties: { name: text }, required: ["name"] };
    const written = toGeminiSchema({ $ref: "#/$defs/node", $defs: { node, link, leaf } });
    expect(written["$defs"]).toMatchObject({ node: { required: ["name"] }, leaf: { required: ["name"] } });
    expect((written["$defs"] as JsonObject)["link"]).not.toHaveProperty("required");
    const tree = { properties: { name: text, child: { $ref: "#" } }, required: ["name", "child"] };
    expect(toGeminiSchema(tree)).toMatchObject({ properties: { child: { $ref: "#" } }, required: ["name"] });
    const pair = { properties: { leaf: { $ref: "#/$defs/leaf" } }, required: ["leaf"], $defs: { leaf } };
    expect(toGeminiSchema(pair)["required"]).toEqual(["leaf"]);
  });
});
