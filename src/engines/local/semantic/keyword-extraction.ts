// text/keyword_extraction with the sentence model: ranks the key phrases of the core engine by similarity to the whole text, and prefers phrases
// that differ from each other.

import { round } from "../numbers.ts";
import { englishModelPackages, loadEnglishModel } from "../text/english-model.ts";
import { findEnglishPhrases, maxKeywords, rank, withoutParts } from "../text/keyword-extraction.ts";
import { loadStopWords, stopWordsPackage } from "../text/stop-words.ts";
import { createTextEngine } from "../text/text-engine.ts";
import { sentenceEngineFacts } from "./sentence-engine.ts";
import { loadSentenceModel, selectDiverse, sentenceModelPackages, similarityOf } from "./sentence-model.ts";

// Each takes about 2 ms.
const maxCandidates = 100;
// The weight of the similarity; frequency and position have the rest.
const similarityWeight = 0.7;
// The penalty for similarity to a better phrase.
const repetition = 0.3;

export const keywordExtraction = createTextEngine({
  ...sentenceEngineFacts,
  task: "text/keyword_extraction",
  packages: [...sentenceModelPackages, ...englishModelPackages, stopWordsPackage],
  models: ["minilm"],
  englishOnly: "finds keywords with this model in",
  maxCharacters: 100_000,
  lightCharacters: 10_000,
  async load() {
    const model = await loadSentenceModel();
    const english = await loadEnglishModel();
    const stopWords = await loadStopWords();

    return async (text) => {
      const found = rank(findEnglishPhrases(text, english, stopWords("en"))).slice(0, maxCandidates);
      const maxScore = found[0]?.score ?? 1;
      const whole = await model.toVector(model.toTokens(text));
      const vectors = await model.embed(found.map(({ phrase }) => phrase.text));
      const scored = found.map((keyword, index) => {
        const vector = vectors[index] ?? whole;
        const similarity = similarityWeight * similarityOf(vector, whole);
        return { ...keyword, vector, score: similarity + (1 - similarityWeight) * (keyword.score / maxScore) };
      });
      const best = withoutParts(scored.sort((a, b) => b.score - a.score || a.phrase.order - b.phrase.order));
      const chosen = selectDiverse(best, { count: maxKeywords, repetition });
      const top = Math.max(chosen[0]?.score ?? 1, Number.EPSILON);
      const items = chosen.map(({ phrase, score }) => ({
        keyword: phrase.text,
        importance: round(Math.min(1, Math.max(0, score / top))),
      }));
      return { output: { items }, original: { engine: "phrases by parts of speech, all-MiniLM-L6-v2" } };
    };
  },
});
