// text/search: ranks texts by similarity to a query. With every metric, a higher score means more similar.

import { lookUp } from "../../../lib/look-up.ts";
import { round } from "../numbers.ts";
import { countCharacters, createSentenceEngine, toTokens } from "./sentence-engine.ts";
import { similarityOf } from "./sentence-model.ts";

/** Distances are converted to similarities: 1 for identical vectors, less for distant ones. */
const metrics: Readonly<Record<string, (a: Float32Array, b: Float32Array) => number>> = {
  cosine: similarityOf,
  euclidean: (a, b) => 1 / (1 + Math.sqrt(a.reduce((sum, value, index) => sum + (value - (b[index] ?? 0)) ** 2, 0))),
  manhattan: (a, b) => 1 / (1 + a.reduce((sum, value, index) => sum + Math.abs(value - (b[index] ?? 0)), 0)),
  // The share of dimensions with the same sign.
  hamming: (a, b) => a.filter((value, index) => value >= 0 === (b[index] ?? 0) >= 0).length / a.length,
};

export const search = createSentenceEngine({
  task: "text/search",
  async run(texts, model, { input, onProgress }) {
    const query = String(input["query"]);
    const metric = lookUp(metrics, String(input["similarity_metric"])) ?? similarityOf;
    const [queryTokens = []] = toTokens([query], model, "query");
    const all = toTokens(texts, model, "texts");
    const queryVector = await model.toVector(queryTokens);
    const items: { object: string; document: number; score: number }[] = [];
    for (const [document, tokens] of all.entries()) {
      const score = round(metric(await model.toVector(tokens), queryVector));
      items.push({ object: "search_result", document, score });
      onProgress(items.length / all.length);
    }
    items.sort((a, b) => b.score - a.score || a.document - b.document);
    return { output: { items }, units: { char: countCharacters([query, ...texts]) } };
  },
});
