// text/summarize with the sentence model, an extractive summary: selects the sentences that are most similar to the whole text.

import { splitSentences } from "../text/sentences.ts";
import { createTextEngine } from "../text/text-engine.ts";
import { sentenceEngineFacts } from "./sentence-engine.ts";
import { loadSentenceModel, selectDiverse, similarityOf } from "./sentence-model.ts";

// The penalty for similarity to a selected sentence.
const repetition = 0.4;
// Shorter sentences are headings, greetings or "Yes.", which resemble everything.
const minWords = 4;

export const summarize = createTextEngine({
  ...sentenceEngineFacts,
  task: "text/summarize",
  models: ["minilm"],
  englishOnly: "summarizes with this model",
  // About 1,000 sentences of 3 ms each, plus the whole text.
  maxCharacters: 100_000,
  async load() {
    const model = await loadSentenceModel();

    return async (text, { input, onProgress }) => {
      const count = input.output_sentences ?? 1;
      const sentences = splitSentences(text);
      const long = sentences.filter((sentence) => sentence.text.split(/\s+/).length >= minWords);
      const candidates = long.length >= count ? long : sentences;
      const vectors: Float32Array[] = [];
      // Equal sentences have equal vectors, and the model computes each only once.
      const known = new Map<string, Float32Array>();
      for (const candidate of candidates) {
        const vector = known.get(candidate.text) ?? (await model.toVector(model.toTokens(candidate.text)));
        known.set(candidate.text, vector);
        vectors.push(vector);
        onProgress(vectors.length / candidates.length);
      }
      const whole = await model.toVector(model.toTokens(text));
      const scored = vectors.map((vector, order) => ({
        text: candidates[order]?.text ?? "",
        order,
        vector,
        score: similarityOf(vector, whole),
      }));
      const chosen = selectDiverse(scored, { count, repetition }).sort((a, b) => a.order - b.order);
      return {
        output: { result: chosen.map((sentence) => sentence.text).join(" ") },
        original: {
          engine: "all-MiniLM-L6-v2, 8 bits",
          note: "extractive: sentences of the text, none of its own",
        },
      };
    };
  },
});
