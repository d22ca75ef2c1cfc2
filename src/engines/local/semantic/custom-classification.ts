// text/custom_classification: assigns texts to the label with the most similar example, or, without examples, the most similar name.

import type { TaskInput } from "../../../contract/tasks.ts";
import { ValidationError } from "../../../errors.ts";
import { round } from "../numbers.ts";
import { countCharacters, createSentenceEngine, toTokens } from "./sentence-engine.ts";
import { meanOf, similarityOf } from "./sentence-model.ts";

// Converts similarities to confidences: a difference of 0.1 makes a label about seven times as likely.
const sharpness = 20;

export const customClassification = createSentenceEngine({
  task: "text/custom_classification",
  async run({ input }, model) {
    const { texts } = input;
    const labels = [...new Set(input.labels)];
    const examples = readExamples(input.examples, labels);
    const toVectors = (some: readonly string[], member: string) =>
      Array.fromAsync(toTokens(some, model, member), model.toVector);
    const names = await toVectors(labels, "labels");
    const exampleVectors = await toVectors(
      examples.map(({ text }) => text),
      "examples",
    );
    const references = labels.map((label, index) => {
      const own = exampleVectors.filter((_, at) => examples[at]?.label === label);
      return { label, vectors: own.length > 0 ? [...own, meanOf(own)] : names.slice(index, index + 1) };
    });
    const classifications = (await toVectors(texts, "texts")).map((vector, index) => {
      const scored = references.map(({ label, vectors }) => ({
        label,
        weight: Math.exp(sharpness * Math.max(...vectors.map((reference) => similarityOf(reference, vector)))),
      }));
      const sum = scored.reduce((total, { weight }) => total + weight, 0);
      const best = scored.reduce((one, other) => (other.weight > one.weight ? other : one));
      return { input: texts[index] ?? "", label: best.label, confidence: round(best.weight / sum) };
    });
    return {
      output: { classifications },
      original: { note: "basic: the label of the nearest example" },
      units: { char: countCharacters(texts) },
    };
  },
});

function readExamples(examples: TaskInput<"text/custom_classification">["examples"], labels: readonly string[]) {
  return examples.map(([text = "", label = ""], index) => {
    if (text !== "" && labels.includes(label)) return { text, label };
    const msg = "An example must be a text followed by one of the labels";
    throw new ValidationError([{ loc: ["body", "input", "examples", index], msg, type: "value_error" }]);
  });
}
