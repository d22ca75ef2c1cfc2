// Extractive summary by TextRank: selects the sentences that are most similar to the other sentences of the text.

import type { LocalEngine } from "../local-engine.ts";
import { fastTextPackage } from "./fast-text.ts";
import { languageOf, loadLanguageDetector, textOf } from "./language.ts";
import { refuseLonger } from "./limits.ts";
import { type Span, splitSentences, splitWords } from "./sentences.ts";
import { loadStopWords, stopWordsPackage } from "./stop-words.ts";

interface Sentence extends Span {
  readonly order: number;
  readonly words: ReadonlySet<string>;
}

// The graph grows quadratically, so longer texts are ranked in parts, and then the best sentences of the parts.
const sentencesPerPart = 300;
const leastWords = 3;
const damping = 0.85;
const rounds = 30;

export const engine: LocalEngine = {
  task: "text/summarize",
  packages: [stopWordsPackage, fastTextPackage],
  lane: "light",
  async load() {
    const detect = await loadLanguageDetector();
    const stopWords = await loadStopWords();

    return async ({ input }) => {
      const text = textOf(input);
      refuseLonger(text);
      const wanted = typeof input["output_sentences"] === "number" ? input["output_sentences"] : 1;
      const language = languageOf(input, detect) ?? detect(text)[0]?.tag ?? "en";
      const unwanted = stopWords(language);
      const sentences = splitSentences(text).map((span, order) => ({
        ...span,
        order,
        words: wordsOf(span.text, language, unwanted),
      }));
      const chosen = choose(sentences, wanted).sort((a, b) => a.order - b.order);
      return {
        output: { result: chosen.map((sentence) => sentence.text).join(" ") },
        original: {
          engine: "TextRank",
          note: "extractive: sentences of the text, none of its own",
          sentences: chosen.map(({ order }) => order),
        },
        units: { char: text.length },
      };
    };
  },
};

function wordsOf(text: string, language: string, unwanted: ReadonlySet<string>): ReadonlySet<string> {
  const words = splitWords(text, language).map((word) => word.text.toLowerCase());
  return new Set(words.filter((word) => !unwanted.has(word)));
}

function choose(sentences: readonly Sentence[], wanted: number): Sentence[] {
  if (sentences.length <= wanted) return [...sentences];
  if (sentences.length <= sentencesPerPart) return best(sentences, wanted);
  const parts = Math.ceil(sentences.length / sentencesPerPart);
  const perPart = Math.min(
    Math.max(Math.ceil((wanted * 2) / parts), Math.ceil(sentencesPerPart / parts), 1),
    sentencesPerPart,
  );
  const finalists: Sentence[] = [];
  for (let part = 0; part < parts; part++) {
    finalists.push(...best(sentences.slice(part * sentencesPerPart, (part + 1) * sentencesPerPart), perPart));
  }
  // Otherwise a request for thousands of sentences would recurse for ever.
  return finalists.length < sentences.length / 2
    ? choose(finalists, wanted)
    : best(finalists.slice(0, sentencesPerPart * 4), wanted);
}

function best(sentences: readonly Sentence[], wanted: number): Sentence[] {
  const scores = rank(sentences);
  const ranked = sentences.map((sentence, index) => ({ sentence, score: scores[index] ?? 0 }));
  ranked.sort((a, b) => b.score - a.score || a.sentence.order - b.sentence.order);
  return ranked.slice(0, wanted).map(({ sentence }) => sentence);
}

function rank(sentences: readonly Sentence[]): Float64Array {
  const count = sentences.length;
  const similarities = Array.from({ length: count }, () => new Float64Array(count));
  const sums = new Float64Array(count);
  for (let a = 0; a < count; a++) {
    for (let b = a + 1; b < count; b++) {
      const similarity = similarityOf(sentences[a], sentences[b]);
      if (similarity === 0) continue;
      add(a, b, similarity);
      add(b, a, similarity);
    }
  }
  let scores = new Float64Array(count).fill(1);
  for (let round = 0; round < rounds; round++) {
    const next = new Float64Array(count).fill(1 - damping);
    for (let from = 0; from < count; from++) {
      const sum = sums[from] ?? 0;
      if (sum === 0) continue;
      const row = similarities[from];
      const share = (damping * (scores[from] ?? 0)) / sum;
      for (let to = 0; to < count; to++) next[to] = (next[to] ?? 0) + share * (row?.[to] ?? 0);
    }
    scores = next;
  }
  return scores;

  function add(from: number, to: number, similarity: number): void {
    const row = similarities[from];
    if (row !== undefined) row[to] = similarity;
    sums[from] = (sums[from] ?? 0) + similarity;
  }
}

/** Shared words, normalised by length, because long sentences share words with every other. */
function similarityOf(a: Sentence | undefined, b: Sentence | undefined): number {
  if (a === undefined || b === undefined || a.words.size < leastWords || b.words.size < leastWords) return 0;
  const [small, large] = a.words.size <= b.words.size ? [a.words, b.words] : [b.words, a.words];
  let shared = 0;
  for (const word of small) if (large.has(word)) shared++;
  return shared / (Math.log(a.words.size + 1) + Math.log(b.words.size + 1));
}
