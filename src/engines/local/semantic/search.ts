// text/search: ranks texts by similarity to a query. With every metric, a higher score means more similar.

import type { TaskInput } from "../../../contract/tasks.ts";
import { round } from "../numbers.ts";
import { countCharacters, createSentenceEngine, toTokens } from "./sentence-engine.ts";
import { similarityOf } from "./sentence-model.ts";

type Metric = TaskInput<"text/search">["similarity_metric"];

/** Distances are converted to similarities: 1 for identical vectors, less for distant ones. */
const metrics: Readonly<Record<Metric, (a: Float32Array, b: Float32Array) => number>> = {
  cosine: similarityOf,
  euclidean: (a, b) => 1 / (1 + Math.sqrt(a.reduce((sum, value, index) => sum + (value - (b[index] ?? 0)) ** 2, 0))),
  manhattan: (a, b) => 1 / (1 + a.reduce((sum, value, index) => sum + Math.abs(value - (b[index] ?? 0)), 0)),
  // The share of dimensions with the same sign.
  hamming: (a, b) => a.filter((value, index) => value >= 0 === (b[index] ?? 0) >= 0).length / a.length,
};

export const search = createSentenceEngine({
  task: "text/search",
  async run({ input: { texts, query, similarity_metric: metric }, onProgress }, model) {
    const [queryTokens = []] = toTokens([query], model, "query");
    const all = toTokens(texts, model, "texts");
    const queryVector = await model.toVector(queryTokens);
    const items: { object: string; document: number; score: number }[] = [];
    for (const [document, tokens] of all.entries()) {
      const score = round(metrics[metric](await model.toVector(tokens), queryVector));
      items.push({ object: "search_result", document, score });
      onProgress(items.length / all.length);
    }
    items.sort((a, b) => b.score - a.score || a.document - b.document);
    return { output: { items }, units: { char: countCharacters([query, ...texts]) } };
  },
});
