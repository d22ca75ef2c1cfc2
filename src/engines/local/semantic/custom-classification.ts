// Assigns texts to the caller's labels: the label with the most similar example, or, without examples, the most similar name.

import { ValidationError } from "../../../errors.ts";
import type { JsonObject } from "../../../providers/dialect.ts";
import type { LocalEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { type LoadSentenceModel, meanOf, sentenceEngine, similarityOf } from "./sentence-model.ts";
import { charactersOf, textsOf, toTokens } from "./texts.ts";

interface Example {
  readonly text: string;
  readonly label: string;
}

// Converts similarities to confidences: a difference of 0.1 makes a label about seven times as likely.
const sharpness = 20;

export function createCustomClassification(loadModel: LoadSentenceModel): LocalEngine {
  return {
    ...sentenceEngine,
    task: "text/custom_classification",
    async load() {
      const model = await loadModel();

      return async ({ input }) => {
        const texts = textsOf(input);
        const labels = [...new Set((input["labels"] as readonly unknown[]).map(String))];
        const examples = readExamples(input, labels);
        const vectorsOf = async (some: readonly string[], member: string) => {
          const vectors: Float32Array[] = [];
          for (const tokens of toTokens(some, model, member)) vectors.push(await model.toVector(tokens));
          return vectors;
        };
        const names = await vectorsOf(labels, "labels");
        const shown = await vectorsOf(
          examples.map(({ text }) => text),
          "examples",
        );
        const anchors = labels.map((label, index) => {
          const own = shown.filter((_, at) => examples[at]?.label === label);
          return { label, vectors: own.length > 0 ? [...own, meanOf(own)] : names.slice(index, index + 1) };
        });
        const classifications = (await vectorsOf(texts, "texts")).map((vector, index) => {
          const scored = anchors.map(({ label, vectors }) => ({
            label,
            weight: Math.exp(sharpness * Math.max(...vectors.map((anchor) => similarityOf(anchor, vector)))),
          }));
          const sum = scored.reduce((total, { weight }) => total + weight, 0);
          const best = scored.reduce((one, other) => (other.weight > one.weight ? other : one));
          return { input: texts[index] ?? "", label: best.label, confidence: round(best.weight / sum) };
        });
        return {
          output: { classifications },
          original: { engine: "all-MiniLM-L6-v2, 8 bits", note: "basic: the label of the nearest example" },
          units: { char: charactersOf(texts) },
        };
      };
    },
  };
}

function readExamples(input: JsonObject, labels: readonly string[]): Example[] {
  const pairs = (input["examples"] ?? []) as readonly (readonly [string, string])[];
  return pairs.map(([text, label], index) => {
    if (text !== "" && labels.includes(label)) return { text, label };
    throw new ValidationError([
      {
        loc: ["body", "input", "examples", index],
        msg: "An example must be a text followed by one of the labels",
        type: "value_error",
      },
    ]);
  });
}
