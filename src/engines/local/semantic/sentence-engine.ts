// The common part of engines that compare texts by the sentence model: they read the texts of a call and enforce the limits.

import type { TaskDraft, TaskInput, TaskName } from "../../../contract/tasks.ts";
import { ValidationError } from "../../../errors.ts";
import { type AnswerOf, defineEngine, type EngineOf, type LocalCall, type LocalEngine } from "../local-engine.ts";
import { loadSentenceModel, type SentenceModel, sentenceModelName, sentenceModelPackages } from "./sentence-model.ts";

interface SentenceEngine<Name extends TaskName, Output> extends Pick<EngineOf<Name>, "task" | "unsupported"> {
  run(call: LocalCall<TaskInput<Name>>, model: SentenceModel): Promise<SentenceAnswer<Name, Output>>;
}

type SentenceAnswer<Name extends TaskName, Output> = Pick<AnswerOf<Name, Output>, "output" | "units"> & {
  /** Added to the name of the model. */
  readonly original?: object;
};

/** The facts that engines of the sentence model share. */
export const sentenceEngineFacts = {
  packages: sentenceModelPackages,
  group: "embeddings",
  timeLimit: "media",
  lane: "light",
  lightCharacters: 4_000,
} satisfies Partial<LocalEngine>;

const maxTexts = 2_048;
const maxCharacters = 200_000;
const maxTokensPerText = 8_192;
// A window of 256 tokens takes about 25 ms, so a call takes at most half a minute.
const maxTokens = 300_000;

export function createSentenceEngine<const Name extends TaskName, Output extends TaskDraft<Name>>({
  run,
  ...facts
}: SentenceEngine<Name, Output>): LocalEngine {
  return defineEngine<Name, Output>({
    ...sentenceEngineFacts,
    ...facts,
    models: [sentenceModelName],
    async load() {
      const model = await loadSentenceModel();
      return async (call) => {
        const answer = await run(call, model);
        return { ...answer, original: { engine: "all-MiniLM-L6-v2, 8 bits", ...answer.original } };
      };
    },
  });
}

/** The tokens of each text. Throws a ValidationError with the location of a text that exceeds a limit. */
export function toTokens(texts: readonly string[], model: SentenceModel, member: string): (readonly number[])[] {
  if (texts.length > maxTexts) throw overLimit([member], `at most ${count(maxTexts)} texts`, count(texts.length));
  let sum = 0;
  return texts.map((text, index) => {
    const path = [member, index];
    if (text.length > maxCharacters)
      throw overLimit(path, `at most ${count(maxCharacters)} characters of a text`, count(text.length));
    const tokens = model.toTokens(text);
    if (tokens.length > maxTokensPerText)
      throw overLimit(path, `at most ${count(maxTokensPerText)} tokens of a text`, count(tokens.length));
    sum += tokens.length;
    if (sum > maxTokens) throw overLimit([member], `at most ${count(maxTokens)} tokens in all`, "more");
    return tokens;
  });
}

export function countCharacters(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

function overLimit(path: readonly (string | number)[], limit: string, actual: string): ValidationError {
  const msg = `The local engine accepts ${limit}, but got ${actual}. Split the input.`;
  return new ValidationError([{ loc: ["body", "input", ...path], msg, type: "value_error" }]);
}

function count(number: number): string {
  return number.toLocaleString("en");
}
