// Extractive summary: selects the sentences that are most similar to the whole text.

import type { LocalEngine } from "../local-engine.ts";
import { fastTextPackage } from "../text/fast-text.ts";
import { loadLanguageDetector, refuseUnlessEnglish, textOf } from "../text/language.ts";
import { refuseLonger } from "../text/limits.ts";
import { splitSentences } from "../text/sentences.ts";
import { type LoadSentenceModel, sentenceEngine, sentenceModelPackages, similarityOf } from "./sentence-model.ts";

// About 1,000 sentences of 3 ms each, plus the whole text.
const mostCharacters = 100_000;
// The penalty for similarity to a selected sentence.
const repetition = 0.4;
// Shorter sentences are headings, greetings or "Yes.", which resemble everything.
const leastWords = 4;

interface Sentence {
  readonly text: string;
  readonly order: number;
  readonly vector: Float32Array;
  readonly centrality: number;
}

export function createSummarize(loadModel: LoadSentenceModel): LocalEngine {
  return {
    ...sentenceEngine,
    task: "text/summarize",
    packages: [...sentenceModelPackages, fastTextPackage],
    models: ["minilm"],
    async load() {
      const model = await loadModel();
      const detect = await loadLanguageDetector();

      return async ({ input, onProgress }) => {
        refuseUnlessEnglish(input, detect, "summarizes with this model");
        const text = textOf(input);
        refuseLonger(text, mostCharacters);
        const wanted = typeof input["output_sentences"] === "number" ? input["output_sentences"] : 1;
        const spans = splitSentences(text);
        const long = spans.filter((span) => span.text.split(/\s+/).length >= leastWords);
        const candidates = long.length >= wanted ? long : spans;
        const vectors: Float32Array[] = [];
        // Equal sentences have equal vectors, and the model computes each only once.
        const known = new Map<string, Float32Array>();
        for (const span of candidates) {
          const vector = known.get(span.text) ?? (await model.toVector(model.toTokens(span.text)));
          known.set(span.text, vector);
          vectors.push(vector);
          onProgress(vectors.length / candidates.length);
        }
        const whole = await model.toVector(model.toTokens(text));
        const sentences = vectors.map((vector, order) => ({
          text: candidates[order]?.text ?? "",
          order,
          vector,
          centrality: similarityOf(vector, whole),
        }));
        const chosen = choose(sentences, wanted).sort((a, b) => a.order - b.order);
        return {
          output: { result: chosen.map((sentence) => sentence.text).join(" ") },
          original: {
            engine: "all-MiniLM-L6-v2, 8 bits",
            note: "extractive: sentences of the text, none of its own",
          },
          units: { char: text.length },
        };
      };
    },
  };
}

/** Repeatedly selects the sentence that is most central and least similar to those selected before (maximal marginal relevance). */
function choose(sentences: readonly Sentence[], wanted: number): Sentence[] {
  if (sentences.length <= wanted) return [...sentences];
  const rest = sentences.map((sentence) => ({ sentence, likeness: 0 }));
  const chosen: Sentence[] = [];
  while (chosen.length < wanted && rest.length > 0) {
    let best = 0;
    for (let at = 1; at < rest.length; at++) if (scoreOf(rest[at]) > scoreOf(rest[best])) best = at;
    const [taken] = rest.splice(best, 1);
    if (taken === undefined) break;
    chosen.push(taken.sentence);
    for (const one of rest)
      one.likeness = Math.max(one.likeness, similarityOf(one.sentence.vector, taken.sentence.vector));
  }
  return chosen;
}

function scoreOf(one: { readonly sentence: Sentence; readonly likeness: number } | undefined): number {
  return one === undefined ? Number.NEGATIVE_INFINITY : one.sentence.centrality - repetition * one.likeness;
}
