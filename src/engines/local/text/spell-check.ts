import type { LocalEngine } from "../local-engine.ts";
import { characterOffsets, countCharacters } from "./characters.ts";
import { fastTextPackage } from "./fast-text.ts";
import { loadLanguageDetector, refuseUnlessEnglish, textOf } from "./language.ts";
import { refuseLonger } from "./limits.ts";
import { round } from "./numbers.ts";
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

export const engine: LocalEngine = {
  task: "text/spell_check",
  packages: [...spellingPackages, stopWordsPackage, fastTextPackage],
  lane: "light",
  lightCharacters: 5_000,
  async load() {
    const detect = await loadLanguageDetector();
    const stopWords = await loadStopWords();
    const spelling = await loadSpelling(stopWords("en"));

    return async ({ input }) => {
      refuseUnlessEnglish(input, detect, "checks");
      const text = textOf(input);
      refuseLonger(text, mostCharacters);
      const offsetOf = characterOffsets(text);
      const suggested = new Map<string, readonly Suggestion[]>();
      const items = findUnknown(text, spelling.isRight).map(({ text: unknown, start }) => {
        const suggestions = suggestionsFor(unknown);
        return {
          text: unknown,
          type: "UnknownToken",
          offset: offsetOf(start),
          length: countCharacters(unknown),
          suggestions: suggestions.map(({ word, likeness }) => ({ suggestion: word, score: round(likeness) })),
        };
      });
      return {
        output: { text, items },
        original: { engine: "nspell, dictionary-en", note: "spelling only, no grammar" },
        units: { char: text.length },
      };

      function suggestionsFor(unknown: string): readonly Suggestion[] {
        const known = suggested.get(unknown);
        if (known !== undefined) return known;
        const found = suggested.size < mostSuggestedWords ? spelling.suggest(unknown.replaceAll("’", "'")) : [];
        suggested.set(unknown, found);
        return found;
      }
    };
  },
};

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
