// How a quotation of a model is found in the text, and which offsets the caller gets for it. All texts are invented.

import { describe, expect, test } from "bun:test";
import { createOffsets, createQuotes } from "../../src/engines/llm/quotes.ts";

type Range = readonly [start: number, end: number];

describe("every occurrence of a quotation is found", () => {
  const cases: readonly (readonly [what: string, text: string, quote: string, found: readonly Range[]])[] = [
    // biome-ignore format: one case per line
    ["twice in the text", "Ada saw Ada.", "Ada", [[0, 3], [8, 11]]],
    ["with white space around it", "Ada saw.", " Ada\n", [[0, 3]]],
    ["without any character", "Ada saw.", " ", []],
    ["that the text does not contain", "Ada saw.", "Bob", []],
    ["also inside other words, as a whole word only", "Joann, Anna and Ann", "Ann", [[16, 19]]],
    ["only inside another word", "Annabel", "Anna", [[0, 4]]],
    ["beside digits and underscores", "id7 id_ 7id id", "id", [[12, 14]]],
    ["beside a letter of two UTF-16 units before it", "𝐀x x", "x", [[4, 5]]],
    ["beside a letter of two UTF-16 units after it", "x𝐀 x", "x", [[4, 5]]],
    ["beside an emoji", "a 😀x yx", "x", [[4, 5]]],
    [
      "at the first and at the last character",
      "x, x",
      "x",
      [
        [0, 1],
        [3, 4],
      ],
    ],
    ["inside a script without spaces", "我叫张伟住在", "张伟", [[2, 4]]],
    ["in another case, at the end of the text", "I saw ADA", "ada", [[6, 9]]],
    ["with other white space", "call 06\n \t21 now", "06 21", [[5, 12]]],
    ["after a run of white space", "I    saw ADA", "saw ada", [[5, 12]]],
    ["with curved apostrophes", "It’s ‘Ada’ here", "'ada'", [[5, 10]]],
    ["with curved quotation marks", "He said „Ada“, “Bob”", '"bob"', [[15, 20]]],
    ["after a letter whose lower case is longer", "İİ ADA saw", "ada", [[3, 6]]],
    ["after an emoji, in another case", "😀 ADA saw", "ada", [[3, 6]]],
  ];
  for (const [what, text, quote, found] of cases)
    test(what, () => {
      expect(createQuotes(text).findAll(quote)).toEqual(found.map(([start, end]) => ({ start, end })));
    });
});

test("a quotation is searched from a position on, and from the start when nothing follows", () => {
  const { findFrom } = createQuotes("Ada saw Ada.");
  const startFrom = (from: number) => findFrom("Ada", from)?.start;
  expect([0, 1, 8, 9].map(startFrom)).toEqual([0, 8, 8, 0]);
  expect(findFrom("Bob", 0)).toBeNull();
});

test("offsets and lengths count characters, not UTF-16 units", () => {
  expect(createOffsets("Ada saw")({ start: 4, end: 7 })).toEqual({ offset: 4, length: 3 });
  const toOffset = createOffsets("a😀b😀");
  expect([toOffset({ start: 0, end: 1 }), toOffset({ start: 1, end: 4 }), toOffset({ start: 4, end: 6 })]).toEqual([
    { offset: 0, length: 1 },
    { offset: 1, length: 2 },
    { offset: 3, length: 1 },
  ]);
});
