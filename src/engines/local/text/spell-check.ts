// text/spell_check by an English dictionary. It checks the spelling and not the grammar.

import { characterOffsets, countCharacters } from "./characters.ts";
import type { Span } from "./sentences.ts";
import { loadSpelling, type Suggestion, spellingPackages } from "./spelling.ts";
import { loadStopWords, stopWordsPackage } from "./stop-words.ts";
import { createTextEngine } from "./text-engine.ts";

export interface Mistake extends Span {
  readonly type: string;
  readonly suggestions: readonly Suggestion[];
}

interface SpellCheck {
  /** In the order of the text. */
  findMisspellings(text: string): Mistake[];
  /** Every word of the replacement is in the dictionary, or was in the text before. */
  keepsSpelling(replaced: string, replacement: string): boolean;
}

// The suggestions for a word take about ten milliseconds. A text with more unknown words than this is not English.
const maxWordsWithSuggestions = 300;
/** Addresses, numbers and code are not checked. */
const notProse = /[@/\\_#<>{}|=~^$%*+\d]|^\w+\.\w+\.\w+|^www\./u;
const word = /[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*/gu;
const latin = /^[\p{Script=Latin}'’\p{M}]+$/u;
export const spellCheckPackages = [...spellingPackages, stopWordsPackage];

export const spellCheck = createTextEngine({
  task: "text/spell_check",
  packages: spellCheckPackages,
  englishOnly: "checks",
  maxCharacters: 250_000,
  lightCharacters: 5_000,
  async load() {
    const { findMisspellings } = await loadSpellCheck();
    return (text) => ({
      output: { text, items: toSpellCheckItems(text, findMisspellings(text)) },
      original: { engine: "nspell, dictionary-en", note: "spelling only, no grammar" },
    });
  },
});

export async function loadSpellCheck(): Promise<SpellCheck> {
  const stopWords = await loadStopWords();
  const { isCorrect, suggest } = await loadSpelling(stopWords("en"));
  return {
    findMisspellings(text) {
      const known = new Map<string, readonly Suggestion[]>();
      return findUnknown(text, isCorrect).map((unknown) => {
        let suggestions = known.get(unknown.text);
        if (suggestions === undefined) {
          suggestions = known.size < maxWordsWithSuggestions ? suggest(unknown.text.replaceAll("’", "'")) : [];
          known.set(unknown.text, suggestions);
        }
        return { ...unknown, type: "UnknownToken", suggestions };
      });
    },
    keepsSpelling(replaced, replacement) {
      const before = new Set(wordsOf(replaced.toLowerCase()));
      return wordsOf(replacement).every((one) => before.has(one.toLowerCase()) || isCorrect(one));
    },
  };
}

/** The mistakes must be in the order of the text, because offsets are counted from the start. */
export function toSpellCheckItems(text: string, mistakes: readonly Mistake[]) {
  const offsetOf = characterOffsets(text);
  return mistakes.map(({ start, ...mistake }) => ({
    ...mistake,
    offset: offsetOf(start),
    length: countCharacters(mistake.text),
  }));
}

function findUnknown(text: string, isCorrect: (word: string) => boolean): Span[] {
  const unknown: Span[] = [];
  let startsSentence = true;
  for (const { 0: run, index } of text.matchAll(/[^\s]+/gu)) {
    if (!notProse.test(run)) {
      for (const { 0: found, index: inRun } of run.matchAll(word)) {
        if (shouldCheck(found, startsSentence) && !isCorrect(found.replaceAll("’", "'")))
          unknown.push({ text: found, start: index + inRun });
        startsSentence = false;
      }
    }
    startsSentence = /[.!?:…]["'”’)]*$/u.test(run);
  }
  return unknown;
}

function wordsOf(text: string): string[] {
  return (text.match(word) ?? []).map((one) => one.replaceAll("’", "'"));
}

/** Names and abbreviations are not in the dictionary, so words in capitals are checked only at the start of a sentence. */
function shouldCheck(found: string, startsSentence: boolean): boolean {
  if (found.length < 2 || !latin.test(found) || found === found.toUpperCase()) return false;
  if (/\p{Lu}/u.test(found.slice(1))) return false;
  return startsSentence || !/^\p{Lu}/u.test(found);
}
