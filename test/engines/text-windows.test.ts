// Long texts are split into windows. Nothing of them is lost, and words stay whole where possible.

import { describe, expect, test } from "bun:test";
import { splitWindows } from "../../src/engines/local/text/windows.ts";

const textsOf = (text: string, maxCharacters?: number) =>
  splitWindows(text, maxCharacters).map((window) => window.text);

describe("a text is split", () => {
  test.each([
    ["not at all if it is short enough", "One two.", ["One two."]],
    ["after a sentence", "One two. Three", ["One two. ", "Three"]],
    ["after a question", "One two? Three", ["One two? ", "Three"]],
    ["after an exclamation", "One two! Three", ["One two! ", "Three"]],
    ["after a line", "One two\nThree", ["One two\n", "Three"]],
    ["at the last space if the sentence ends in the first half", "A. Two three", ["A. Two ", "three"]],
    ["anywhere if it has no space", "abcdefghijklmno", ["abcdefghij", "klmno"]],
    ["before a character of two units that would be cut", "abcdefghi😀klm", ["abcdefghi", "😀klm"]],
    ["after a character of two units that fits", "abcdefgh😀klm", ["abcdefgh😀", "klm"]],
  ])("%s", (_, text, windows) => {
    expect(textsOf(text, 10)).toEqual(windows);
  });

  test.each([
    ["a tab", "\t"],
    ["a line feed", "\n"],
    ["a carriage return", "\r"],
    ["a no-break space", "\u00a0"],
    ["an en quad", "\u2000"],
    ["a hair space", "\u200a"],
    ["a line separator", "\u2028"],
    ["an ideographic space", "\u3000"],
  ])("at %s", (_, space) => {
    expect(textsOf(`One${space}Threefour`, 10)).toEqual([`One${space}`, "Threefour"]);
  });

  test.each([
    ["a backspace", "\b"],
    ["a shift out", "\u000e"],
    ["a zero width space", "\u200b"],
    ["a letter of the supplementary planes", "\u{10000}"],
    ["a last one of a pair", "\u{103ff}"],
  ])("not at %s", (_, character) => {
    expect(textsOf(`One${character}Three`, 6)).not.toContain(`One${character}`);
    expect(textsOf(`One${character}Three`, 6).join("")).toBe(`One${character}Three`);
  });
});

test("no window is longer than the maximum, and the joined windows are the text", () => {
  const text = "The quay is closed. Boats lie in the harbour until May! 😀😀😀\nWho asks? ".repeat(40);
  for (const maxCharacters of [20, 50, 333]) {
    const windows = splitWindows(text, maxCharacters);
    expect(windows.map((window) => window.text).join("")).toBe(text);
    for (const window of windows) {
      expect(text.slice(window.start, window.start + window.text.length)).toBe(window.text);
      expect(window.text.length).toBeLessThanOrEqual(maxCharacters);
      expect(window.text.isWellFormed()).toBe(true);
    }
  }
  expect(splitWindows("")).toEqual([]);
});

test("a run of 256 characters without a space is a window of its own, and no character of two units is cut", () => {
  expect(textsOf(`${"a".repeat(600)} b`).map(({ length }) => length)).toEqual([256, 256, 90]);
  expect(textsOf(`${"a".repeat(256)} b`)).toHaveLength(1);
  expect(textsOf(`${"a".repeat(255)}😀${"b".repeat(10)}`).map(({ length }) => length)).toEqual([257, 10]);
});
