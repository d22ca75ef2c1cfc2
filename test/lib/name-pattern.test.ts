import { expect, test } from "bun:test";
import { fitsPattern } from "../../src/lib/name-pattern.ts";

test.each([
  ["openai/gpt-5", "openai/*", true],
  ["openai/", "openai/*", true],
  ["openai", "openai/*", false],
  ["openai/gpt-5", "openai/gpt-5", true],
  ["openai/gpt-5-mini", "openai/gpt-5", false],
  ["openai/gpt-5", "*", true],
  ["openai/gpt-5", "*/gpt-*", true],
  ["openai/gpt-5", "*gpt-5*", true],
  ["openai/gpt-5", "**5", true],
  ["openai/gpt-5.1", "openai/gpt.5*", false],
  ["aba", "ab*ba", false],
  ["abba", "ab*ba", true],
  ["", "*", true],
  ["a", "", false],
])("%s fits %s: %p", (name, pattern, expected) => {
  expect(fitsPattern(name, pattern)).toBe(expected);
});

test("it decides as a regular expression does, for all short names and patterns", () => {
  const texts = (letters: string, length: number): string[] =>
    length === 0
      ? [""]
      : texts(letters, length - 1).flatMap((text) => [text, ...[...letters].map((one) => text + one)]);
  const names = [...new Set(texts("ab", 4))];
  for (const pattern of new Set(texts("ab*", 4))) {
    const expression = new RegExp(`^${pattern.replaceAll("*", ".*")}$`);
    for (const name of names)
      expect([name, pattern, fitsPattern(name, pattern)]).toEqual([name, pattern, expression.test(name)]);
  }
});

test("a pattern with many asterisks ends, whatever the name", () => {
  // A regular expression would try every way to divide the name.
  expect(fitsPattern(`${"a".repeat(255)}b`, `${"a*".repeat(127)}c`)).toBe(false);
});
