// The limits of keys and teams as they are stored.

import { describe, expect, test } from "bun:test";
import { toChangedLimits, toNewLimits, toShownLimits } from "../../src/access/limit-settings.ts";
import type { Budget, RateLimit } from "../../src/contract/limits.ts";
import { problemsFoundBy, problemsOf } from "../support/thrown.ts";

const now = Date.parse("2030-01-01T00:00:00Z");
const budget: Budget = { amount: 5, period: "daily", time_zone: "UTC", raise: null };
const raised = { ...budget, raise: { amount: 2, until: "2030-02-01T02:00:00+02:00" } };
const stored = { ...budget, raise: { amount: 2, until: "2030-02-01T00:00:00.000Z" } };

test("the end of a raise is stored in one form, for the whole and for a model", () => {
  const modelLimits = [{ model: "openai/*", rate_limit: null, budget: raised }];
  const expected = { budget: stored, modelLimits: [{ model: "openai/*", rate_limit: null, budget: stored }] };
  expect(toNewLimits({ budget: raised, model_limits: modelLimits }, {}, now)).toMatchObject(expected);
  expect(toChangedLimits({ budget: raised, model_limits: modelLimits }, now)).toEqual(expected);
});

test("a budget without a raise is stored with none, also that of a model", () => {
  const { raise: _, ...plain } = budget;
  const given = plain as Budget;
  const modelLimits = [{ model: "openai/*", rate_limit: null, budget: given }];
  expect(toNewLimits({ budget: given, model_limits: modelLimits }, {}, now)).toMatchObject({
    budget: { raise: null },
    modelLimits: [{ budget: { raise: null } }],
  });
});

const rateLimit: RateLimit = {
  ...{ requests_per_second: null, requests_per_minute: 5, tokens_per_minute: null, concurrent_requests: null },
};
const modelLimit = { model: "openai/*", rate_limit: rateLimit, budget };
const defaults = {
  allowed_models: ["default/*"],
  rate_limit: { ...rateLimit, requests_per_minute: 9 },
  budget: { ...budget, amount: 9 },
  model_limits: [{ model: "default/*", rate_limit: null, budget: null }],
  tags: { team: "default" },
};
const none = { allowedModels: null, rateLimit: null, budget: null, modelLimits: [], tags: {} };

describe("a member of a request", () => {
  test.each([
    ["allowed_models", ["a/*"], { allowedModels: ["a/*"] }, { allowedModels: null }],
    ["rate_limit", rateLimit, { rateLimit }, { rateLimit: null }],
    ["budget", budget, { budget }, { budget: null }],
    ["model_limits", [modelLimit], { modelLimits: [modelLimit] }, { modelLimits: [] }],
    ["tags", { app: "shop" }, { tags: { app: "shop" } }, { tags: {} }],
  ])("%s replaces the default and the stored value, and null means none", (name, value, expected, removed) => {
    const inherited = toNewLimits({}, defaults, now);
    expect(toNewLimits({ [name]: value }, defaults, now)).toEqual({ ...inherited, ...expected });
    expect(toNewLimits({ [name]: null }, defaults, now)).toEqual({ ...inherited, ...removed });
    expect(toChangedLimits({ [name]: value }, now)).toEqual(expected);
    expect(toChangedLimits({ [name]: null }, now)).toEqual(removed);
  });

  test("that is absent leaves the default of a new key, and changes nothing of an existing one", () => {
    expect(toNewLimits({}, {}, now)).toEqual(none);
    expect(toNewLimits({}, defaults, now)).toEqual({
      allowedModels: defaults.allowed_models,
      rateLimit: defaults.rate_limit,
      budget: defaults.budget,
      modelLimits: defaults.model_limits,
      tags: defaults.tags,
    });
    expect(toChangedLimits({}, now)).toEqual({});
  });
});

describe("a raise", () => {
  const endingAt = (until: string) => ({ ...budget, raise: { amount: 2, until } });
  const [past, present, future] = ["2029-12-31T23:59:59.999Z", "2030-01-01T00:00:00.000Z", "2030-01-01T00:00:00.001Z"];

  test("that has ended is not accepted, wherever it is", () => {
    const loc = (...path: (string | number)[]) => ["body", ...path, "budget", "raise", "until"];
    const toRequest = (until: string) => ({
      budget: endingAt(until),
      model_limits: [modelLimit, { ...modelLimit, budget: endingAt(until) }],
    });
    for (const act of [
      (until: string) => toNewLimits(toRequest(until), {}, now),
      (until: string) => toChangedLimits(toRequest(until), now),
    ]) {
      for (const until of [past, present])
        expect(problemsOf(() => act(until)).map((problem) => problem.loc)).toEqual([loc(), loc("model_limits", 1)]);
      expect(problemsFoundBy(() => act(future))).toEqual([]);
    }
  });

  test("that has ended is no longer shown, so that what was read can be sent back", () => {
    const show = (until: string) => {
      const modelLimits = [
        { ...modelLimit, budget: endingAt(until) },
        { ...modelLimit, budget: null },
      ];
      const shown = toShownLimits({ ...none, budget: endingAt(until), modelLimits }, now);
      return [shown.budget, ...shown.model_limits.map((limit) => limit.budget)];
    };
    for (const until of [past, present]) expect(show(until)).toEqual([budget, budget, null]);
    expect(show(future)).toEqual([endingAt(future), endingAt(future), null]);
  });
});

test("limits are shown under the names of the requests", () => {
  const stored = { allowedModels: ["a/*"], rateLimit, budget, modelLimits: [modelLimit], tags: { app: "shop" } };
  expect(toShownLimits(stored, now)).toEqual({
    allowed_models: ["a/*"],
    rate_limit: rateLimit,
    budget,
    model_limits: [modelLimit],
    tags: { app: "shop" },
  });
  expect(toShownLimits(none, now)).toMatchObject({ allowed_models: null, model_limits: [], tags: {} });
});
