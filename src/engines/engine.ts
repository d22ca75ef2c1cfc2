// The contract of an engine: who does a task of the universal endpoint, at one provider. What goes in has been checked against
// the task's input schema and its files have been fetched; what comes out is checked against the output schema.

import type { TaskName } from "../contract/tasks.ts";
import type { Json } from "../lib/json-schema/schema.ts";
import type { JsonObject } from "../lib/lenient-json.ts";
import type { Deployment } from "../providers/deployment.ts";
import type { TaskCall, TaskResult } from "../providers/task.ts";

export type {
  AttemptRecord,
  BinaryResult,
  InputFile,
  TaskCall,
  TaskResult,
} from "../providers/task.ts";

export interface Engine {
  /** The third part of a task model's name: `local`, `openai`, `amazon` … */
  readonly provider: string;
  /** Other names that mean this provider: its company's. */
  readonly aliases?: readonly string[];
  /** `text/sentiment_analysis` */
  readonly task: TaskName;
  /** Models that are listed. Empty: it has none to choose from. */
  readonly models: readonly string[];
  /** Whether a model that is not listed is tried as well. */
  readonly acceptsAnyModel: boolean;
  /** The model that does the task when the caller names none. Absent: the engine has no models, or chooses among them itself. */
  readonly defaultModel?: string;
  /** The caller has to name a model: there is no default. */
  readonly needsModel?: true;
  /** It costs nothing. */
  readonly isFree?: true;
  /** It is paid by the tokens of its provider's chat model. */
  readonly isPaidByToken?: true;
  /** A pretend vendor: left out of listings unless a caller asks for it. */
  readonly isSandbox?: true;
  /** Why it cannot be run here, in words for the operator: a setting, or the command that adds it. Null: it can. */
  readonly unavailableReason: string | null;
  /**
   * For an engine that calls a provider: the deployments that serve the model, in the order in which this call should try them. Absent:
   * the engine has none, or its calls choose for themselves.
   */
  deployments?(model: string | null): readonly Deployment[];
  /** Doing it a second time changes nothing elsewhere and costs nothing: a job that was interrupted may simply be run again. */
  readonly isIdempotent?: true;
  /** Members of the task's input that its provider has no parameter for: a caller who gives one is told. */
  readonly unsupportedMembers?: readonly string[];
  /** Those that the provider has a parameter for, but not in a request with this input. */
  readonly unsupportedFor?: (input: JsonObject) => readonly string[];
  /** It looks into no file: what an address names is not fetched for it. */
  readonly ignoresFiles?: true;
  /** Throws a GatewayError, or a ValidationError when this engine cannot take such an input. */
  run(call: TaskCall): Promise<TaskResult>;
  /**
   * For work that goes on elsewhere: begins it when `kept` is null, else asks for it, once. What it wants to find again is kept
   * durably before the next step, in this process or another one. Throws as `run` does.
   */
  runStep?(call: TaskCall, kept: Json | null): Promise<EngineStep>;
}

/** Done, or to be asked again after a while. */
export type EngineStep =
  | { readonly answer: TaskResult }
  | { readonly kept: Json; readonly waitMs: number; readonly progress?: number };
