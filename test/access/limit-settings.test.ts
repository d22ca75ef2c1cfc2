// The limits of keys and teams as they are stored.

import { expect, test } from "bun:test";
import { toChangedLimits, toNewLimits } from "../../src/access/limit-settings.ts";
import type { Budget } from "../../src/contract/limits.ts";

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
