// Ranks the key phrases of the core engine by similarity to the whole text, and prefers phrases that differ from each other.

import type { LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { englishModelPackages, loadEnglishModel } from "../text/english-model.ts";
import { fastTextPackage } from "../text/fast-text.ts";
import { findEnglishPhrases, type Keyword, mostKeywords, rank, withoutParts } from "../text/keyword-extraction.ts";
import { loadLanguageDetector, refuseUnlessEnglish, textOf } from "../text/language.ts";
import { refuseLonger } from "../text/limits.ts";
import { loadStopWords, stopWordsPackage } from "../text/stop-words.ts";
import { type LoadSentenceModel, sentenceModelPackages, similarityOf } from "./sentence-model.ts";

interface Candidate {
  readonly keyword: Keyword;
  readonly vector: Float32Array;
}

// Some 2 ms each.
const mostCandidates = 100;
// The weight of the similarity; frequency and position have the rest.
const shareOfMeaning = 0.7;
// The penalty for similarity to a better phrase.
const repetition = 0.3;
const mostCharacters = 100_000;

export function createKeywordExtraction(loadModel: LoadSentenceModel): LocalEngine {
  return {
    task: "text/keyword_extraction",
    packages: [...sentenceModelPackages, ...englishModelPackages, stopWordsPackage, fastTextPackage],
    group: "embeddings",
    timeLimit: "media",
    lane: "light",
    lightCharacters: 10_000,
    models: ["minilm"],
    async load() {
      const model = await loadModel();
      const detect = await loadLanguageDetector();
      const english = await loadEnglishModel();
      const stopWords = await loadStopWords();

      return async ({ input }) => {
        refuseUnlessEnglish(input, detect, "finds keywords with this model in");
        const text = textOf(input);
        refuseLonger(text, mostCharacters);
        const found = rank(findEnglishPhrases(text, english, stopWords("en"))).slice(0, mostCandidates);
        const most = found[0]?.score ?? 1;
        const whole = await model.toVector(model.toTokens(text));
        const vectors = await model.embed(found.map(({ phrase }) => phrase.text));
        const vectorOf = new Map(found.map(({ phrase }, index) => [phrase, vectors[index] ?? whole]));
        const scored = found.map((keyword, index) => {
          const meaning = similarityOf(vectors[index] ?? whole, whole);
          return { ...keyword, score: shareOfMeaning * meaning + (1 - shareOfMeaning) * (keyword.score / most) };
        });
        const best = withoutParts(scored.sort((a, b) => b.score - a.score || a.phrase.order - b.phrase.order));
        const chosen = diversify(best.map((keyword) => ({ keyword, vector: vectorOf.get(keyword.phrase) ?? whole })));
        const top = Math.max(chosen[0]?.score ?? 1, Number.EPSILON);
        return {
          output: {
            items: chosen.map(({ text: keyword, score }) => ({
              keyword,
              importance: round(Math.min(1, Math.max(0, score / top))),
            })),
          },
          original: { engine: "phrases by parts of speech, all-MiniLM-L6-v2" },
          units: { char: text.length },
        };
      };
    },
  };
}

/** Best first. The score of each phrase depends on those before it. */
function diversify(candidates: readonly Candidate[]): { text: string; score: number }[] {
  const rest = candidates.map((candidate) => ({ candidate, likeness: 0 }));
  const chosen: { text: string; score: number }[] = [];
  const scoreOf = ({ candidate, likeness }: { candidate: Candidate; likeness: number }) =>
    candidate.keyword.score - repetition * likeness;
  while (chosen.length < mostKeywords && rest.length > 0) {
    rest.sort((a, b) => scoreOf(b) - scoreOf(a));
    const taken = rest.shift();
    if (taken === undefined) break;
    chosen.push({ text: taken.candidate.keyword.phrase.text, score: scoreOf(taken) });
    for (const one of rest)
      one.likeness = Math.max(one.likeness, similarityOf(one.candidate.vector, taken.candidate.vector));
  }
  return chosen;
}
