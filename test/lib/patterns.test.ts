// What a pattern of a schema stands for: the sandbox makes texts that fit it.

import { expect, test } from "bun:test";
import { estimateSize } from "../../src/lib/json-schema/match-pattern.ts";
import { parsePattern, samplePattern } from "../../src/lib/json-schema/pattern.ts";

function sample(source: string, repeats: number, variant: number): string | null {
  const pattern = parsePattern(source);
  return pattern === null ? null : samplePattern(pattern, repeats, variant);
}

test.each([
  ["^\\x41\\u0042\\u{43}\\u{1F600}$", "ABC😀"],
  ["^\\t\\.\\/$", "\t./"],
  ["^(?:ab){2}$", "abab"],
])("%s is the text %p", (source, text) => {
  expect(sample(source, 1, 0)).toBe(text);
});

test.each([
  // [pattern, repetitions of an open-ended part, variant, sample]
  ["a*", 0, 0, ""],
  ["a*", 3, 0, "aaa"],
  ["a+", 0, 0, "a"],
  ["a+?", 2, 0, "aa"],
  ["a?", 0, 0, ""],
  ["a?", 3, 0, "a"],
  ["a{2}", 5, 0, "aa"],
  ["a{2,4}", 0, 0, "aa"],
  ["a{2,4}", 3, 0, "aaa"],
  ["a{2,4}", 9, 0, "aaaa"],
  ["a{2,}", 0, 0, "aa"],
  ["a{2,}", 5, 0, "aaaaa"],
  ["a{1}b", 5, 0, "ab"],
  ["x|yy|z", 1, 1, "yy"],
  ["x|yy|z", 1, 3, "x"],
  ["(?<name>a)b", 1, 0, "ab"],
  ["[a-c]", 1, 2, "c"],
  ["[a-c]", 1, 3, "a"],
  ["[a-]", 1, 1, "-"],
  ["[\\d]", 1, 9, "9"],
  ["\\d", 1, 10, "0"],
  ["\\D", 1, 0, "a"],
  ["\\W", 1, 0, "-"],
  ["\\s", 1, 0, " "],
  ["[\\x01-\\x03]", 1, 2, "\u0003"],
  ["[\\x01-\\x03]", 1, 3, "\u0001"],
  ["[^a-z]", 1, 0, "0"],
  ["[^ -~]", 1, 0, "é"],
  [".", 1, 1, "b"],
  ["[^]", 1, 0, "a"],
  ["\\0\\n\\v\\f\\r", 1, 0, "\0\n\v\f\r"],
  ["😀{2}", 1, 0, "😀😀"],
  [`${"a".repeat(1_000)}`, 1, 0, "a".repeat(1_000)],
  ["a{5000}", 1, 0, "a".repeat(5_000)],
] as const)("%s with %p repetitions and variant %p is the text %p", (source, repeats, variant, text) => {
  expect(sample(source, repeats, variant)).toBe(text);
});

test.each(["a{5001}", "(?:){30000}", "(?:a{5000}|b){2}"])("%s has no sample, because it is too long", (source) => {
  expect(sample(source, 1, 0)).toBeNull();
});

test.each([
  "\\u{110000}",
  "\\u{zz}",
  "\\x4",
  "\\q",
  "\\1",
  "\\b",
  "\\",
  "(?=a)",
  "(?<=a)",
  "(?<!a)",
  "(?<name",
  "(a",
  "a)",
  "[a",
  "[]",
  "[\\D]",
  "a{3,2}",
  "^*",
  "$+",
  "*",
  "+",
  "?",
  "{1}",
  "a".repeat(1_001),
])("%s is not supported", (source) => {
  expect(parsePattern(source)).toBeNull();
});

test.each([
  ["abc", 3],
  ["\\d[a-z\\]]", 2],
  ["a{10}", 10],
  ["a{2,7}b", 8],
  ["a{3,}", 3],
  ["a{0}", 1],
  ["(ab){3}", 9],
  ["((a){2}){3}", 15],
  [".{1000}".repeat(5), 5_000],
  [`${".{1000}".repeat(5)}.`, null],
  ["a".repeat(1_000), 1_000],
  ["a".repeat(1_001), null],
] as const)("%s is estimated as %p instructions of the matcher", (source, size) => {
  expect(estimateSize(source)).toBe(size);
});
