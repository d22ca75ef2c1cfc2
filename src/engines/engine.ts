// The contract of an engine, which performs one task of the universal endpoint at one provider. The input has been checked against the
// schema of the task and its files have been fetched; the output is checked against the output schema.

import type { TaskName } from "../contract/tasks.ts";
import type { Json } from "../lib/json-schema/schema.ts";
import type { JsonObject } from "../lib/lenient-json.ts";
import type { Deployment } from "../providers/deployment.ts";
import type { AddedFace, CollectionOperation, TaskCall, TaskResult } from "../providers/task.ts";

export type {
  AddedFace,
  AttemptRecord,
  BinaryResult,
  InputFile,
  TaskCall,
  TaskResult,
} from "../providers/task.ts";

export interface Engine {
  /** The third part of a task model's name: `local`, `openai`, `amazon` … */
  readonly provider: string;
  /** Other names of the provider, such as its company's. */
  readonly aliases?: readonly string[];
  readonly task: TaskName;
  /** The spelling of a model that the provider accepts in several. Absent: it has one. */
  readonly toModelName?: ((model: string) => string) | undefined;
  /** Models that are listed. Empty: there is no choice of models. */
  readonly models: readonly string[];
  /** Whether a model that is not listed is accepted as well. */
  readonly acceptsAnyModel: boolean;
  /** The model of a request that names none. Absent: the engine has no models, or chooses among them itself. */
  readonly defaultModel?: string;
  /** The default model for this particular input. Absent, or null: `defaultModel`. */
  defaultModelFor?(input: JsonObject): string | null;
  /** The caller has to name a model: there is no default. */
  readonly needsModel?: true;
  readonly isFree?: true;
  /** The engine performs the task with calls to a model: these are accounted for one by one, by the price of their tokens. */
  readonly isPaidByToken?: true;
  /** The price is that of the tokens of a model of the task, which is this one when a request names none. */
  readonly tokenModel?: string;
  /** Only input has a price, as for embeddings. */
  readonly writesNoTokens?: true;
  /** A simulated provider: left out of listings unless a caller asks for it. */
  readonly isSandbox?: true;
  /** Why the engine cannot run here, for the operator: a setting, or the command that installs it. Null: it can run. */
  readonly unavailableReason: string | null;
  /** The deployments that serve the model, in the order in which this call should try them. Absent: the engine has none, or chooses itself. */
  deployments?(model: string | null): readonly Deployment[];
  /** A second run has no effect elsewhere and costs nothing, so an interrupted job may be run again. */
  readonly isIdempotent?: true;
  /** The engine prepares something before it sends its first call, and announces that call with `beforeSend`: a job may repeat the preparation. */
  readonly announcesSend?: true;
  /** Members of the input that the provider has no parameter for; a caller who sets one is warned. */
  readonly unsupportedMembers?: readonly string[];
  /** Further unsupported members of this particular input. */
  unsupportedFor?(input: JsonObject): readonly string[];
  /** The engine reads no file, so addresses in the input are not fetched for it. */
  readonly ignoresFiles?: true;
  /** Throws a GatewayError, or a ValidationError when this engine does not accept such an input. */
  run(call: TaskCall): Promise<TaskResult>;
  /** For a task that searches a collection of faces: the operations that manage collections. */
  readonly collections?: Readonly<Record<CollectionOperation, (call: TaskCall) => Promise<CollectionResult>>>;
  /** The gateway's store holds its collections, so they can be deleted while the engine cannot run. */
  readonly hasStoredCollections?: true;
  /**
   * For work that continues at the provider: starts it when `checkpoint` is null, otherwise polls for it once. The checkpoint is stored
   * before the next step, which may run in another process. Throws as `run` does.
   */
  runStep?(call: TaskCall, checkpoint: Json | null): Promise<EngineStep>;
  /** Deletes the files that such work stored at the provider, when no step will continue from the checkpoint. Absent: it stores none. */
  abandonStep?(call: TaskCall, checkpoint: Json): Promise<void>;
}

export type CollectionResult = TaskResult<{ readonly faces?: readonly AddedFace[] }>;

/** The result, or a checkpoint to continue from after a delay. */
export type EngineStep =
  | { readonly result: TaskResult }
  | { readonly checkpoint: Json; readonly waitMs: number; readonly progress?: number };

/** `setting`: the name of the missing setting. */
export function notSetUp(provider: string, setting: string): string {
  return `The provider '${provider}' is not set up: set ${setting}.`;
}
