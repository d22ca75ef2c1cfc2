// text/moderation with the sentence model: finds bad words, and sentences that are more similar to a harmful phrase than to every harmless one.
// Only assistive: it looks at single sentences without their context.

import { round } from "../numbers.ts";
import { badWordsPackage, loadBadWords, type ModerationItem, toModerationOutput } from "../text/moderation.ts";
import { splitSentences } from "../text/sentences.ts";
import { createTextEngine } from "../text/text-engine.ts";
import { harmlessPhrases, type KindOfHarm, kindsOfHarm } from "./moderation-phrases.ts";
import { sentenceEngineFacts } from "./sentence-engine.ts";
import { loadSentenceModel, sentenceModelPackages, similarityOf } from "./sentence-model.ts";

// Less similar sentences resemble no known phrase.
const minSimilarity = 0.35;
// The required lead of the harmful phrase over the most similar harmless one.
const minLead = 0.05;

export const moderation = createTextEngine({
  ...sentenceEngineFacts,
  task: "text/moderation",
  packages: [...sentenceModelPackages, badWordsPackage],
  models: ["minilm"],
  englishOnly: "moderates",
  // About 1,000 sentences of 3 ms each.
  maxCharacters: 100_000,
  async load() {
    const model = await loadSentenceModel();
    const findBadWords = await loadBadWords();
    const harmless = await model.embed(harmlessPhrases);
    const harms: (KindOfHarm & { readonly vectors: readonly Float32Array[] })[] = [];
    for (const kind of kindsOfHarm) harms.push({ ...kind, vectors: await model.embed(kind.phrases) });

    return async (text, { onProgress }) => {
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
          note: "assistive: a list of words, and similarity to known phrases. A text without findings may still be harmful",
        },
      };
    };

    function judge(vector: Float32Array): ModerationItem | null {
      const scored = harms.map((kind) => ({ kind, similarity: maxSimilarity(vector, kind.vectors) }));
      const { kind, similarity } = scored.reduce((one, other) => (other.similarity > one.similarity ? other : one));
      const lead = similarity - maxSimilarity(vector, harmless);
      if (similarity < minSimilarity || lead < minLead) return null;
      const { label, category, subcategory } = kind;
      return { label, category, subcategory, score: round(Math.min(0.95, 0.5 + lead)) };
    }
  },
});

function maxSimilarity(vector: Float32Array, others: readonly Float32Array[]): number {
  return Math.max(...others.map((other) => similarityOf(vector, other)));
}
