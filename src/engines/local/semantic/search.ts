// Ranks texts by similarity to a query. With every metric, a higher score means more similar.

import { lookUp } from "../../../lib/look-up.ts";
import type { LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { type LoadSentenceModel, sentenceEngine, similarityOf } from "./sentence-model.ts";
import { charactersOf, textsOf, toTokens } from "./texts.ts";

type Measure = (a: Float32Array, b: Float32Array) => number;

/** Distances are converted to similarities: 1 for identical vectors, less for distant ones. */
const measures: Readonly<Record<string, Measure>> = {
  cosine: similarityOf,
  euclidean: (a, b) => 1 / (1 + Math.sqrt(sumOf(a, b, (difference) => difference ** 2))),
  manhattan: (a, b) => 1 / (1 + sumOf(a, b, Math.abs)),
  // The share of dimensions with the same sign.
  hamming: (a, b) => a.filter((value, index) => value >= 0 === (b[index] ?? 0) >= 0).length / a.length,
};

export function createSearch(loadModel: LoadSentenceModel): LocalEngine {
  return {
    ...sentenceEngine,
    task: "text/search",
    async load() {
      const model = await loadModel();

      return async ({ input, onProgress }) => {
        const [query, texts] = [String(input["query"]), textsOf(input)];
        const measure = lookUp(measures, String(input["similarity_metric"])) ?? similarityOf;
        const [queryTokens = []] = toTokens([query], model, "query");
        const all = toTokens(texts, model, "texts");
        const wanted = await model.toVector(queryTokens);
        const items: { object: string; document: number; score: number }[] = [];
        for (const [document, tokens] of all.entries()) {
          const score = round(measure(await model.toVector(tokens), wanted));
          items.push({ object: "search_result", document, score });
          onProgress(items.length / all.length);
        }
        items.sort((a, b) => b.score - a.score || a.document - b.document);
        return {
          output: { items },
          original: { engine: "all-MiniLM-L6-v2, 8 bits" },
          units: { char: charactersOf([query, ...texts]) },
        };
      };
    },
  };
}

function sumOf(a: Float32Array, b: Float32Array, weigh: (difference: number) => number): number {
  let sum = 0;
  for (const [index, value] of a.entries()) sum += weigh(value - (b[index] ?? 0));
  return sum;
}
