import { expect, test } from "bun:test";
import { foldCase } from "../../src/engines/local/documents/fold-case.ts";

test("case and accents are removed, and every character stays one character", () => {
  const text = "ÀÉÎõ Straße Łódź İzmir d’été";
  expect(foldCase(text)).toBe("aeio strase lodz izmir d'ete");
  expect(foldCase(text)).toHaveLength(text.length);
});

test("kana and Hangul stay as they are, because without their marks they are other letters", () => {
  for (const text of ["がぎぐ", "パンダ", "한국어", "호텔"]) expect(foldCase(text)).toBe(text);
});
