import { describe, expect, test } from "bun:test";
import { findNearest, suggest } from "../../src/lib/find-nearest.ts";

describe("the nearest name", () => {
  test.each([
    ["prt", ["host", "port"], "port"],
    ["orc", ["text", "ocr"], "ocr"],
    ["prov", ["providers", "port"], "providers"],
    ["moderatoin", ["moderation", "translation"], "moderation"],
    ["gpt-6-lunar", ["gpt-6", "gpt-6-luna"], "gpt-6-luna"],
    ["hose", ["port", "host"], "host"],
    ["ab", ["abx", "aby"], "abx"],
    // A third of the letters may be wrong, and of a short name two.
    ["abcdefghi", ["abcdefxyz"], "abcdefxyz"],
    ["abcde", ["abcxy"], "abcxy"],
    ["abcdefghi", ["bcdefghixy"], "bcdefghixy"],
    ["xabc", ["abc"], "abc"],
    // Of two that are equally near, the first.
    ["porx", ["pora", "porb"], "pora"],
  ])("of '%s' among %j is '%s'", (given, names, nearest) => {
    expect(findNearest(given, names)).toBe(nearest);
  });

  test.each([
    ["prot", ["help", "name"]],
    ["x", ["to", "help"]],
    ["", ["to"]],
    ["completely-different", ["short", "another-long-option-name"]],
    ["anything", []],
    ["abcdefghi", ["abcdewxyz"]],
    ["abcde", ["abxyz"]],
    ["ab", ["xy"]],
    ["a", ["xyz"]],
  ])("'%s' resembles none of %j", (given, names) => {
    expect(findNearest(given, names)).toBeNull();
    expect(suggest(given, names)).toBe("");
  });

  test("may be as far as the caller allows", () => {
    expect([findNearest("abcdef", ["abcxyz"], 3), findNearest("abcdef", ["abcxyz"], 2)]).toEqual(["abcxyz", null]);
    expect([findNearest("port", ["pord"], 0), suggest("port", ["pord"], 1)]).toEqual([null, "; did you mean 'pord'?"]);
  });

  test("of a long name is found by its first 64 letters", () => {
    const start = "a".repeat(64);
    expect(findNearest(`${start}${"b".repeat(1_000)}`, ["b", `${start}c`])).toBe(`${start}c`);
    expect(findNearest(`${"a".repeat(63)}x`, [`${"a".repeat(63)}yz`])).toBe(`${"a".repeat(63)}yz`);
  });
});
