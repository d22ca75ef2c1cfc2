// What the engines know of one task: what the model is told and asked for, and what becomes of its answer.

import type { JsonSchema, TaskName } from "../../contract/tasks.ts";
import type { JsonObject } from "../../providers/dialect.ts";

export interface TaskDefinition {
  /** `text/sentiment_analysis` */
  readonly task: TaskName;
  /** What a model must be able to read. `document`: an image or a PDF. */
  readonly reads: Reading;
  /** What to do with the material, in a few sentences. */
  readonly instructions: string;
  /**
   * Members of the output that the model is not asked for, as dotted paths in which lists do not count and `*` is any member:
   * we know them better, or a language model cannot know them. Null where the schema allows it, else made by `finish`.
   */
  readonly unasked?: readonly string[];
  /** What is asked for instead of the task's own output. */
  readonly asks?: (input: JsonObject) => JsonSchema;
  /** From the answer, which fits what was asked for, to the output. Throws an AnswerProblem when it cannot be right. */
  readonly finish?: (answer: JsonObject, input: JsonObject) => JsonObject;
  /** Less than the usual limit, where an answer is many times as long as its text. */
  readonly maxCharacters?: number;
}

export type Reading = "text" | "image" | "document" | "pdf";

/** What is wrong with an answer, in words for the model: it gets one chance to do better. */
export class AnswerProblem extends Error {}

export function textOf(input: JsonObject, member = "text"): string {
  return String(input[member] ?? "");
}

/** A list of objects in an answer that has been checked. */
export function listIn(answer: JsonObject, member: string): readonly JsonObject[] {
  return (answer[member] ?? []) as readonly JsonObject[];
}
