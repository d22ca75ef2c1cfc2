// text/question_answer, extractive: quotes the sentences of the texts that are most similar to the question.

import { splitSentences } from "../text/sentences.ts";
import { countCharacters, createSentenceEngine, toTokens } from "./sentence-engine.ts";
import { similarityOf } from "./sentence-model.ts";

const maxAnswers = 3;
// Less similar sentences are about another subject.
const minSimilarity = 0.3;
/** Answers that are less similar than the best one by more than this are dropped. */
const maxDistanceToBest = 0.15;

export const questionAnswer = createSentenceEngine({
  task: "text/question_answer",
  unsupported: ["temperature", "examples_context", "examples"],
  async run({ input: { texts, question }, onProgress }, model) {
    const [questionTokens = []] = toTokens([question], model, "question");
    // Enforces the limits before anything is computed.
    toTokens(texts, model, "texts");
    const questionVector = await model.toVector(questionTokens);
    const sentences = texts.flatMap((text) => splitSentences(text).map((sentence) => sentence.text));
    const found: { text: string; similarity: number }[] = [];
    for (const [index, text] of sentences.entries()) {
      const similarity = similarityOf(await model.toVector(model.toTokens(text)), questionVector);
      if (similarity >= minSimilarity) found.push({ text, similarity });
      onProgress((index + 1) / sentences.length);
    }
    found.sort((a, b) => b.similarity - a.similarity);
    const least = (found[0]?.similarity ?? 0) - maxDistanceToBest;
    const answers = found.filter(({ similarity }) => similarity >= least).slice(0, maxAnswers);
    return {
      output: { answers: answers.map(({ text }) => text) },
      original: {
        note: "extractive: sentences of the texts, nearest first; none when nothing is near",
        similarities: answers.map(({ similarity }) => similarity),
      },
      units: { char: countCharacters([question, ...texts]) },
    };
  },
});
