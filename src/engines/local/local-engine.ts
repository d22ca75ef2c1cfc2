// The contract of a local engine. Engines run in worker processes, but the gateway reads their members, too. So a module imports its packages
// inside `load` (`await import("…")`), and only types, Node modules and our own files at the top.

import type { OnlyKnown, TaskDraft, TaskInput, TaskName } from "../../contract/tasks.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import type { BinaryResult, TaskResult } from "../engine.ts";

export interface LocalEngine {
  /** `text/sentiment_analysis` */
  readonly task: string;
  /** The packages that the engine imports. It is available only if all of them are installed. */
  readonly packages: readonly string[];
  /** The programs of the system that the engine runs. It is available only if all of them are installed. */
  readonly tools?: readonly string[];
  /** Other engines run it; it is no task of the API. */
  readonly isInternal?: true;
  /** The argument of `switchyard engines add` that installs the packages. Default: `core`, which comes with the gateway. */
  readonly group?: EngineGroup;
  /** `light` engines need milliseconds and tens of megabytes. Default: `heavy`. The two lanes never wait for each other. */
  readonly lane?: Lane;
  /** Longer texts run in the heavy lane. Default: 20,000 characters. */
  readonly lightCharacters?: number;
  /** The time limit that applies. Default: `text` for text and translation, otherwise `media`. */
  readonly timeLimit?: TimeLimitKind;
  /** The default first. Absent: the engine has no choice of models. */
  readonly models?: readonly string[];
  /** Members of the task's input that the engine does not read. The answer to a request that sets one names it. */
  readonly unsupported?: readonly string[];
  /** Called once per worker, before the first call. Neither it nor the returned function may use the network. */
  load(): Promise<LocalRun>;
}

/** Throws a ValidationError or a GatewayError for problems of the input; every other error is a bug. */
export type LocalRun = (call: LocalCall) => Promise<LocalAnswer>;

/** The parts of an engine that the task determines: members that the schemas do not have are compile errors. */
export interface EngineOf<Name extends TaskName> extends Omit<LocalEngine, "task" | "unsupported" | "load"> {
  readonly task: Name;
  readonly unsupported?: readonly (keyof TaskInput<Name> & string)[];
}

/** The answer to a task, before the output is checked. Infers `Output` from the engine. */
export type AnswerOf<Name extends TaskName, Output> = LocalAnswer<Output & OnlyKnown<Output, TaskDraft<Name>>>;

/** For engines that have nothing in common with others. */
export function defineEngine<const Name extends TaskName, Output extends TaskDraft<Name>>(
  engine: EngineOf<Name> & {
    load(): Promise<(call: LocalCall<TaskInput<Name>>) => Promise<AnswerOf<Name, Output>>>;
  },
): LocalEngine {
  // The gateway validates the input against the schema from which the type was generated.
  return engine as unknown as LocalEngine;
}

export interface LocalCall<Input extends object = JsonObject> {
  /** The default if the caller did not choose one. Null: the engine has no choice of models. */
  readonly model: string | null;
  /** Validated against the schema of the task, including its defaults. */
  readonly input: Input;
  /** By the member of the input: `file`, `file1`, `reference_images.0` … */
  readonly files: Readonly<Record<string, LocalFile>>;
  /** Reports the progress, 0 to 1. Only jobs use it. */
  onProgress(share: number): void;
}

export interface LocalFile {
  readonly name: string;
  /** Detected from the bytes. The type that the caller gave is ignored. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** All values must support structured cloning: plain objects, arrays, numbers, strings and bytes. */
export interface LocalAnswer<Output = JsonObject> {
  readonly output: Output;
  readonly original: unknown;
  readonly units: TaskResult["units"];
  readonly binaries?: readonly BinaryResult[];
}

/** An answer on its way to the process that asked for it. Processes in between do not parse the output, which may have many megabytes. */
export interface AnswerText extends Omit<LocalAnswer, "output"> {
  readonly outputJson: string;
  /** The worker has checked the output against the schema of the task. */
  readonly isChecked: boolean;
}

export type ParsedAnswer = LocalAnswer & Pick<AnswerText, "isChecked">;

export function parseAnswer({ outputJson, ...answer }: AnswerText): ParsedAnswer {
  return { ...answer, output: JSON.parse(outputJson) };
}

export type EngineGroup = "core" | "embeddings" | "speech" | "vision" | "grammar";

/** `job`: for tasks that run as jobs only, on files of many pages or hours. */
export type TimeLimitKind = "text" | "media" | "job";

/** How long an engine may run one task, and the setting that controls it. */
export interface TimeLimit {
  readonly milliseconds: number;
  readonly setting: string;
}

export type Lane = "light" | "heavy";
