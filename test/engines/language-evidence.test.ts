// What scripts, letters and everyday words say about the language of a text.

import { describe, expect, test } from "bun:test";
import { everydayWords } from "../../src/engines/local/text/everyday-words.ts";
import { findEvidence } from "../../src/engines/local/text/language-evidence.ts";
import { letters } from "../../src/engines/local/text/language-letters.ts";

describe("the language of a text", () => {
  test("is known from a script that only one language has", () => {
    for (const [text, language] of [
      ["สวัสดี", "th"],
      ["안녕", "ko"],
      ["ආයුබෝවන්", "si"],
      ["お茶とケーキ", "ja"],
      ["東京です", "ja"],
      ["Καλημέρα σας, John", "el"],
    ] as const)
      expect(findEvidence(text).ofScript).toBe(language);
    for (const text of ["hello", "привет", "你好", "123", ""]) expect(findEvidence(text).ofScript).toBeNull();
  });

  test("is unlikely to be one that lacks a letter of it", () => {
    const ukrainian = findEvidence("їжак спить");
    expect(ukrainian.foreignShare("uk")).toBe(0);
    expect(ukrainian.foreignShare("ru")).toBe(0.5);
    expect(ukrainian.foreignShare("en")).toBe(1);
    // The same letter, written as one character or as two.
    for (const text of ["r\u016f\u017ee", "ru\u030az\u030ce"]) {
      expect(findEvidence(text).foreignShare("cs")).toBe(0);
      expect(findEvidence(text).foreignShare("sk")).toBe(1);
    }
    // A foreign name counts as one word of many.
    expect(findEvidence("We met Dvořák in the old town hall").foreignShare("en")).toBe(1 / 8);
  });

  test("is likely to be one whose everyday words it has, the more so the fewer languages have them", () => {
    const danish = findEvidence("hvad vil du gerne");
    expect(danish.everydayShare("da")).toBeGreaterThan(danish.everydayShare("no") + 0.2);
    expect(danish.everydayShare("da")).toBeLessThanOrEqual(1);
    expect(findEvidence("constructor __proto__ toString").languages).toEqual([]);
    expect(findEvidence("").everydayShare("en")).toBe(0);
  });

  test("is judged by the start of a long text", () => {
    expect(findEvidence(`${"слово ".repeat(5_000)} word`).foreignShare("bg")).toBe(0);
  });
});

test("the lists of everyday words use only letters that their language has", () => {
  const faults = Object.entries(everydayWords).flatMap(([tag, list]) => {
    if (letters[tag] === undefined) return [];
    return list
      .split(" ")
      .filter((word) => findEvidence(word).foreignShare(tag) > 0)
      .map((word) => `${tag}: ${word}`);
  });
  expect(faults).toEqual([]);
});

test("the everyday words of a language are found in its texts, and none is listed twice", () => {
  const faults = Object.entries(everydayWords).flatMap(([tag, list]) => {
    const words = list.split(" ");
    return words
      .filter((word, index) => findEvidence(word).everydayShare(tag) === 0 || words.indexOf(word) !== index)
      .map((word) => `${tag}: ${word}`);
  });
  expect(faults).toEqual([]);
});

test("an everyday word with an apostrophe is found with every character for it", () => {
  for (const apostrophe of "'’ʻʼ‘") expect(findEvidence(`ko${apostrophe}p`).everydayShare("uz")).toBeGreaterThan(0);
});
