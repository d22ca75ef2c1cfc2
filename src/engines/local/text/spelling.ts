// The English dictionary: whether a word is in it, and which of its words somebody may have meant.

import { readModelFile } from "../checksums.ts";
import { importPackage } from "../resolve-package.ts";

export const spellingPackages = ["nspell", "dictionary-en"];

export interface Spelling {
  isRight(word: string): boolean;
  suggest(word: string): readonly Suggestion[];
}

export interface Suggestion {
  readonly word: string;
  /** 1: the same word; each slip takes from it. */
  readonly likeness: number;
}

/** The parts of the package that we call. `data` holds every form of every word. */
type Nspell = (dictionary: { aff: Buffer; dic: Buffer }) => {
  correct(word: string): boolean;
  readonly data: Readonly<Record<string, unknown>>;
};

const mostSuggestions = 5;
const longestWord = 24;
// One slip first: to look for two takes ten times as long, and is seldom needed.
const slipLimits = [1.5, 2.5];

/** The dictionary is American. A word is right as well when its American form is. */
const british: readonly (readonly [RegExp, string])[] = [
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

export async function loadSpelling(commonWords: ReadonlySet<string>): Promise<Spelling> {
  const { default: nspell } = await importPackage<{ default: Nspell }>("nspell");
  const aff = await readModelFile("dictionary-en", "index.aff");
  const dic = await readModelFile("dictionary-en", "index.dic");
  const dictionary = nspell({ aff: Buffer.from(aff.bytes), dic: Buffer.from(dic.bytes) });
  const byLength = groupByLength(Object.keys(dictionary.data));

  function isRight(word: string): boolean {
    if (dictionary.correct(word)) return true;
    const lower = word.toLowerCase();
    return british.some(([form, american]) => {
      const other = lower.replace(form, american);
      return other !== lower && dictionary.correct(other);
    });
  }

  function findNear(word: string, most: number): Near[] {
    const letters = lettersOf(word);
    const found: Near[] = [];
    for (let length = word.length - 2; length <= word.length + 2; length++) {
      for (const candidate of byLength.get(length) ?? []) {
        // Each slip changes two letters of the set at most: this spares the comparison of nearly all words.
        if (countBits(letters ^ candidate.letters) > 2 * most) continue;
        const slips = countSlips(word, candidate.word, most);
        if (slips > most) continue;
        found.push({ word: candidate.word, slips, isCommon: commonWords.has(candidate.word) });
      }
    }
    return found;
  }

  function suggest(word: string): Suggestion[] {
    if (word.length > longestWord) return [];
    const lower = word.toLowerCase();
    let found: Near[] = [];
    for (const limit of slipLimits) if (found.length === 0) found = findNear(lower, limit);
    const cost = (one: Pick<Near, "slips" | "isCommon">) => one.slips - (one.isCommon ? 0.3 : 0);
    found.sort((a, b) => cost(a) - cost(b) || a.word.length - b.word.length || (a.word < b.word ? -1 : 1));
    const best = cost(found[0] ?? { slips: 0, isCommon: false });
    return found
      .filter((one) => cost(one) <= best + 1)
      .slice(0, mostSuggestions)
      .map((one) => ({
        word: likeCase(word, one.word),
        likeness: Math.max(0, 1 - one.slips / Math.max(lower.length, one.word.length)),
      }));
  }

  return { isRight, suggest };
}

interface Near {
  readonly word: string;
  readonly slips: number;
  readonly isCommon: boolean;
}

interface Candidate {
  readonly word: string;
  /** Which letters it has, a bit for each. */
  readonly letters: number;
}

function groupByLength(words: readonly string[]): ReadonlyMap<number, readonly Candidate[]> {
  const groups = new Map<number, Candidate[]>();
  for (const word of words) {
    // Possessives and names are no help to somebody who cannot spell a word.
    if (!/^[a-z]+(?:'[a-z]+)?$/.test(word) || word.endsWith("'s")) continue;
    const candidate = { word, letters: lettersOf(word) };
    const group = groups.get(word.length);
    if (group === undefined) groups.set(word.length, [candidate]);
    else group.push(candidate);
  }
  return groups;
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

const vowels = new Set("aeiouy");
const soundAlike = new Set(["ck", "kc", "cs", "sc", "sz", "zs", "fv", "vf", "gj", "jg", "td", "dt", "mn", "nm"]);

/** What lies between two words, in slips of the pen: exchanged neighbours and doubled letters are small ones. Above `most` it stops early. */
function countSlips(typed: string, meant: string, most: number): number {
  if (Math.abs(typed.length - meant.length) > most) return Number.POSITIVE_INFINITY;
  // Hardly anybody gets the first letter wrong.
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
      const wanted = meant[column - 1] ?? "";
      const tooMany = at(row - 1, column) + (letter === typed[row - 2] ? 0.6 : 1);
      const missing = at(row, column - 1) + (wanted === meant[column - 2] ? 0.6 : 1);
      let slips = Math.min(tooMany, missing, at(row - 1, column - 1) + replaceCost(letter, wanted));
      const isExchanged = row > 1 && column > 1 && letter === meant[column - 2] && typed[row - 2] === wanted;
      if (isExchanged) slips = Math.min(slips, at(row - 2, column - 2) + 0.7);
      table[row * width + column] = slips;
      if (slips < least) least = slips;
    }
    if (least > most) return Number.POSITIVE_INFINITY;
  }
  return at(typed.length, meant.length) + first;
}

function replaceCost(letter: string, wanted: string): number {
  if (letter === wanted) return 0;
  if (vowels.has(letter) && vowels.has(wanted)) return 0.8;
  return soundAlike.has(letter + wanted) ? 0.8 : 1.1;
}

function likeCase(model: string, word: string): string {
  if (model.length > 1 && model === model.toUpperCase()) return word.toUpperCase();
  return /^\p{Lu}/u.test(model) ? word.charAt(0).toUpperCase() + word.slice(1) : word;
}
