// What the dictionary and the rules of grammar found is merged: each place is reported once, and no suggestion twice.

import { expect, test } from "bun:test";
import { mergeMistakes } from "../../src/engines/local/text/merge-mistakes.ts";

function toMistake(text: string, start: number, type: string, ...suggestions: string[]) {
  return { text, start, type, suggestions: suggestions.map((suggestion) => ({ suggestion, score: null })) };
}

test("the suggestions of a rule for a misspelt word follow those of the dictionary, without repetition", () => {
  const misspelt = toMistake("alot", 4, "UnknownToken", "allot", "a lot");
  const byRule = toMistake("alot", 4, "WordChoice", "a lot", "lots");
  expect(mergeMistakes([misspelt], [byRule])).toEqual([toMistake("alot", 4, "UnknownToken", "allot", "a lot", "lots")]);
});

test("a rule for other words at the same place, or the same word elsewhere, adds no suggestion", () => {
  const misspelt = toMistake("alot", 4, "UnknownToken", "allot");
  const longer = toMistake("alot of", 4, "WordChoice", "many");
  const later = toMistake("alot", 20, "WordChoice", "lots");
  expect(mergeMistakes([misspelt], [longer, later])).toEqual([misspelt, later]);
});

test("a mistake that shares a character with a misspelling is left out, and one that begins at its end is not", () => {
  const misspelt = toMistake("wrod", 5, "UnknownToken", "word");
  const before = toMistake("in a ", 0, "Grammar", "in the ");
  const across = toMistake("a w", 3, "Grammar", "the w");
  const inside = toMistake("ro", 6, "Grammar", "or");
  const after = toMistake(" of", 9, "Grammar", " off");
  expect(mergeMistakes([misspelt], [after, across, inside, before])).toEqual([before, misspelt, after]);
});
