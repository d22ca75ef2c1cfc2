// The members `providers` and `aliases` of switchyard.yaml: what is accepted, and what a wrong value is told.

import { expect, test } from "bun:test";
import type { z } from "zod";
import { aliasesSchema, providersSchema } from "../../src/config/providers.ts";
import { list, toPathIssues, whole, yesOrNo } from "../../src/config/schema-parts.ts";

function problemsOf(schema: z.ZodType, value: unknown): string[] {
  const issues = schema.safeParse(value).error?.issues ?? [];
  return issues.flatMap((issue) => toPathIssues(issue)).map(({ path, message }) => `${path}: ${message}`);
}

test.each([
  [{ openai: false, mine: null }],
  [{ openai: { api_key: "x", weightless: undefined } }],
  [{ mine: { base_url: "https://example.com/v1", models: ["a"], headers: { "x-team": "a" }, dialect: "openai" } }],
  [{ mine: { deployments: [{ name: characters(64), weight: 1_000_000 }, { weight: 0.001 }, { name: "b" }] } }],
  [{ mine: { default_model: "a", tasks: ["text/moderation"] } }],
  [{ mine: { default_model: { "text/moderation": "a" } } }],
])("the providers %j are accepted", (providers) => {
  expect(problemsOf(providersSchema, JSON.parse(JSON.stringify(providers)))).toEqual([]);
});

const settingsForm = "should hold settings, such as { api_key: … }, or be false to switch the provider off";

test.each([
  [["openai"], ": should hold names with their settings, such as 'openai: { api_key: … }'"],
  [{ OpenAI: {} }, "OpenAI: a provider's name holds lower-case letters, digits and hyphens"],
  [{ openai: true }, `openai: ${settingsForm}`],
  [{ openai: "key" }, `openai: ${settingsForm}`],
  [{ openai: { api_keys: "x" } }, "openai.api_keys: unknown member 'api_keys'; did you mean 'api_key'?"],
  // A key may stand in the wrong form, so the message does not repeat it.
  [
    { openai: { api_key: 12_345 } },
    `openai.api_key: should be a text such as "\${OPENAI_API_KEY}", and is of type number`,
  ],
  [
    { openai: { api_key: ["12345"] } },
    `openai.api_key: should be a text such as "\${OPENAI_API_KEY}", and is of type list`,
  ],
  [{ openai: { headers: { a: 12_345 } } }, "openai.headers.a: should be a text, and is of type number"],
  [
    { openai: { headers: "12345" } },
    'openai.headers: should be names with texts such as { x-team: "a" }, and is of type string',
  ],
  [
    { mine: { base_url: "https://example.com/v1?a=b" } },
    "mine.base_url: should be an address such as https://example.com/v1, without a query, and is 'https://example.com/v1?a=b'",
  ],
  [{ mine: { dialect: 7 } }, "mine.dialect: should be a text, and is '7'"],
  [
    { mine: { deployments: [] } },
    "mine.deployments: should be a list with at least one deployment, such as [{ api_key: … }]",
  ],
  [
    { mine: { deployments: [{ weight: 0 }] } },
    "mine.deployments.0.weight: should be a number above 0 and up to 1000000, and is '0'",
  ],
  [
    { mine: { deployments: [{ weight: 1_000_001 }] } },
    "mine.deployments.0.weight: should be a number above 0 and up to 1000000, and is '1000001'",
  ],
  [
    { mine: { deployments: [{ name: "a b" }] } },
    "mine.deployments.0.name: should be 1 to 64 letters, digits, dots, hyphens and underscores, and is 'a b'",
  ],
  [
    { mine: { deployments: [{ name: "a" }, {}, { name: "b" }, { name: "a" }] } },
    "mine.deployments.3.name: 'a' is used twice; give each deployment a name of its own",
  ],
])("the providers %j are refused with the place and the form", (providers, problem) => {
  expect(problemsOf(providersSchema, providers)).toEqual([problem]);
});

test("an alias is one model, several in order, or several with weights", () => {
  expect(
    aliasesSchema.parse({
      one: "a/b",
      order: ["a/b", "c/d/e"],
      shares: [{ model: "a/b", weight: 2 }, { model: "c/d" }],
    }),
  ).toEqual({
    one: [{ model: "a/b", weight: null }],
    order: [
      { model: "a/b", weight: null },
      { model: "c/d/e", weight: null },
    ],
    shares: [
      { model: "a/b", weight: 2 },
      { model: "c/d", weight: null },
    ],
  });
  expect(aliasesSchema.parse(undefined)).toEqual({});
});

test.each([
  [{ "a/b": "c/d" }, "a/b: an alias's name holds no slash or space"],
  [{ a: [] }, "a: should be <provider>/<model>, a list of them, or a list of { model, weight }"],
  [{ a: 1 }, "a: should be <provider>/<model>, a list of them, or a list of { model, weight }"],
  [7, ": should hold names with their models, such as 'fast: groq/llama-3.3-70b-versatile'"],
])("the aliases %j are refused", (aliases, problem) => {
  expect(problemsOf(aliasesSchema, aliases)).toEqual([problem]);
});

test("values may be texts, as the environment has them", () => {
  const number = whole(2, 5);
  expect([2, 5, "2", "5"].map((value) => number.parse(value))).toEqual([2, 5, 2, 5]);
  expect([1, 6, "1", "6", "2.5", 2.5, "", "x", null, "-2"].filter((value) => number.safeParse(value).success)).toEqual(
    [],
  );
  expect(problemsOf(number, "6")).toEqual([": should be a whole number from 2 to 5, and is '6'"]);
  expect([true, false, "true", "false"].map((value) => yesOrNo().parse(value))).toEqual([true, false, true, false]);
  expect(["yes", "", 1, null, "TRUE"].filter((value) => yesOrNo().safeParse(value).success)).toEqual([]);
  expect([["a", "b"], "a, b", "a,,b, ", ""].map((value) => list().parse(value))).toEqual([
    ["a", "b"],
    ["a", "b"],
    ["a", "b"],
    [],
  ]);
});

function characters(count: number): string {
  return "a".repeat(count);
}
