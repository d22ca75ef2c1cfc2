// What scripts, letters and everyday words say about the language of a text. Models of n-grams are unsure of texts of a few words.

import { everydayWords } from "./everyday-words.ts";
import { alsoLatin, letters, scripts } from "./language-letters.ts";

export interface LanguageEvidence {
  /** The languages for which something speaks. */
  readonly languages: readonly string[];
  /** The only language of the script of the text. */
  readonly ofScript: string | null;
  /** The share of the words that are everyday words of the language, 0 to 1. A word that several languages have counts less. */
  everydayShare(tag: string): number;
  /** The share of the words with a letter that the language does not have, 0 to 1. */
  foreignShare(tag: string): number;
}

/** The start of a long text is enough. */
const maxCharacters = 10_000;
/** Of the letters, so that a name in another script does not matter. */
const minShareOfScript = 0.7;
const wordPattern = /[\p{L}\p{M}]+(?:['’ʼʻ‘\u200c·-][\p{L}\p{M}]+)*/gu;

const languagesByScript = new Map(scripts.map(([script, languages]) => [script, languages.split(" ")]));
const scriptPatterns = scripts.map(([script]) => ({ script, pattern: new RegExp(`\\p{Script=${script}}`, "gu") }));
const scriptsByLanguage = new Map<string, ReadonlySet<string>>();
for (const [script, languages] of languagesByScript)
  for (const tag of languages) scriptsByLanguage.set(tag, new Set([...(scriptsByLanguage.get(tag) ?? []), script]));
const lettersByLanguage = new Map(
  Object.entries(letters).map(([tag, known]) => [tag, new Set(known.normalize("NFC"))]),
);

/** The languages that have the word, and how much it says: 1 for a word of one language. */
const wordsByText = readWords();

function readWords(): ReadonlyMap<string, { readonly languages: readonly string[]; readonly weight: number }> {
  const languagesOf = new Map<string, Set<string>>();
  for (const [tag, list] of Object.entries(everydayWords))
    for (const word of list.split(" ")) languagesOf.set(word, (languagesOf.get(word) ?? new Set()).add(tag));
  const count = Object.keys(everydayWords).length;
  const entries = Array.from(languagesOf, ([word, languages]) => {
    const weight = Math.log(1 + count / languages.size) / Math.log(1 + count);
    return [word, { languages: [...languages], weight }] as const;
  });
  return new Map(entries);
}

export function findEvidence(text: string): LanguageEvidence {
  const start = text.slice(0, maxCharacters).normalize("NFC").toLowerCase();
  const words = Array.from(start.matchAll(wordPattern), ([word]) => word.replaceAll("’", "'"));
  const script = mainScriptOf(start);
  const weights = new Map<string, number>();
  for (const word of words) {
    const known = wordsByText.get(word.replace(/[ʼʻ‘]/g, "'"));
    for (const tag of known?.languages ?? []) weights.set(tag, (weights.get(tag) ?? 0) + (known?.weight ?? 0));
  }
  const ofScript = script === null ? [] : (languagesByScript.get(script) ?? []);
  // Words repeat their letters, so each combination is compared once.
  const unusual = words.map((word) =>
    [...new Set(word)].filter((letter) => /[^\x00-\x7f]/.test(letter) && /\p{L}/u.test(letter)),
  );

  return {
    languages: [...new Set([...weights.keys(), ...ofScript])],
    ofScript: ofScript.length === 1 ? (ofScript[0] ?? null) : null,
    everydayShare: (tag) => (words.length === 0 ? 0 : (weights.get(tag) ?? 0) / words.length),
    foreignShare(tag) {
      if (words.length === 0) return 0;
      if (script !== null && !isWrittenIn(tag, script)) return 1;
      const own = lettersByLanguage.get(tag);
      if (own === undefined) return 0;
      return unusual.filter((found) => found.some((letter) => !own.has(letter))).length / words.length;
    },
  };
}

/** The script of most letters; null for a text without letters. */
function mainScriptOf(text: string): string | null {
  const all = text.match(/\p{L}/gu)?.length ?? 0;
  if (all === 0) return null;
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  // Japanese is written in three scripts, and a few syllables are enough to tell it from Chinese.
  const kana = count(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu);
  if (kana > 0 && kana + count(/\p{Script=Han}/gu) >= all * minShareOfScript) return "Hiragana";
  if (count(/\p{Script=Latin}/gu) >= all * minShareOfScript) return latin;
  return scriptPatterns.find(({ pattern }) => count(pattern) >= all * minShareOfScript)?.script ?? null;
}

const latin = "Latin";

function isWrittenIn(tag: string, script: string): boolean {
  const own = scriptsByLanguage.get(tag);
  if (own === undefined) return script === latin;
  return own.has(script) || (script === latin && alsoLatin.has(tag));
}
