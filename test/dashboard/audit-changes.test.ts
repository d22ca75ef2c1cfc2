// What the page of the audit log says about a change.

import { expect, test } from "bun:test";
import { listChanges, showValue } from "../../src/dashboard/pages/audit/changes.ts";

test("only members that differ are listed, those of nested objects by their path", () => {
  const before = { budget: { amount: 5, period: "monthly" }, tags: ["a"], name: "same", gone: 1 };
  const after = { budget: { amount: 7, period: "monthly" }, tags: ["a", "b"], name: "same", added: null };
  expect(listChanges(before, after)).toEqual([
    { member: "budget.amount", before: 5, after: 7 },
    { member: "tags", before: ["a"], after: ["a", "b"] },
    { member: "gone", before: 1, after: undefined },
    { member: "added", before: undefined, after: null },
  ]);
});

test("a new object has all its members, and so has one that was deleted", () => {
  expect(listChanges(null, { name: "x" })).toEqual([{ member: "name", before: undefined, after: "x" }]);
  expect(listChanges({ name: "x" }, null)).toEqual([{ member: "name", before: "x", after: undefined }]);
  expect(listChanges(null, null)).toEqual([]);
});

test("names of a prototype are members like others", () => {
  const state = JSON.parse('{"__proto__": {"polluted": true}, "constructor": "x"}') as Record<string, unknown>;
  expect(listChanges(null, state).map(({ member }) => member)).toEqual(["__proto__", "constructor"]);
  expect(listChanges({}, { toString: "x" })).toEqual([{ member: "toString", before: undefined, after: "x" }]);
});

test("values are shown as people read them", () => {
  expect([null, undefined, "text", 5, ["a"]].map(showValue)).toEqual(["none", "", "text", "5", '["a"]']);
});
