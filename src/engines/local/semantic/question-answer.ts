// Extractive answers: quotes the sentences of the texts that are most similar to the question.

import type { LocalEngine } from "../local-engine.ts";
import { splitSentences } from "../text/sentences.ts";
import { type LoadSentenceModel, sentenceEngine, similarityOf } from "./sentence-model.ts";
import { charactersOf, textsOf, toTokens } from "./texts.ts";

const mostAnswers = 3;
// Less similar sentences are about another subject.
const leastSimilarity = 0.3;
/** Answers that are much less similar than the best one are dropped. */
const mostBehind = 0.15;

export function createQuestionAnswer(loadModel: LoadSentenceModel): LocalEngine {
  return {
    ...sentenceEngine,
    task: "text/question_answer",
    unsupported: ["temperature", "examples_context", "examples"],
    async load() {
      const model = await loadModel();

      return async ({ input, onProgress }) => {
        const [question, texts] = [String(input["question"]), textsOf(input)];
        const [asked = []] = toTokens([question], model, "question");
        // Enforces the limits before anything is computed.
        toTokens(texts, model, "texts");
        const wanted = await model.toVector(asked);
        const sentences = texts.flatMap((text) => splitSentences(text).map((sentence) => sentence.text));
        const found: { text: string; similarity: number }[] = [];
        for (const [index, text] of sentences.entries()) {
          const similarity = similarityOf(await model.toVector(model.toTokens(text)), wanted);
          if (similarity >= leastSimilarity) found.push({ text, similarity });
          onProgress((index + 1) / sentences.length);
        }
        found.sort((a, b) => b.similarity - a.similarity);
        const least = (found[0]?.similarity ?? 0) - mostBehind;
        const answers = found.filter(({ similarity }) => similarity >= least).slice(0, mostAnswers);
        return {
          output: { answers: answers.map(({ text }) => text) },
          original: {
            engine: "all-MiniLM-L6-v2, 8 bits",
            note: "extractive: sentences of the texts, nearest first; none when nothing is near",
            similarities: answers.map(({ similarity }) => similarity),
          },
          units: { char: charactersOf([question, ...texts]) },
        };
      };
    },
  };
}
