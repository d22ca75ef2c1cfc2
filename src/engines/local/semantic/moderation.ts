// Finds bad words, and sentences that are more similar to a harmful phrase than to every harmless one. Only assistive: it looks at single
// sentences without their context.

import type { LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { loadLanguageDetector, refuseUnlessEnglish, textOf } from "../text/language.ts";
import { refuseLonger } from "../text/limits.ts";
import { loadBadWords, type ModerationItem, moderationPackages, toModerationOutput } from "../text/moderation.ts";
import { splitSentences } from "../text/sentences.ts";
import { harmlessPhrases, type KindOfHarm, kindsOfHarm } from "./moderation-phrases.ts";
import { type LoadSentenceModel, sentenceEngine, sentenceModelPackages, similarityOf } from "./sentence-model.ts";

// About 1,000 sentences of 3 ms each.
const mostCharacters = 100_000;
// Less similar sentences resemble no known phrase.
const leastSimilarity = 0.35;
// The required lead of the harmful phrase over the most similar harmless one.
const leastLead = 0.05;

export function createModeration(loadModel: LoadSentenceModel): LocalEngine {
  return {
    ...sentenceEngine,
    task: "text/moderation",
    packages: [...sentenceModelPackages, ...moderationPackages],
    models: ["minilm"],
    async load() {
      const model = await loadModel();
      const detect = await loadLanguageDetector();
      const findBadWords = await loadBadWords();
      const harmless = await model.embed(harmlessPhrases);
      const harms: (KindOfHarm & { readonly vectors: readonly Float32Array[] })[] = [];
      for (const kind of kindsOfHarm) harms.push({ ...kind, vectors: await model.embed(kind.phrases) });

      return async ({ input, onProgress }) => {
        refuseUnlessEnglish(input, detect, "moderates");
        const text = textOf(input);
        refuseLonger(text, mostCharacters);
        const { items } = findBadWords(text);
        const found = new Map<string, ModerationItem>();
        const sentences = new Set(splitSentences(text).map((sentence) => sentence.text));
        let judged = 0;
        for (const sentence of sentences) {
          const item = judge(await model.toVector(model.toTokens(sentence)));
          if (item !== null && item.score > (found.get(item.label)?.score ?? 0)) found.set(item.label, item);
          onProgress(++judged / sentences.size);
        }
        return {
          output: toModerationOutput([...items, ...found.values()]),
          original: {
            engine: "obscenity, all-MiniLM-L6-v2",
            note: "assistive: bad words, and sentences that resemble phrases of ours. That nothing was found does not mean that a text is harmless",
          },
          units: { char: text.length },
        };
      };

      function judge(vector: Float32Array): ModerationItem | null {
        const near = harms.map((kind) => ({ kind, similarity: nearest(vector, kind.vectors) }));
        const { kind, similarity } = near.reduce((one, other) => (other.similarity > one.similarity ? other : one));
        const lead = similarity - nearest(vector, harmless);
        if (similarity < leastSimilarity || lead < leastLead) return null;
        const { label, category, subcategory } = kind;
        return { label, category, subcategory, score: round(Math.min(0.95, 0.5 + lead)) };
      }
    },
  };
}

function nearest(vector: Float32Array, others: readonly Float32Array[]): number {
  return Math.max(...others.map((other) => similarityOf(vector, other)));
}
