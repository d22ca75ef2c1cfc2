// Embeddings of texts. POST /v3/embeddings uses this engine, too.

import { ValidationError } from "../../../errors.ts";
import type { LocalEngine } from "../local-engine.ts";
import { type LoadSentenceModel, sentenceEngine, sentenceModelName, vectorLength } from "./sentence-model.ts";
import { charactersOf, textsOf, toTokens } from "./texts.ts";

export function createEmbeddings(loadModel: LoadSentenceModel): LocalEngine {
  return {
    ...sentenceEngine,
    task: "text/embeddings",
    async load() {
      const model = await loadModel();

      return async ({ input, onProgress }) => {
        refuseOtherLength(input["dimensions"]);
        const texts = textsOf(input);
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
          original: { engine: "all-MiniLM-L6-v2, 8 bits", dimensions: vectorLength },
          units: { token, char: charactersOf(texts) },
        };
      };
    },
  };
}

/** The model was not trained for shortened vectors. */
function refuseOtherLength(dimensions: unknown): void {
  if (typeof dimensions !== "number" || dimensions === vectorLength) return;
  throw new ValidationError([
    {
      loc: ["body", "input", "dimensions"],
      msg: `The vectors of ${sentenceModelName} have ${vectorLength} dimensions and cannot be shortened`,
      type: "value_error",
    },
  ]);
}

/** More precise than the 8-bit model. */
function roundTo7(value: number): number {
  // `|| 0` turns -0 into 0.
  return Math.round(value * 1e7) / 1e7 || 0;
}
