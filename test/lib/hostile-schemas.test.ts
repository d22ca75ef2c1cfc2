// Schemas and patterns of a caller that are built to be expensive are applied or refused in bounded time. The bound is generous: the
// promise is that the event loop is not blocked for seconds, and without the limits each case takes from half a minute to for ever.

import { expect, test } from "bun:test";
import { compilePattern } from "../../src/lib/json-schema/match-pattern.ts";
import { type Json, SchemaDocument, SchemaProblem } from "../../src/lib/json-schema/schema.ts";
import { findUnappliedPatterns, fitsSchema } from "../../src/lib/json-schema/schema-check.ts";
import { sandbox } from "../../src/providers/sandbox/index.ts";
import { makeExample } from "../../src/providers/sandbox/schema-example.ts";
import { leastCpuMs } from "../support/cpu-time.ts";

const maxMilliseconds = 3_000;

const patterns: Readonly<Record<string, string>> = {
  "a nested repetition": "^(a+)+$",
  "overlapping choices": "^(a|a|aa)*$",
  "two open ends": "^a*a*a*a*a*a*a*a*b$",
  "a late failure": "(.*)*x",
  "a long window": "(?:a|b)*a(?:a|b){900}c",
  "many large repetitions": ".{1000}".repeat(125),
  "a large repetition of a large part": `(?:${"[a-z]?".repeat(150)}){1000}`,
  "many repetitions of letters": "\\p{L}{1000}".repeat(60),
  "nested groups": `${"(".repeat(490)}a${")*".repeat(490)}`,
  "nested empty repetitions": "((){1000}){1000}",
  "a look-behind": "(?<=(a|b)+)c".repeat(20),
};
const texts: Readonly<Record<string, string>> = {
  "60,000 times the same letter": "a".repeat(60_000),
  "30,000 pairs": "ab".repeat(30_000),
  "a million letters": "a".repeat(1_000_000),
};

for (const [pattern, source] of Object.entries(patterns)) {
  for (const [text, value] of Object.entries(texts)) {
    test(`${pattern} against ${text} is bounded`, async () => {
      expect(await millisecondsOf(() => fits(value, { type: "string", pattern: source }))).toBeLessThan(
        maxMilliseconds,
      );
    });
  }
}

const names = Array.from({ length: 20_000 }, (_, at) => `name${at}`);
const emptyRepetition = "(?:(?:){999999}){999999}";
const expensive: Readonly<Record<string, readonly [schema: unknown, value: Json]>> = {
  "many values and a long enumeration": [{ items: { enum: names } }, Array.from({ length: 20_000 }, () => "name19999")],
  "many objects and a long list of required names": [
    { items: { required: names } },
    Array.from({ length: 2_000 }, () => Object.fromEntries(names.slice(0, 50).map((name) => [name, 1]))),
  ],
  "many names and many patterns": [
    { patternProperties: Object.fromEntries(names.slice(0, 900).map((name) => [`${name}$`, true])) },
    Object.fromEntries(names.map((name) => [name, 1])),
  ],
  "more patterns than a schema may have": [
    { allOf: names.map((name) => ({ pattern: `^(${name}|\\p{L}{900})$` })) },
    "a".repeat(500),
  ],
  "a long list of types": [{ items: { type: names } }, Array.from({ length: 20_000 }, () => 1)],
};

for (const [title, [schema, value]] of Object.entries(expensive)) {
  test(`${title}: the check is bounded`, async () => {
    expect(await millisecondsOf(() => fits(value, schema))).toBeLessThan(maxMilliseconds);
  });
}

const examples: Readonly<Record<string, unknown>> = {
  "repetitions of nothing": { type: "string", pattern: emptyRepetition },
  "many properties": { type: "object", properties: Object.fromEntries(names.map((name) => [name, { const: 1 }])) },
  "many parts, each with a required name": { allOf: names.map((name) => ({ required: [name] })) },
  "a long chain of dependent names": {
    type: "object",
    required: ["name0"],
    dependentRequired: Object.fromEntries(names.map((name, at) => [name, [`name${at + 1}`]])),
  },
  "many long texts": {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string", minLength: 100_000 }])),
    required: names,
  },
  "keywords that every object has": {
    allOf: [
      { constructor: 1, toString: 2 },
      { constructor: 3, toString: 4 },
    ],
  },
};

for (const [title, schema] of Object.entries(examples)) {
  test(`${title}: an example is made or refused in bounded time and size`, async () => {
    let length = 0;
    const milliseconds = await millisecondsOf(() => {
      length = JSON.stringify(makeExample(schema)).length;
    });
    expect(milliseconds).toBeLessThan(maxMilliseconds);
    expect(length).toBeLessThan(30_000_000);
  });
}

test("a simple pattern is applied to a long text", () => {
  const schema = { type: "string", pattern: "^[a-z]+$" };
  expect(fits("a".repeat(60_000), schema)).toBe(true);
  expect(fits(`${"a".repeat(60_000)}!`, schema)).toBe(false);
});

test("what RE2 cannot apply, and spellings that only RE2 knows, are named and do not count against a value", () => {
  const unapplied = ["^(?=a)a$", "^(a)\\1$", "^.{0,5000}$", "\\Aa\\z", "[[:alpha:]]", "(", "a".repeat(1_001)];
  for (const source of unapplied) expect([source, compilePattern(source).matches]).toEqual([source, null]);
  const schema = {
    properties: { a: { pattern: "^(?=a)a$" }, b: { pattern: "^b$" } },
    patternProperties: { "(": false },
  };
  expect(findUnappliedPatterns(schema, new SchemaDocument(schema)).toSorted()).toEqual(["(", "^(?=a)a$"]);
  expect(fits({ a: "x", b: "b", c: 1 }, schema)).toBe(true);
  expect(fits({ a: "x", b: "x" }, schema)).toBe(false);
  // A name that an unapplied pattern may allow is not an additional one.
  expect(fits({ x: 1 }, { patternProperties: { "(?=x)x": true }, additionalProperties: false })).toBe(true);
});

function fits(value: Json, schema: unknown): boolean {
  const document = new SchemaDocument(schema);
  return fitsSchema(value, document.root, document);
}

/** A refusal is an outcome, every other exception is a failure. */
function millisecondsOf(run: () => unknown): Promise<number> {
  return leastCpuMs(() => {
    try {
      run();
    } catch (error) {
      if (!(error instanceof SchemaProblem)) throw error;
    }
  }, maxMilliseconds);
}

/** Each takes the sandbox longer than it may hold up the event loop. */
const expensiveRequests: readonly (readonly [title: string, schema: unknown, status: number])[] = [
  [
    "900 expensive patterns",
    { allOf: names.slice(0, 900).map((name) => ({ pattern: `^(${name}|[a-z]{900})$` })) },
    200,
  ],
  [
    "a long list of required names",
    {
      type: "object",
      required: names.slice(0, 3_000),
      properties: Object.fromEntries(
        names.slice(0, 3_000).map((name) => [name, { type: "string", pattern: "^[a-z]{3}$" }]),
      ),
    },
    200,
  ],
];

test.each(
  expensiveRequests,
)("%s: the sandbox composes the answer in a thread of its own", async (_title, schema, status) => {
  const body = JSON.stringify({
    model: "echo",
    messages: [{ role: "user", content: "x" }],
    response_format: { type: "json_schema", json_schema: { name: "hostile", schema } },
  });
  let turns = 0;
  const counter = setInterval(() => turns++, 1);
  const response = await sandbox.transport?.("http://sandbox.invalid/v1/chat/completions", {
    method: "POST",
    body: new TextEncoder().encode(body),
    signal: new AbortController().signal,
  });
  clearInterval(counter);
  expect(response?.status).toBe(status);
  // Composed on the event loop, the answer would leave it no turn.
  expect(turns).toBeGreaterThan(3);
});
