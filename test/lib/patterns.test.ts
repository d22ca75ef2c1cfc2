// What a pattern of a schema stands for: the sandbox makes texts that fit it.

import { expect, test } from "bun:test";
import { parsePattern, samplePattern } from "../../src/lib/json-schema/pattern.ts";

test.each([
  ["^\\x41\\u0042\\u{43}\\u{1F600}$", "ABC😀"],
  ["^\\t\\.\\/$", "\t./"],
  ["^(?:ab){2}$", "abab"],
])("%s is the text %p", (source, text) => {
  const pattern = parsePattern(source);
  expect(pattern === null ? null : samplePattern(pattern, 1, 0)).toBe(text);
});

test.each(["\\u{110000}", "\\u{zz}", "\\q", "(?=a)"])("%s is not supported", (source) => {
  expect(parsePattern(source)).toBeNull();
});
