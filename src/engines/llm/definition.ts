// What the engines know about one task: what the model is told and asked for, and how its answer becomes the output.

import type { TaskInputs } from "../../contract/task-types.ts";
import type { JsonSchema, TaskDraft, TaskName } from "../../contract/tasks.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";

export type TaskDefinitions = { readonly [Name in TaskName]?: TaskDefinition<TaskInputs[Name], TaskDraft<Name>> };

export interface TaskDefinition<Input extends object = JsonObject, Output extends object = JsonObject> {
  /** What the model must be able to read. Default: by the feature of the task. */
  readonly reads?: Reading;
  /** What to do with the material, in a few sentences. */
  readonly instructions: string;
  /**
   * Members of the output that the model is not asked for, as dotted paths that skip lists; `*` is any member. A language model cannot know
   * them, or the gateway knows them better. They are null where the schema allows it; otherwise `toOutput` adds them.
   */
  readonly omitted?: readonly string[];
  /** The schema of the model's answer. Default: the output schema of the task without the omitted members. */
  answerSchema?(input: Input): JsonSchema;
  /** Converts an answer that fits its schema. Throws an AnswerProblem when the answer cannot be right. */
  toOutput?(answer: JsonObject, input: Input): Output;
  /** A lower limit of the input for tasks whose answer is many times as long. */
  readonly maxCharacters?: number;
}

/** `document`: an image, a PDF or a text. `video`: frames of it, as images. */
export type Reading = "text" | "image" | "document" | "pdf" | "video";

/** What is wrong with an answer, worded for the model, which may correct it once. */
export class AnswerProblem extends Error {}

/** A list of objects in an answer that has been checked. */
export function listIn(answer: JsonObject, member: string): readonly JsonObject[] {
  return (answer[member] ?? []) as readonly JsonObject[];
}
