// What every view of a result gets.

import type { ReactNode } from "react";
import type { TaskOutputs } from "../../../../contract/task-types.ts";

export type TaskName = keyof TaskOutputs;

export interface ResultProps<Name extends TaskName = TaskName> {
  /** As it was sent, with the files themselves. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The gateway has checked it against the schema of its task. */
  readonly output: TaskOutputs[Name];
}

export type ResultView<Name extends TaskName> = (props: ResultProps<Name>) => ReactNode;

export function fileOf(input: ResultProps["input"], name = "file"): File | null {
  const value = input[name];
  return value instanceof File ? value : null;
}

export function textOf(input: ResultProps["input"], name = "text"): string {
  const value = input[name];
  return typeof value === "string" ? value : "";
}
