// What becomes of a parameter that the dialect of a provider does not have.

import { describe, expect, test } from "bun:test";
import { all, commonChatRules, findDropped, refuseDropped, ruleOf } from "../../src/providers/parameters.ts";
import { problemsOf } from "../support/thrown.ts";

const table = {
  ...commonChatRules,
  ...all("dropped", "n", "logprobs", "top_logprobs", "presence_penalty", "frequency_penalty", "store", "modalities"),
  ...all("refused", "audio", "response_format"),
};
const request = { model: "m", messages: [] };
const droppedOf = (members: object, ignored: readonly string[] = []) =>
  findDropped({ ...request, ...members }, table, new Set(ignored));

describe("a parameter", () => {
  test.each([
    ["n", 1, 2],
    ["logprobs", false, true],
    ["top_logprobs", 0, 5],
    ["presence_penalty", 0, 0.5],
    ["frequency_penalty", 0, -0.5],
    ["store", false, true],
    ["modalities", ["text"], ["text", "audio"]],
    ["modalities", ["text"], ["audio"]],
    ["modalities", ["text"], "text"],
  ])("%s that is dropped is named unless it has its usual value %j", (name, usual, other) => {
    expect(droppedOf({ [name]: usual })).toEqual([]);
    expect(droppedOf({ [name]: other })).toEqual([name]);
  });

  test("that is refused is a problem unless it has its usual value", () => {
    expect(droppedOf({ response_format: { type: "text" } })).toEqual([]);
    const members = { response_format: { type: "json_object" }, audio: {} };
    expect(problemsOf(() => droppedOf(members)).map(({ loc }) => loc)).toEqual([
      ["body", "response_format"],
      ["body", "audio"],
    ]);
  });

  test("that is null, mapped, run in parallel or the gateway's own is not named", () => {
    const members = { logit_bias: null, temperature: 1, stream_options: {}, strict_parameters: true };
    expect(droppedOf(members, ["strict_parameters"])).toEqual([]);
    expect(findDropped({ ...request, n: 3 }, commonChatRules, new Set())).toEqual([]);
    expect(droppedOf({ strict_parameters: true })).toEqual(["strict_parameters"]);
  });

  test("that no rule names is dropped, unless the table has a rule for all", () => {
    expect([ruleOf(table, "new"), ruleOf({ "*": "mapped" }, "new"), ruleOf(table, "toString")]).toEqual([
      "dropped",
      "mapped",
      "dropped",
    ]);
  });

  test("that would be dropped is refused with strict_parameters, at its place", () => {
    expect(problemsOf(() => refuseDropped(["seed", "tools.0.strict"])).map(({ loc }) => loc)).toEqual([
      ["body", "seed"],
      ["body", "tools", 0, "strict"],
    ]);
    refuseDropped([]);
  });
});
