// text/embeddings. POST /v3/embeddings uses this engine, too.

import { refuseInput } from "../../../providers/task.ts";
import { countCharacters, createSentenceEngine, toTokens } from "./sentence-engine.ts";
import { sentenceModelName, vectorLength } from "./sentence-model.ts";

export const embeddings = createSentenceEngine({
  task: "text/embeddings",
  async run({ input: { texts, dimensions }, onProgress }, model) {
    // The model was not trained for shortened vectors.
    if (dimensions != null && dimensions !== vectorLength)
      refuseInput(
        "dimensions",
        `The vectors of ${sentenceModelName} have ${vectorLength} dimensions and cannot be shortened`,
      );
    const all = toTokens(texts, model, "texts");
    const items: { embedding: number[] }[] = [];
    let token = 0;
    for (const tokens of all) {
      items.push({ embedding: Array.from(await model.toVector(tokens), roundTo7) });
      token += tokens.length;
      onProgress(items.length / all.length);
    }
    return {
      output: { items },
      original: { dimensions: vectorLength },
      units: { token, char: countCharacters(texts) },
    };
  },
});

/** More precise than the 8-bit model. */
function roundTo7(value: number): number {
  // `|| 0` turns -0 into 0.
  return Math.round(value * 1e7) / 1e7 || 0;
}
