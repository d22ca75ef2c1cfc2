// Key phrases: runs of words that carry meaning, scored by how often their words occur, and with which others. In English the parts of
// speech say where a phrase begins and ends; elsewhere the language's stop words do.

import type { LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { type EnglishModel, englishModelPackages, loadEnglishModel } from "./english-model.ts";
import { fastTextPackage } from "./fast-text.ts";
import { isEnglish, languageOf, loadLanguageDetector, textOf } from "./language.ts";
import { refuseLonger } from "./limits.ts";
import { splitSentences, splitWords } from "./sentences.ts";
import { loadStopWords, type StopWords, stopWordsPackage } from "./stop-words.ts";

export interface Phrase {
  /** As it was first written. */
  readonly text: string;
  readonly words: readonly string[];
  readonly order: number;
  /** Not a part of a longer one. */
  readonly isWhole: boolean;
}

export interface Keyword {
  readonly phrase: Phrase;
  readonly count: number;
  readonly score: number;
}

export const mostKeywords = 20;
const longestPhrase = 4;
const shortestWord = 3;
/** Written without spaces: words are short, and a phrase is put together without any. */
const unspaced = /^(?:zh|ja|th|lo|km|my|yue|wuu)(?:[-_]|$)/i;

export const engine: LocalEngine = {
  task: "text/keyword_extraction",
  packages: [...englishModelPackages, stopWordsPackage, fastTextPackage],
  lane: "light",
  async load() {
    const detect = await loadLanguageDetector();
    const model = await loadEnglishModel();
    const stopWords = await loadStopWords();

    return async ({ input }) => {
      const text = textOf(input);
      refuseLonger(text);
      const language = languageOf(input, detect) ?? detect(text)[0]?.tag ?? "en";
      const phrases = isEnglish(language)
        ? findEnglishPhrases(text, model, stopWords("en"))
        : findPhrases(text, language, stopWords);
      const keywords = withoutParts(rank(phrases));
      const best = keywords[0]?.score ?? 1;
      return {
        output: {
          items: keywords.map(({ phrase, score }) => ({ keyword: phrase.text, importance: round(score / best) })),
        },
        original: { engine: "phrases by parts of speech and stop words", language },
        units: { char: text.length },
      };
    };
  },
};

interface Word {
  text: string;
  lemma: string;
  isNoun: boolean;
}

export function findEnglishPhrases(text: string, model: EnglishModel, stopWords: ReadonlySet<string>): Phrase[] {
  const runs: Word[][] = [[]];
  let isJoined = false;
  for (const { text: word, partOfSpeech, lemma, isJoint } of model.read(text).tokens) {
    const run = runs.at(-1) ?? [];
    const last = run.at(-1);
    if (isJoint) {
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
    .flatMap(cutLongRun)
    .flatMap(toPhrases)
    .map((phrase, order) => ({ ...phrase, order }));
}

/** A run that is too long to be one phrase is cut where an adjective follows a noun. */
function cutLongRun(run: Word[]): Word[][] {
  if (run.length <= longestPhrase) return [run];
  const runs: Word[][] = [[]];
  for (const [index, word] of run.entries()) {
    if (!word.isNoun && run[index - 1]?.isNoun === true) runs.push([]);
    runs.at(-1)?.push(word);
  }
  return runs;
}

/** The run itself, and the parts of it that could stand alone. */
function toPhrases(run: readonly Word[]): Omit<Phrase, "order">[] {
  const phrases: Omit<Phrase, "order">[] = [];
  for (let start = 0; start < run.length; start++) {
    for (let end = Math.min(run.length, start + longestPhrase); end > start; end--) {
      const words = run.slice(start, end);
      if (words.at(-1)?.isNoun !== true) continue;
      if (words.length === 1 && (words[0]?.text.length ?? 0) < shortestWord) continue;
      const isWhole = start === 0 && end === Math.min(run.length, longestPhrase);
      phrases.push({
        text: words.map((word) => word.text).join(" "),
        words: words.map(({ lemma }) => lemma),
        isWhole,
      });
    }
  }
  return phrases;
}

function findPhrases(text: string, language: string, stopWords: StopWords): Phrase[] {
  const phrases: Phrase[] = [];
  const unwanted = stopWords(language);
  const isUnspaced = unspaced.test(language);
  const joint = isUnspaced ? "" : " ";
  const shortest = isUnspaced ? 1 : shortestWord;
  for (const sentence of splitSentences(text)) {
    let open: string[] = [];
    let end = -1;
    for (const { text: word, start } of splitWords(sentence.text, language)) {
      const isAdjacent = end >= 0 && sentence.text.slice(end, start).trim() === "";
      end = start + word.length;
      const fits = word.length >= shortest && /\p{L}/u.test(word) && !unwanted.has(word.toLowerCase());
      if (!fits || !isAdjacent || open.length >= longestPhrase) open = close(open);
      if (fits) open.push(word);
    }
    close(open);
  }
  return phrases;

  function close(words: string[]): string[] {
    const isWord = words.length > 1 || (words[0]?.length ?? 0) > 1;
    if (words.length > 0 && isWord) {
      phrases.push({
        text: words.join(joint),
        words: words.map((word) => word.toLowerCase()),
        order: phrases.length,
        isWhole: true,
      });
    }
    return [];
  }
}

/** Best first. */
export function rank(phrases: readonly Phrase[]): Keyword[] {
  const counts = new Map<string, number>();
  for (const { words, isWhole } of phrases) {
    if (isWhole) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  }

  const keywords = new Map<string, Keyword>();
  for (const phrase of phrases) {
    const key = phrase.words.join(" ");
    const known = keywords.get(key);
    const count = (known?.count ?? 0) + 1;
    keywords.set(key, { phrase: known?.phrase.isWhole === true ? known.phrase : phrase, count, score: 0 });
  }
  // A part of a phrase counts when the text uses it more than once.
  const candidates = [...keywords.values()].filter(({ phrase, count }) => phrase.isWhole || count > 1);
  const scored = candidates.map((keyword) => ({ ...keyword, score: scoreOf(keyword) }));
  return scored.sort((a, b) => b.score - a.score || a.phrase.order - b.phrase.order);

  function scoreOf({ phrase, count }: Keyword): number {
    // Words that occur often make a phrase important, more of them a little more; what comes early counts more.
    const weight = phrase.words.reduce((sum, word) => sum + Math.log2(1 + (counts.get(word) ?? 0)), 0);
    const early = 1 + 0.3 * (1 - phrase.order / phrases.length);
    return (weight / Math.sqrt(phrase.words.length)) * Math.sqrt(count) * early;
  }
}

/** Leaves out what a better phrase says already, and a longer one that only adds a word to a better one. As many as an answer has. */
export function withoutParts(keywords: readonly Keyword[]): Keyword[] {
  const kept: Keyword[] = [];
  for (const keyword of keywords) {
    if (kept.length >= mostKeywords) break;
    const words = new Set(keyword.phrase.words);
    const isCovered = kept.some(
      ({ phrase, count }) =>
        phrase.words.length >= words.size &&
        [...words].every((word) => phrase.words.includes(word)) &&
        keyword.count <= count,
    );
    if (!isCovered) kept.push(keyword);
  }
  return kept;
}
