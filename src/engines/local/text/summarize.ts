// text/summarize by TextRank, an extractive summary: selects the sentences that are most similar to the other sentences of the text.

import { fastTextPackage } from "./fast-text.ts";
import { findLanguage, loadLanguageDetector } from "./language.ts";
import { type Span, splitSentences, splitWords } from "./sentences.ts";
import { loadStopWords, stopWordsPackage } from "./stop-words.ts";
import { createTextEngine } from "./text-engine.ts";

interface Sentence extends Span {
  readonly order: number;
  readonly words: ReadonlySet<string>;
}

// The graph grows quadratically, so longer texts are ranked in parts, and then the best sentences of the parts.
const sentencesPerPart = 300;
const minWords = 3;
const ranking = { damping: 0.85, rounds: 30 };

export const summarize = createTextEngine({
  task: "text/summarize",
  packages: [stopWordsPackage, fastTextPackage],
  async load() {
    const detect = await loadLanguageDetector();
    const stopWords = await loadStopWords();
    return (text, { input }) => {
      const count = input.output_sentences ?? 1;
      const language = findLanguage(input.language, text, detect) ?? detect(text)[0]?.tag ?? "en";
      const ignored = stopWords(language);
      const sentences = splitSentences(text).map((span, order) => ({
        ...span,
        order,
        words: wordsOf(span.text, language, ignored),
      }));
      const chosen = choose(sentences, count).sort((a, b) => a.order - b.order);
      return {
        output: { result: chosen.map((sentence) => sentence.text).join(" ") },
        original: {
          engine: "TextRank",
          note: "extractive: sentences of the text, none of its own",
          sentences: chosen.map(({ order }) => order),
        },
      };
    };
  },
});

function wordsOf(text: string, language: string, ignored: ReadonlySet<string>): ReadonlySet<string> {
  const words = splitWords(text, language).map((word) => word.text.toLowerCase());
  return new Set(words.filter((word) => !ignored.has(word)));
}

function choose(sentences: readonly Sentence[], count: number): Sentence[] {
  if (sentences.length <= count) return [...sentences];
  if (sentences.length <= sentencesPerPart) return best(sentences, count);
  const parts = Math.ceil(sentences.length / sentencesPerPart);
  const minPerPart = Math.max(Math.ceil((count * 2) / parts), Math.ceil(sentencesPerPart / parts), 1);
  const perPart = Math.min(minPerPart, sentencesPerPart);
  const finalists: Sentence[] = [];
  for (let part = 0; part < parts; part++) {
    finalists.push(...best(sentences.slice(part * sentencesPerPart, (part + 1) * sentencesPerPart), perPart));
  }
  // Otherwise a request for thousands of sentences would recurse for ever.
  return finalists.length < sentences.length / 2
    ? choose(finalists, count)
    : best(finalists.slice(0, sentencesPerPart * 4), count);
}

function best(sentences: readonly Sentence[], count: number): Sentence[] {
  const scores = rank(sentences);
  const ranked = sentences.map((sentence, index) => ({ sentence, score: scores[index] ?? 0 }));
  ranked.sort((a, b) => b.score - a.score || a.sentence.order - b.sentence.order);
  return ranked.slice(0, count).map(({ sentence }) => sentence);
}

/** The PageRank of each sentence in the graph of their similarities. */
function rank(sentences: readonly Sentence[]): Float64Array {
  const rows = sentences.map(() => new Float64Array(sentences.length));
  for (const [a, row] of rows.entries()) {
    for (let b = a + 1; b < rows.length; b++) {
      const similarity = similarityOf(sentences[a], sentences[b]);
      row[b] = similarity;
      (rows[b] as Float64Array)[a] = similarity;
    }
  }
  const sums = rows.map((row) => row.reduce((sum, similarity) => sum + similarity, 0));
  let scores = new Float64Array(rows.length).fill(1);
  for (let round = 0; round < ranking.rounds; round++) {
    const next = new Float64Array(rows.length).fill(1 - ranking.damping);
    for (const [from, row] of rows.entries()) {
      const sum = sums[from] ?? 0;
      if (sum === 0) continue;
      const share = (ranking.damping * (scores[from] ?? 0)) / sum;
      for (let to = 0; to < row.length; to++) next[to] = (next[to] ?? 0) + share * (row[to] ?? 0);
    }
    scores = next;
  }
  return scores;
}

/** Shared words, normalised by length, because long sentences share words with every other. */
function similarityOf(a: Sentence | undefined, b: Sentence | undefined): number {
  if (a === undefined || b === undefined || a.words.size < minWords || b.words.size < minWords) return 0;
  const [small, large] = a.words.size <= b.words.size ? [a.words, b.words] : [b.words, a.words];
  let shared = 0;
  for (const word of small) if (large.has(word)) shared++;
  return shared / (Math.log(a.words.size + 1) + Math.log(b.words.size + 1));
}
