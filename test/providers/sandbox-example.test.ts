// Tool arguments and structured answers of the sandbox fit the schema that was given. The judge is another validator than
// our own; where it lacks a keyword, the check is written by hand. It judges a keyword only beside its `type`.

import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { compilePattern } from "../../src/lib/json-schema/match-pattern.ts";
import { parsePattern, samplePattern } from "../../src/lib/json-schema/pattern.ts";
import type { Json } from "../../src/lib/json-schema/schema.ts";
import { makeExample } from "../../src/providers/sandbox/schema-example.ts";
import { leastCpuMs } from "../support/cpu-time.ts";

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];

const tree: JsonSchema = {
  type: "object",
  properties: { value: { type: "integer" }, next: { $ref: "#/$defs/tree" } },
  required: ["value"],
};
const wide = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`p${at}`, { $ref: "#" }]));

const schemas: Readonly<Record<string, JsonSchema>> = {
  anything: {},
  "a string": { type: "string" },
  "a long string": { type: "string", minLength: 40 },
  "a short string": { type: "string", maxLength: 2 },
  "a string of exact length": { type: "string", minLength: 9, maxLength: 9 },
  "an integer": { type: "integer" },
  "a small range": { type: "integer", minimum: 7, maximum: 8 },
  "a negative range": { type: "integer", minimum: -8, maximum: -7 },
  "an exclusive range": { type: "integer", exclusiveMinimum: 4, exclusiveMaximum: 6 },
  "a number between neighbours": { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 0.001 },
  "a number above": { type: "number", exclusiveMinimum: 1000 },
  "a number below": { type: "number", maximum: -2.5 },
  "a multiple": { type: "integer", multipleOf: 7, minimum: 50 },
  "a decimal multiple": { type: "number", multipleOf: 0.1, minimum: 0.25 },
  "an integer that is a multiple of a half": { type: "integer", multipleOf: 2.5, minimum: 1 },
  "a boolean": { type: "boolean" },
  null: { type: "null" },
  "an enumeration": { enum: ["red", "green"] },
  "an enumeration of mixed types": { enum: [null, 3, "x"] },
  "a constant": { const: 4.5 },
  "a nullable type": { type: ["string", "null"] },
  "several types": { type: ["integer", "array"] },
  "a date and time": { type: "string", format: "date-time" },
  "a date": { type: "string", format: "date" },
  "an e-mail address": { type: "string", format: "email" },
  "a URI": { type: "string", format: "uri" },
  "a UUID": { type: "string", format: "uuid" },
  "an IPv4 address": { type: "string", format: "ipv4" },
  "an IPv6 address": { type: "string", format: "ipv6" },
  "a simple pattern": { type: "string", pattern: "^[A-Z]{3}-\\d{4}$" },
  "a pattern with a choice": { type: "string", pattern: "^(?:cat|dog)s?$" },
  "a pattern and a length": { type: "string", pattern: "^[a-z]+$", minLength: 20, maxLength: 30 },
  "a pattern and a short length": { type: "string", pattern: "^\\w*$", maxLength: 1 },
  "a pattern without anchors": { type: "string", pattern: "\\d{2}", minLength: 10 },
  "an object": {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer", minimum: 1, maximum: 7 } },
    required: ["city"],
    additionalProperties: false,
  },
  "nested objects and arrays": {
    type: "object",
    properties: {
      people: {
        type: "array",
        minItems: 3,
        items: { type: "object", properties: { name: { type: "string", minLength: 1 } }, required: ["name"] },
      },
    },
    required: ["people"],
  },
  "a required property without a schema": { type: "object", required: ["anything"] },
  "additional properties of a type": { type: "object", additionalProperties: { type: "number" }, minProperties: 2 },
  "pattern properties": { type: "object", patternProperties: { "^x-": { type: "integer" } }, minProperties: 2 },
  "property names": { type: "object", propertyNames: { type: "string", pattern: "^[a-z]{2}$" }, minProperties: 3 },
  "at most so many properties": { type: "object", properties: { a: {}, b: {}, c: {} }, maxProperties: 2 },
  "unique items": { type: "array", items: { type: "string", maxLength: 3 }, minItems: 12, uniqueItems: true },
  "unique booleans": { type: "array", items: { type: "boolean" }, minItems: 2, uniqueItems: true },
  "unique choices": { type: "array", items: { enum: ["a", "b", "c"] }, minItems: 3, uniqueItems: true },
  "unique objects": {
    type: "array",
    items: { type: "object", properties: { id: { type: "string", format: "uuid" } }, required: ["id"] },
    minItems: 4,
    uniqueItems: true,
  },
  "a tuple": { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false, minItems: 2 },
  "an array that contains": {
    type: "array",
    items: { type: "integer" },
    contains: { type: "integer", minimum: 50 },
    minItems: 3,
  },
  "an empty array": { type: "array", items: { type: "string" }, maxItems: 0 },
  "any of": { anyOf: [{ type: "string", minLength: 4 }, { type: "integer" }] },
  "one of": {
    oneOf: [
      { type: "object", properties: { kind: { const: "a" }, a: { type: "string" } }, required: ["kind", "a"] },
      { type: "object", properties: { kind: { const: "b" }, b: { type: "string" } }, required: ["kind", "b"] },
    ],
  },
  "one of overlapping choices": {
    oneOf: [
      { type: "integer", minimum: 0 },
      { type: "integer", maximum: 10 },
    ],
  },
  "all of": {
    allOf: [
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      { type: "object", properties: { a: { type: "string", minLength: 9 }, b: { type: "integer" } }, required: ["b"] },
    ],
  },
  "all of several bounds": {
    allOf: [
      { type: "number", minimum: 3 },
      { type: "integer", maximum: 4 },
      { type: "number", multipleOf: 2 },
    ],
  },
  "all of two lengths": {
    allOf: [
      { type: "string", minLength: 3 },
      { type: "string", minLength: 20 },
    ],
  },
  "a name that objects have anyway, undeclared": {
    type: "object",
    properties: { other: { type: "string" } },
    required: ["constructor"],
    additionalProperties: { type: "integer" },
  },
  definitions: {
    $defs: { id: { type: "integer", minimum: 5 } },
    type: "array",
    items: { $ref: "#/$defs/id" },
    minItems: 2,
  },
  "a reference with siblings": { $defs: { text: { type: "string" } }, $ref: "#/$defs/text" },
  "recursion by an optional property": { $defs: { tree }, $ref: "#/$defs/tree" },
  "recursion by an array": {
    $defs: {
      node: {
        type: "object",
        properties: { children: { type: "array", items: { $ref: "#/$defs/node" } } },
        required: ["children"],
      },
    },
    $ref: "#/$defs/node",
  },
  "recursion by a required choice": {
    $defs: {
      list: {
        anyOf: [
          {
            type: "object",
            properties: { head: { type: "string" }, tail: { $ref: "#/$defs/list" } },
            required: ["head", "tail"],
          },
          { type: "null" },
        ],
      },
    },
    $ref: "#/$defs/list",
  },
  "wide recursion": { type: "object", properties: wide },
  "a nullable property": { type: "object", properties: { a: { type: "string", nullable: true } }, required: ["a"] },
  "the author's own example": { type: "string", examples: ["Lisbon"], minLength: 3 },
  "a default that does not fit": { type: "integer", default: "many", minimum: 2 },
  "names that objects have anyway": {
    type: "object",
    properties: { constructor: { type: "integer" as const }, toString: { type: "string" as const } },
    required: ["constructor", "toString"],
  },
};

describe("a value made for a schema fits it", () => {
  for (const [title, schema] of Object.entries(schemas)) {
    test(title, () => {
      const value = makeExample(schema);
      const judged = z.fromJSONSchema(schema).safeParse(value);
      expect(judged.success ? "fits" : `${JSON.stringify(value)}: ${judged.error.message}`).toBe("fits");
    });
  }

  const byHand: readonly (readonly [title: string, schema: unknown, isRight: (value: Json) => boolean])[] = [
    ["a constant object", { const: { a: [1] } }, (value) => Bun.deepEquals(value, { a: [1] })],
    ["the author's example is used", { type: "string", examples: ["Lisbon"] }, (value) => value === "Lisbon"],
    [
      "not",
      { type: "string", not: { const: "example" }, minLength: 1, default: "other" },
      (value) => value === "other",
    ],
    [
      "if and then",
      JSON.parse(
        '{"properties":{"kind":{"enum":["x"]}},"required":["kind"],"if":{"required":["kind"]},"then":{"required":["size"]}}',
      ),
      (value) => Object.keys(value as object).includes("size"),
    ],
    [
      "dependent properties",
      {
        type: "object",
        properties: { card: { type: "string" } },
        required: ["card"],
        dependentRequired: { card: ["address"] },
      },
      (value) => Object.keys(value as object).includes("address"),
    ],
    [
      "the older spelling of a tuple",
      { type: "array", items: [{ const: 1 }, { const: 2 }] },
      (value) => Bun.deepEquals(value, [1, 2]),
    ],
    [
      "the older spelling of definitions",
      { definitions: { a: { const: 4 } }, $ref: "#/definitions/a" },
      (value) => value === 4,
    ],
    [
      "the older spelling of an exclusive bound",
      { type: "integer", minimum: 1, exclusiveMinimum: true },
      (value) => Number(value) > 1,
    ],
    [
      "a property called __proto__",
      JSON.parse('{"type":"object","properties":{"__proto__":{"const":1}},"required":["__proto__"]}'),
      (value) => JSON.stringify(value) === '{"__proto__":1}',
    ],
    [
      "a pattern that cannot be followed still gets a string",
      { type: "string", pattern: "^(?=a)b?\\1$" },
      (value) => typeof value === "string",
    ],
  ];
  for (const [title, schema, isRight] of byHand) {
    test(title, () => {
      const value = makeExample(schema);
      expect(isRight(value) ? "right" : JSON.stringify(value)).toBe("right");
      expect(makeExample(schema)).toEqual(value);
    });
  }
});

describe("a schema that is built to explode is refused in bounded time", () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => {
      const next = { $ref: `#/$defs/d${at + 1}` };
      return [`d${at}`, { type: "object", properties: { a: next, b: next }, required: ["a", "b"] }];
    }),
  );
  const hostile: Readonly<Record<string, unknown>> = {
    "a reference to itself": { $ref: "#" },
    "a choice that is itself": { anyOf: [{ $ref: "#" }] },
    "a reference into nowhere": { $ref: "#/$defs/missing" },
    "a reference to another document": { $ref: "https://example.com/schema.json" },
    "an object that requires itself": { type: "object", properties: { me: { $ref: "#" } }, required: ["me"] },
    "doubling at every level": { $defs: { ...doubling, d40: { type: "string" } }, $ref: "#/$defs/d0" },
    "a billion items": { type: "array", items: { type: "string" }, minItems: 1e9 },
    "a billion characters": { type: "string", minLength: 1e9 },
    "a contradiction": { allOf: [{ type: "string" }, { type: "integer" }] },
    "nothing at all": false,
  };
  for (const [title, schema] of Object.entries(hostile)) {
    test(title, async () => {
      const milliseconds = await leastCpuMs(() => expect(() => makeExample(schema)).toThrow(), 2_000);
      expect(milliseconds).toBeLessThan(2_000);
    });
  }

  test("a pattern that ruins backtracking matchers costs nothing", async () => {
    const milliseconds = await leastCpuMs(() => {
      makeExample({ type: "string", pattern: "^(a+)+$", examples: [`${"a".repeat(40)}!`] });
      makeExample({ type: "string", pattern: "^(((a{1000}){1000}){1000}){1000}$" });
    }, 2_000);
    expect(milliseconds).toBeLessThan(2_000);
  });
});

describe("the pattern reader agrees with the engine's own", () => {
  const patterns = [
    "^a$",
    "a|b",
    "^(?:ab)+$",
    "^[^a-c]$",
    "^\\d{3}-\\d{2,4}$",
    "^[\\w.-]+@[\\w-]+\\.[a-z]{2,}$",
    "^\\+?[1-9]\\d{1,14}$",
    "^#[0-9a-fA-F]{6}$",
    "^(?<year>\\d{4})-(0[1-9]|1[0-2])$",
    "^.{2,3}$",
    "x*y?",
    "^\\u0041\\x42$",
    "^[\\]\\-]$",
    "^\\{[A-Z_]+\\}$",
    "",
  ];
  const texts = [
    "",
    "a",
    "b",
    "ab",
    "abab",
    "d",
    "123-45",
    "a.b@c-d.org",
    "+4915112345678",
    "#aBc123",
    "2026-12",
    "2026-13",
    "éé",
    "AB",
    "]",
    "-",
    "{HOME}",
  ];
  for (const source of patterns) {
    test(JSON.stringify(source), () => {
      const pattern = parsePattern(source);
      if (pattern === null) throw new Error("not understood");
      const expected = new RegExp(source, "u");
      for (const text of texts)
        expect([text, compilePattern(source).matches?.(text)]).toEqual([text, expected.test(text)]);
      for (const variant of [0, 1, 2, 30]) expect(samplePattern(pattern, 3, variant)).toMatch(expected);
    });
  }
});
