// The rules of a key or team.

import { expect, test } from "bun:test";
import { toRules } from "../../src/access/limit-rules.ts";

const rates = { requests_per_second: 1, requests_per_minute: null, tokens_per_minute: null, concurrent_requests: null };
const holder = { id: "1", name: "a key", rateLimit: null, budget: null, modelLimits: [] };
const toProviderName = (name: string) => (name === "gemini" ? "google" : name);

test("a holder without limits has no rules, and one with limits of models only has no rule for every call", () => {
  expect(toRules("key", holder, toProviderName)).toEqual([]);
  const modelLimits = [{ model: "openai/*", rate_limit: rates, budget: null }];
  expect(toRules("team", { ...holder, modelLimits }, toProviderName)).toEqual([
    { id: "team:1/openai/*", holder: "team", holderName: "a key", model: "openai/*", rateLimit: rates, budget: null },
  ]);
});

test.each([
  ["gemini/*", "google/*"],
  ["gemini/gemini-2.5-pro", "google/gemini-2.5-pro"],
  ["text/summarize/gemini/*", "text/summarize/google/*"],
  ["text/*", "text/*"],
  ["*/gemini", "*/gemini"],
  ["openrouter/google/gemini", "openrouter/google/gemini"],
  ["*", "*"],
])("the pattern %s limits %s, and its rule is named as it was written", (pattern, model) => {
  const modelLimits = [{ model: pattern, rate_limit: rates, budget: null }];
  expect(toRules("key", { ...holder, modelLimits }, toProviderName)).toMatchObject([{ id: `key:1/${pattern}`, model }]);
});
