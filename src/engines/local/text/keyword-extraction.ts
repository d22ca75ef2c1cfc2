// text/keyword_extraction: key phrases, scored by the frequency and position of their words. In English, parts of speech delimit the phrases;
// in other languages, stop words do.

import { round } from "../numbers.ts";
import { type EnglishModel, englishModelPackages, loadEnglishModel } from "./english-model.ts";
import { fastTextPackage } from "./fast-text.ts";
import { findLanguage, isEnglish, loadLanguageDetector } from "./language.ts";
import { splitSentences, splitWords } from "./sentences.ts";
import { loadStopWords, stopWordsPackage } from "./stop-words.ts";
import { createTextEngine } from "./text-engine.ts";

export interface Phrase {
  /** As written at its first occurrence. */
  readonly text: string;
  /** Lemmas in English, otherwise words in lower case. */
  readonly words: readonly string[];
  readonly order: number;
  /** It is not a part of a longer phrase. */
  readonly isWhole: boolean;
}

export interface Keyword {
  readonly phrase: Phrase;
  readonly count: number;
  readonly score: number;
}

interface Word {
  text: string;
  lemma: string;
  isNoun: boolean;
}

export const maxKeywords = 20;
const maxWords = 4;
const minWordLength = 3;
/** Languages that are written without spaces. Their words are short. */
const unspaced = /^(?:zh|ja|th|lo|km|my|yue|wuu)(?:[-_]|$)/i;

export const keywordExtraction = createTextEngine({
  task: "text/keyword_extraction",
  packages: [...englishModelPackages, stopWordsPackage, fastTextPackage],
  async load() {
    const detect = await loadLanguageDetector();
    const model = await loadEnglishModel();
    const stopWords = await loadStopWords();
    return (text, { input }) => {
      const language = findLanguage(input.language, text, detect) ?? detect(text)[0]?.tag ?? "en";
      const phrases = isEnglish(language)
        ? findEnglishPhrases(text, model, stopWords("en"))
        : findPhrases(text, language, stopWords(language));
      const keywords = withoutParts(rank(phrases));
      const best = keywords[0]?.score ?? 1;
      const items = keywords.map(({ phrase, score }) => ({ keyword: phrase.text, importance: round(score / best) }));
      return { output: { items }, original: { engine: "phrases by parts of speech and stop words", language } };
    };
  },
});

export function findEnglishPhrases(text: string, model: EnglishModel, stopWords: ReadonlySet<string>): Phrase[] {
  const runs: Word[][] = [[]];
  let isJoined = false;
  for (const { text: word, partOfSpeech, lemma, isHyphen } of model.read(text).tokens) {
    const run = runs.at(-1) ?? [];
    const last = run.at(-1);
    if (isHyphen) {
      isJoined = last !== undefined;
      continue;
    }
    const lower = word.toLowerCase();
    const isNoun = partOfSpeech === "NOUN" || partOfSpeech === "PROPN";
    if (isJoined && last !== undefined) {
      last.text += `-${word}`;
      last.lemma += `-${lower}`;
      last.isNoun = isNoun;
    } else if ((isNoun || partOfSpeech === "ADJ") && /\p{L}/u.test(word) && !stopWords.has(lower)) {
      run.push({ text: word, lemma: (isNoun ? lemma : word).toLowerCase(), isNoun });
    } else if (run.length > 0) runs.push([]);
    isJoined = false;
  }
  return runs
    .flatMap(splitLongRun)
    .flatMap(toPhrases)
    .map((phrase, order) => ({ ...phrase, order }));
}

/** A run that is too long for one phrase is split where an adjective follows a noun. */
function splitLongRun(run: Word[]): Word[][] {
  if (run.length <= maxWords) return [run];
  const runs: Word[][] = [[]];
  for (const [index, word] of run.entries()) {
    if (!word.isNoun && run[index - 1]?.isNoun === true) runs.push([]);
    runs.at(-1)?.push(word);
  }
  return runs;
}

/** The run itself, and its parts that end with a noun. */
function toPhrases(run: readonly Word[]): Omit<Phrase, "order">[] {
  const phrases: Omit<Phrase, "order">[] = [];
  for (let start = 0; start < run.length; start++) {
    for (let end = Math.min(run.length, start + maxWords); end > start; end--) {
      const words = run.slice(start, end);
      if (words.at(-1)?.isNoun !== true) continue;
      if (words.length === 1 && (words[0]?.text.length ?? 0) < minWordLength) continue;
      const text = words.map((word) => word.text).join(" ");
      const isWhole = start === 0 && end === Math.min(run.length, maxWords);
      phrases.push({ text, words: words.map(({ lemma }) => lemma), isWhole });
    }
  }
  return phrases;
}

function findPhrases(text: string, language: string, stopWords: ReadonlySet<string>): Phrase[] {
  const phrases: Phrase[] = [];
  const isUnspaced = unspaced.test(language);
  const minLength = isUnspaced ? 1 : minWordLength;
  for (const sentence of splitSentences(text)) {
    let open: string[] = [];
    let end = -1;
    for (const { text: word, start } of splitWords(sentence.text, language)) {
      const isAdjacent = end >= 0 && sentence.text.slice(end, start).trim() === "";
      end = start + word.length;
      const fits = word.length >= minLength && /\p{L}/u.test(word) && !stopWords.has(word.toLowerCase());
      if (!fits || !isAdjacent || open.length >= maxWords) open = close(open);
      if (fits) open.push(word);
    }
    close(open);
  }
  return phrases;

  function close(words: string[]): string[] {
    if (words.length > 1 || (words[0]?.length ?? 0) > 1) {
      const lower = words.map((word) => word.toLowerCase());
      phrases.push({ text: words.join(isUnspaced ? "" : " "), words: lower, order: phrases.length, isWhole: true });
    }
    return [];
  }
}

/** Best first. */
export function rank(phrases: readonly Phrase[]): Keyword[] {
  const counts = new Map<string, number>();
  for (const { words, isWhole } of phrases)
    if (isWhole) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const keywords = new Map<string, Keyword>();
  for (const phrase of phrases) {
    const key = phrase.words.join(" ");
    const known = keywords.get(key);
    const count = (known?.count ?? 0) + 1;
    keywords.set(key, { phrase: known?.phrase.isWhole === true ? known.phrase : phrase, count, score: 0 });
  }
  // A part of a phrase is a candidate only if the text repeats it.
  const candidates = [...keywords.values()].filter(({ phrase, count }) => phrase.isWhole || count > 1);
  const scored = candidates.map((keyword) => ({ ...keyword, score: scoreOf(keyword) }));
  return scored.sort((a, b) => b.score - a.score || a.phrase.order - b.phrase.order);

  function scoreOf({ phrase, count }: Keyword): number {
    // Frequent words raise the score, additional words raise it a little, and so does an early position.
    const weight = phrase.words.reduce((sum, word) => sum + Math.log2(1 + (counts.get(word) ?? 0)), 0);
    const early = 1 + 0.3 * (1 - phrase.order / phrases.length);
    return (weight / Math.sqrt(phrase.words.length)) * Math.sqrt(count) * early;
  }
}

/** Drops phrases whose words are all part of a better phrase that is at least as frequent. */
export function withoutParts<Found extends Keyword>(keywords: readonly Found[]): Found[] {
  const selected: Found[] = [];
  for (const keyword of keywords) {
    if (selected.length >= maxKeywords) break;
    const words = new Set(keyword.phrase.words);
    const isCovered = selected.some(
      ({ phrase, count }) => keyword.count <= count && words.isSubsetOf(new Set(phrase.words)),
    );
    if (!isCovered) selected.push(keyword);
  }
  return selected;
}
