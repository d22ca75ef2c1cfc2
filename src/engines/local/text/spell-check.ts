import type { JsonObject } from "../../../providers/dialect.ts";
import type { LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { characterOffsets, countCharacters } from "./characters.ts";
import { fastTextPackage } from "./fast-text.ts";
import { loadLanguageDetector, refuseUnlessEnglish, textOf } from "./language.ts";
import { refuseLonger } from "./limits.ts";
import { loadSpelling, type Suggestion, spellingPackages } from "./spelling.ts";
import { loadStopWords, stopWordsPackage } from "./stop-words.ts";

// A suggestion costs some ten milliseconds; a text with more unknown words than this is no English to begin with.
const mostSuggestedWords = 300;
// Addresses, numbers, code and the like are passed over as a whole.
const piece = /[^\s]+/gu;
const notProse = /[@/\\_#<>{}|=~^$%*+\d]|^\w+\.\w+\.\w+|^www\./u;
const word = /[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*/gu;
const latin = /^[\p{Script=Latin}'’\p{M}]+$/u;
const mostCharacters = 250_000;
export const spellCheckPackages = [...spellingPackages, stopWordsPackage, fastTextPackage];

export interface Misspelling {
  readonly text: string;
  /** In UTF-16 units. */
  readonly start: number;
  readonly suggestions: readonly Suggestion[];
}

export type FindMisspellings = (text: string) => Misspelling[];

export const engine: LocalEngine = {
  task: "text/spell_check",
  packages: spellCheckPackages,
  lane: "light",
  lightCharacters: 5_000,
  async load() {
    const detect = await loadLanguageDetector();
    const findMisspellings = await loadSpellCheck();

    return async ({ input }) => {
      refuseUnlessEnglish(input, detect, "checks");
      const text = textOf(input);
      refuseLonger(text, mostCharacters);
      return {
        output: { text, items: toSpellCheckItems(text, findMisspellings(text).map(toMistake)) },
        original: { engine: "nspell, dictionary-en", note: "spelling only, no grammar" },
        units: { char: text.length },
      };
    };
  },
};

export async function loadSpellCheck(): Promise<FindMisspellings> {
  const stopWords = await loadStopWords();
  const spelling = await loadSpelling(stopWords("en"));
  return (text) => {
    const suggested = new Map<string, readonly Suggestion[]>();
    return findUnknown(text, spelling.isRight).map((unknown) => {
      const known = suggested.get(unknown.text);
      if (known !== undefined) return { ...unknown, suggestions: known };
      const isTooMuch = suggested.size >= mostSuggestedWords;
      const suggestions = isTooMuch ? [] : spelling.suggest(unknown.text.replaceAll("’", "'"));
      suggested.set(unknown.text, suggestions);
      return { ...unknown, suggestions };
    });
  };
}

export interface Mistake {
  readonly text: string;
  readonly type: string;
  /** In UTF-16 units. */
  readonly start: number;
  readonly suggestions: readonly { readonly suggestion: string; readonly score: number | null }[];
}

export function toMistake({ text, start, suggestions }: Misspelling): Mistake {
  return {
    text,
    type: "UnknownToken",
    start,
    suggestions: suggestions.map(({ word, likeness }) => ({ suggestion: word, score: round(likeness) })),
  };
}

/** As the task answers them; in the order of the text, which the offsets need. */
export function toSpellCheckItems(text: string, mistakes: readonly Mistake[]): JsonObject[] {
  const offsetOf = characterOffsets(text);
  return mistakes.map(({ start, ...mistake }) => ({
    text: mistake.text,
    type: mistake.type,
    offset: offsetOf(start),
    length: countCharacters(mistake.text),
    suggestions: mistake.suggestions,
  }));
}

function findUnknown(text: string, isRight: (word: string) => boolean): { text: string; start: number }[] {
  const unknown: { text: string; start: number }[] = [];
  let startsSentence = true;
  for (const { 0: run, index } of text.matchAll(piece)) {
    if (!notProse.test(run)) {
      for (const { 0: found, index: inRun } of run.matchAll(word)) {
        if (isToCheck(found, startsSentence) && !isRight(found.replaceAll("’", "'"))) {
          unknown.push({ text: found, start: index + inRun });
        }
        startsSentence = false;
      }
    }
    startsSentence = /[.!?:…]["'”’)]*$/u.test(run);
  }
  return unknown;
}

/** Names and abbreviations are in no dictionary, and are not misspelt for that. */
function isToCheck(found: string, startsSentence: boolean): boolean {
  if (found.length < 2 || !latin.test(found)) return false;
  if (found === found.toUpperCase()) return false;
  const isCapitalised = /^\p{Lu}/u.test(found);
  if (/\p{Lu}/u.test(found.slice(1))) return false;
  return !isCapitalised || startsSentence;
}
