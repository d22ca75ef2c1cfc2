// The rules of a key or team.

import { expect, test } from "bun:test";
import { appliesTo, toRules } from "../../src/access/limit-rules.ts";

const rates = { requests_per_second: 1, requests_per_minute: null, tokens_per_minute: null, concurrent_requests: null };
const holder = { id: "1", name: "a key", rateLimit: null, budget: null, modelLimits: [] };
const namesOf: Readonly<Record<string, readonly string[]>> = {
  google: ["google", "gemini"],
  vertexai: ["vertexai", "vertex", "google"],
};
const names = {
  toProviderNames: (name: string) => Object.keys(namesOf).filter((provider) => namesOf[provider]?.includes(name)),
  spellName: (pattern: string) => pattern.replace("gemini/models/", "gemini/"),
};

test("a holder without limits has no rules, and one with limits of models only has no rule for every call", () => {
  expect(toRules("key", holder, names)).toEqual([]);
  const modelLimits = [{ model: "openai/*", rate_limit: rates, budget: null }];
  expect(toRules("team", { ...holder, modelLimits }, names)).toEqual([
    { id: "team:1/openai/*", holder: "team", holderName: "a key", model: "openai/*", rateLimit: rates, budget: null },
  ]);
});

test.each([
  ["gemini/*", ["google/*"]],
  ["gemini/gemini-2.5-pro", ["google/gemini-2.5-pro"]],
  ["gemini/models/gemini-*", ["gemini/gemini-*", "google/gemini-*"]],
  ["openrouter/Qwen/*", ["openrouter/qwen/*"]],
  ["text/summarize/gemini/*", ["text/summarize/google/*"]],
  // The name of one provider, and another one's alias.
  ["google/*", ["vertexai/*"]],
  ["ocr/ocr/google", ["ocr/ocr/vertexai"]],
  ["vertex/*", ["vertexai/*"]],
  ["vertexai/*", undefined],
  ["text/*", undefined],
  ["*/gemini", undefined],
  ["openrouter/google/gemini", undefined],
  ["*", undefined],
])("the pattern %s limits %p as well, and its rule is named as it was written", (pattern, otherPatterns) => {
  const modelLimits = [{ model: pattern, rate_limit: rates, budget: null }];
  const [rule] = toRules("key", { ...holder, modelLimits }, names);
  expect(rule).toMatchObject({ id: `key:1/${pattern}`, model: pattern });
  expect(rule?.otherPatterns).toEqual(otherPatterns);
});

test.each([
  ["gemini/*", "google/gemini-2.5-pro", true],
  ["gemini/*", "ocr/ocr/google", true],
  ["gemini/models/gemini-2.5-*", "google/gemini-2.5-pro", true],
  ["gemini/gemini-2.5-pro", "google/Gemini-2.5-Pro", true],
  ["openrouter/Qwen/*", "openrouter/qwen/Qwen3", true],
  ["gemini/*", "vertexai/gemini-2.5-pro", false],
  ["google/*", "google/gemini-2.5-pro", true],
  ["google/*", "vertexai/gemini-2.5-pro", true],
  ["google/*", "ocr/ocr/google", true],
  ["google/*", "openrouter/google/gemini", false],
  ["vertex/*", "google/gemini-2.5-pro", false],
  ["ocr/ocr/gemini", "ocr/ocr/google", true],
])("the limit of %s and the call %s: %p", (pattern, call, applies) => {
  const modelLimits = [{ model: pattern, rate_limit: rates, budget: null }];
  const [rule] = toRules("key", { ...holder, modelLimits }, names);
  expect(rule !== undefined && appliesTo(rule, call)).toBe(applies);
});
