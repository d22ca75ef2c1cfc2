// The English dictionary: checks words, and suggests words that are close to a misspelt one.

import { readModelFile } from "../checksums.ts";
import { round } from "../numbers.ts";
import { importPackage } from "../resolve-package.ts";

export const spellingPackages = ["nspell", "dictionary-en"];

export interface Spelling {
  isCorrect(word: string): boolean;
  suggest(word: string): readonly Suggestion[];
}

export interface Suggestion {
  readonly suggestion: string;
  /** 1 for the same word, less for each edit; null: unknown. */
  readonly score: number | null;
}

/** The parts of the package that we call. `data` holds every form of every word. */
type Nspell = (dictionary: { aff: Buffer; dic: Buffer }) => {
  correct(word: string): boolean;
  readonly data: Readonly<Record<string, unknown>>;
};

interface Candidate {
  readonly word: string;
  /** The set of its letters, one bit for each. */
  readonly letters: number;
}

interface CloseWord {
  readonly word: string;
  readonly distance: number;
  /** The distance, reduced for common words. */
  readonly cost: number;
}

// The search for a single edit comes first, because the search for two takes ten times as long and is seldom needed.
const maxDistances = [1.5, 2.5];

/** British forms and their American ones. The dictionary is American, so a word is also correct if its American form is. */
const britishForms: readonly (readonly [RegExp, string])[] = [
  [/our/, "or"],
  [/is(e[drs]?|ing|ation|ations)$/, "iz$1"],
  [/ys(e[drs]?|ing)$/, "yz$1"],
  [/tre(s?)$/, "ter$1"],
  [/ll(ed|ing|er|ers)$/, "l$1"],
  [/l(ment|ful|fully|ments)$/, "ll$1"],
  [/ogue(s?)$/, "og$1"],
  [/ence(s?)$/, "ense$1"],
  [/mme(s?)$/, "m$1"],
  [/ae/, "e"],
  [/oe/, "e"],
  [/que(s?)$/, "ck$1"],
  [/grey/, "gray"],
];
const vowels = new Set("aeiouy");

const maxSuggestions = 5;
const maxWordLength = 24;

export async function loadSpelling(commonWords: ReadonlySet<string>): Promise<Spelling> {
  const { default: nspell } = await importPackage<{ default: Nspell }>("nspell");
  const aff = await readModelFile("dictionary-en", "index.aff");
  const dic = await readModelFile("dictionary-en", "index.dic");
  const dictionary = nspell({ aff: Buffer.from(aff.bytes), dic: Buffer.from(dic.bytes) });
  const candidates = toCandidates(Object.keys(dictionary.data));

  function findClose(word: string, maxDistance: number): CloseWord[] {
    const letters = lettersOf(word);
    const found: CloseWord[] = [];
    for (let length = word.length - 2; length <= word.length + 2; length++) {
      for (const candidate of candidates.get(length) ?? []) {
        // An edit changes at most two letters of the set. This excludes nearly all words before the slower comparison.
        if (countBits(letters ^ candidate.letters) > 2 * maxDistance) continue;
        const distance = editDistance(word, candidate.word, maxDistance);
        if (distance > maxDistance) continue;
        const cost = distance - (commonWords.has(candidate.word) ? 0.3 : 0);
        found.push({ word: candidate.word, distance, cost });
      }
    }
    return found.sort((a, b) => a.cost - b.cost || a.word.length - b.word.length || (a.word < b.word ? -1 : 1));
  }

  return {
    isCorrect(word) {
      if (dictionary.correct(word)) return true;
      const lower = word.toLowerCase();
      const americanForms = britishForms.map(([british, american]) => lower.replace(british, american));
      return americanForms.some((form) => form !== lower && dictionary.correct(form));
    },
    suggest(word) {
      if (word.length > maxWordLength) return [];
      const lower = word.toLowerCase();
      let found: CloseWord[] = [];
      for (const maxDistance of maxDistances) if (found.length === 0) found = findClose(lower, maxDistance);
      const best = found[0]?.cost ?? 0;
      const close = found.filter(({ cost }) => cost <= best + 1).slice(0, maxSuggestions);
      return close.map((one) => ({
        suggestion: copyCase(word, one.word),
        score: round(Math.max(0, 1 - one.distance / Math.max(lower.length, one.word.length))),
      }));
    },
  };
}

/** Groups words by length. Possessives and names are never suggested. */
function toCandidates(words: readonly string[]): ReadonlyMap<number, readonly Candidate[]> {
  const suggested = words.filter((word) => /^[a-z]+(?:'[a-z]+)?$/.test(word) && !word.endsWith("'s"));
  const candidates = suggested.map((word) => ({ word, letters: lettersOf(word) }));
  return Map.groupBy(candidates, ({ word }) => word.length);
}

function lettersOf(word: string): number {
  let letters = 0;
  for (let index = 0; index < word.length; index++) letters |= 1 << (word.charCodeAt(index) - 97);
  return letters;
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** A weighted Damerau-Levenshtein distance: swapped and doubled letters cost less. Infinity as soon as it exceeds the maximum. */
function editDistance(typed: string, meant: string, maxDistance: number): number {
  if (Math.abs(typed.length - meant.length) > maxDistance) return Number.POSITIVE_INFINITY;
  // A wrong first letter is rare.
  const first = typed[0] === meant[0] || typed[0] === meant[1] || typed[1] === meant[0] ? 0 : 0.7;
  const width = meant.length + 1;
  const table = new Float64Array((typed.length + 1) * width);
  const at = (row: number, column: number) => table[row * width + column] ?? 0;
  for (let column = 0; column < width; column++) table[column] = column;
  for (let row = 1; row <= typed.length; row++) {
    table[row * width] = row;
    let least = row;
    const letter = typed[row - 1] ?? "";
    for (let column = 1; column < width; column++) {
      const expected = meant[column - 1] ?? "";
      const deletion = at(row - 1, column) + (letter === typed[row - 2] ? 0.6 : 1);
      const insertion = at(row, column - 1) + (expected === meant[column - 2] ? 0.6 : 1);
      let distance = Math.min(deletion, insertion, at(row - 1, column - 1) + replaceCost(letter, expected));
      const isSwapped = row > 1 && column > 1 && letter === meant[column - 2] && typed[row - 2] === expected;
      if (isSwapped) distance = Math.min(distance, at(row - 2, column - 2) + 0.7);
      table[row * width + column] = distance;
      if (distance < least) least = distance;
    }
    if (least > maxDistance) return Number.POSITIVE_INFINITY;
  }
  return at(typed.length, meant.length) + first;
}

const similarSounds = new Set(["ck", "kc", "cs", "sc", "sz", "zs", "fv", "vf", "gj", "jg", "td", "dt", "mn", "nm"]);

function replaceCost(letter: string, expected: string): number {
  if (letter === expected) return 0;
  if (vowels.has(letter) && vowels.has(expected)) return 0.8;
  return similarSounds.has(letter + expected) ? 0.8 : 1.1;
}

function copyCase(model: string, word: string): string {
  if (model.length > 1 && model === model.toUpperCase()) return word.toUpperCase();
  return /^\p{Lu}/u.test(model) ? word.charAt(0).toUpperCase() + word.slice(1) : word;
}
