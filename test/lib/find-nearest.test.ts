import { describe, expect, test } from "bun:test";
import { findNearest, suggest } from "../../src/lib/find-nearest.ts";

describe("the nearest name", () => {
  test.each([
    ["prt", ["host", "port"], "port"],
    ["orc", ["text", "ocr"], "ocr"],
    ["prov", ["providers", "port"], "providers"],
    ["moderatoin", ["moderation", "translation"], "moderation"],
    ["gpt-6-lunar", ["gpt-6", "gpt-6-luna"], "gpt-6-luna"],
  ])("of '%s' among %j is '%s'", (given, names, nearest) => {
    expect(findNearest(given, names)).toBe(nearest);
  });

  test.each([
    ["prot", ["help", "name"]],
    ["x", ["to", "help"]],
    ["", ["to"]],
    ["completely-different", ["short", "another-long-option-name"]],
    ["anything", []],
  ])("'%s' resembles none of %j", (given, names) => {
    expect(findNearest(given, names)).toBeNull();
    expect(suggest(given, names)).toBe("");
  });
});
