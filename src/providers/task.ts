// The contract of a provider's task: pure functions that turn the input of a task into requests, and the last response into its output. The
// engine around them (engines/vendors/) sends the requests, retries them, applies timeouts and computes the cost.

import type { OnlyKnown, TaskDraft, TaskInput, TaskName } from "../contract/tasks.ts";
import { type ErrorCode, ValidationError } from "../errors.ts";
import type { StatedCharge } from "../lib/charge.ts";
import type { JsonObject } from "../lib/lenient-json.ts";
import type { CallTicket } from "./call-ticket.ts";

/** `Name` is the type of the input and the output. Without it (`ProviderTask`) both are plain JSON objects. */
export interface ProviderTask<
  Name extends TaskName = TaskName,
  Input extends object = TaskInput<Name>,
  Output extends object = TaskDraft<Name>,
> extends TaskFacts<Input, Output> {
  readonly task: Name;
}

interface TaskFacts<Input extends object, Output extends object> {
  /** The page that the wire format comes from. */
  readonly docs: string;
  /** One of the row's services. Default: the row's own address. */
  readonly service?: string;
  /** Models that are listed. Absent: the provider has no choice of models, and a request that names one is refused. */
  readonly models?: readonly string[];
  /** Whether a model that is not listed is accepted as well. */
  readonly acceptsAnyModel?: boolean;
  /** The model of a request that names none. Null: the provider chooses among its models. Every task with models declares it. */
  readonly defaultModel?: string | null;
  /** The default model for this particular input. Absent, or null: `defaultModel`. */
  defaultModelFor?(input: Input): string | null;
  /** The provider bills the tokens of its model and states them in `usage`. This is the model of a request that names none. */
  readonly tokenModel?: string;
  /** The files that the provider accepts by its documentation; other files are refused before they are read. */
  readonly files?: FileLimits;
  /** Members of the input that the provider has no parameter for; a caller who sets one is warned. */
  readonly unsupported?: readonly string[];
  /** Further unsupported members of this particular input. */
  unsupportedFor?(input: Input): readonly string[];
  /** Members of a route in the provider's own format that are passed on although the input of the task has no such member. */
  readonly passthroughMembers?: readonly string[];
  /** Members that carry the model or the billed quantity in this task alone; see `billedParams` of the provider's row. */
  readonly billedParams?: readonly string[];
  /** The voices that every account has, for a task that produces speech. Absent: each account has its own, or they are too many to list. */
  readonly voices?: Voices;
  /** Name in `call.settings` → the setting. The task is unavailable while one of them is not set. */
  readonly requiredSettings?: Readonly<Record<string, string>>;
  /** The provider accepts an idempotency key and receives the id of the job, so a job may send the request again. */
  readonly isIdempotent?: true;
  toRequest(call: ProviderTaskCall<Input>): TaskRequest | Promise<TaskRequest>;
  /**
   * For tasks of several requests: the request after `request`, or null when `response` is the last response. Absent: there is one request.
   * While a request waits (`waitMs`), a job may move to another process, without its files: the request's `state` carries what is needed
   * later. Every request after one that waits must be safe to repeat.
   */
  next?(
    response: TaskResponse,
    call: ProviderTaskCall<Input>,
    request: TaskRequest,
  ): NextRequest | null | Promise<NextRequest | null>;
  /** Throws a TaskFailure when the response reports a failure, and a TypeError when the response makes no sense. */
  fromResponse(
    response: TaskResponse,
    call: ProviderTaskCall<Input>,
    request: TaskRequest,
  ): TaskResult<Output> | Promise<TaskResult<Output>>;
  /** For a task that searches a collection of faces: the operations that manage collections. Their input has `collection_id`. */
  readonly collections?: Readonly<Record<CollectionOperation, CollectionTask>>;
  /** Requests that delete the files which the work stored at the provider. They are sent when the work has ended; `request` was its last. */
  cleanUpRequests?(call: ProviderTaskCall<Input>, request: TaskRequest): readonly TaskRequest[];
}

/** `addFaces` adds the faces in `files.file`, and `deleteFaces` deletes those in `input.face_ids`. */
export type CollectionOperation = "create" | "addFaces" | "deleteFaces" | "delete";

/** An operation on a collection, in the form of a task. */
export type CollectionTask = Pick<ProviderTask, "toRequest"> & {
  /** For `addFaces`, `faces` has an AddedFace for each face. */
  fromResponse(response: TaskResponse): TaskResult<{ readonly faces?: readonly AddedFace[] }>;
};

export interface AddedFace {
  /** The id that the provider gave the face. Absent: the gateway gives it one. */
  readonly face_id?: string;
  /** 32-bit floats in base64, if the gateway stores the face. */
  readonly vector?: string;
  readonly confidence: number | null;
  readonly bounding_box: { readonly left: number | null; readonly top: number | null } & {
    readonly width: number | null;
    readonly height: number | null;
  };
}

/** Infers the types from `task`. A member that the schema of the input or the output does not have is a compile error. */
export function defineTask<const Name extends TaskName, Output extends TaskDraft<Name>>(
  task: Name,
  facts: TaskFacts<TaskInput<Name>, Output & OnlyKnown<Output, TaskDraft<Name>>> & {
    readonly unsupported?: readonly (keyof TaskInput<Name>)[];
  } & ModelFacts,
): ProviderTask<Name> {
  return { task, ...facts };
}

/** A default that only the mapping knows would be charged at the price of another model, so a task with models has to declare it. */
type ModelFacts =
  | { readonly models?: never; readonly defaultModel?: never }
  | { readonly models: readonly string[]; readonly defaultModel: string | null };

export interface Voices {
  /** BCP-47. Null: the language of the text. */
  readonly languages: readonly string[] | null;
  /** Model → voices. The empty name means the provider's default model. */
  readonly models: Readonly<Record<string, readonly string[]>>;
}

export interface FileLimits {
  readonly maxBytes?: number;
  /** `image/png`, or `image/` for every type of image. */
  readonly mediaTypes?: readonly string[];
}

export interface TaskCall<Input extends object = JsonObject> {
  /** Null: the caller named none, and there is no default. */
  readonly model: string | null;
  /** Validated, with the defaults of the schema. */
  readonly input: Input;
  /** By the path of the member that names the file: `file`, `file1`, `reference_images.0` … */
  readonly files: Readonly<Record<string, InputFile>>;
  /** The name of one of the engine's deployments. Absent: the engine chooses. */
  readonly deployment?: string;
  /** Members that the caller adds to the provider's request. */
  readonly providerParams: JsonObject;
  /** Fires when the caller disconnects or the time is up. */
  readonly signal: AbortSignal;
  /** In the milliseconds of `performance.now()`. */
  readonly deadline: number;
  /** For every call of a provider that the engine makes. */
  readonly ticket: CallTicket;
  readonly requestId: string;
  /** From `ownerOf` (access/caller.ts). Local engines serve owners in turn. */
  readonly owner: string;
  /** The same in every run of a job, so it serves as an idempotency key. */
  readonly jobId?: string;
  /** Receives each call of a chat model that the engine makes, so that it counts as an attempt of the request. */
  readonly onAttempt?: (attempt: AttemptRecord) => void;
  /** 0..1; only jobs listen. */
  readonly onProgress?: (share: number) => void;
  /** An engine with `announcesSend` waits for it right before its first call that may be billed. Only jobs have it. */
  readonly beforeSend?: () => Promise<void>;
  /** Of a start of work that was interrupted: whether a later run starts it again, and needs its files then. Absent: no run does. */
  readonly willRepeat?: () => Promise<boolean>;
}

export interface ProviderTaskCall<Input extends object = JsonObject> extends TaskCall<Input> {
  /** Those that the task requires. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface InputFile {
  readonly name: string;
  /** Detected from the bytes; the type that the caller states is ignored. */
  readonly mediaType: string;
  readonly size: number;
  read(): Promise<Uint8Array>;
}

/** One call of a provider. */
export interface AttemptRecord {
  readonly provider: string;
  readonly model: string;
  readonly deployment: string;
  /** Why this offer was tried. */
  readonly reason: "first" | "retry" | "other_deployment" | "fallback";
  readonly startedAt: number;
  /** False while nothing was sent to the provider, for example because its format cannot express the request. */
  wasSent: boolean;
  /** Null while the call runs, and after a success. */
  failure: "caller_left" | ErrorCode | null;
  endedAt: number | null;
}

export interface TaskRequest {
  /** Default: POST. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Appended to the address, already percent-encoded. */
  readonly path: string;
  /** Members that are null or undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: TaskRequestBody;
  /**
   * Where `provider_params` are merged into the JSON body; default: its top level. In a form they become fields, or members of the JSON in
   * the field with this name. Without a body they become query parameters.
   */
  readonly paramsPath?: readonly (string | number)[];
  /** Whether `provider_params` are merged into this request. Default: only into the first one. */
  readonly acceptsProviderParams?: boolean;
  /** The request only stores a file. It starts no work and names no model, so the task may be repeated after it. */
  readonly isPreparation?: true;
  /** Statuses beyond 2xx that count as success. */
  readonly acceptedStatuses?: readonly number[];
  /** One of the row's services, in place of the task's. */
  readonly service?: string;
  /**
   * Replaces `path`: the address of a result that the provider stores elsewhere. It is fetched without credentials, and not from private
   * networks.
   */
  readonly url?: string;
  /** Needed to read the responses; never sent. JSON, if the request waits. */
  readonly state?: unknown;
}

export interface NextRequest extends TaskRequest {
  /**
   * Delay before the request is sent. `growing`: the provider recommends none, so the delay grows from one second to ten. A request with a
   * delay polls for a result, and is repeated after a temporary failure.
   */
  readonly waitMs?: number | "growing";
  /** 0..1, if the provider reports it. */
  readonly progress?: number;
}

export type TaskRequestBody =
  /** Default of `mediaType`: `application/json`. */
  | { readonly kind: "json"; readonly value: unknown; readonly mediaType?: string }
  /** multipart/form-data */
  | { readonly kind: "form"; readonly parts: readonly FormPart[] }
  /** application/x-www-form-urlencoded */
  | { readonly kind: "fields"; readonly fields: Readonly<Record<string, string>> }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly mediaType: string }
  | { readonly kind: "text"; readonly text: string; readonly mediaType: string };

export type FormPart =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly fileName: string; readonly mediaType: string; readonly bytes: Uint8Array };

export interface TaskResponse {
  readonly status: number;
  /** `name` in lower case. */
  header(name: string): string | null;
  /** In lower case, without parameters. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** Parsed on first use; throws `provider_bad_response` when the body is not JSON. */
  readonly json: unknown;
}

export interface TaskResult<Output extends object = JsonObject> {
  /** In the shape of the output schema, except for the members that `binaries` fills. */
  readonly output: Output;
  /** The provider's own answer, for `show_original_response`. Absent: a provider task's last response if it is JSON, otherwise null. */
  readonly original?: unknown;
  readonly units: Readonly<Partial<Record<PriceUnit, number>>>;
  /** The cost in USD, if it is known more exactly than from a price per unit. An unknown cost is null, with a reason. */
  readonly charge?: StatedCharge;
  readonly binaries?: readonly BinaryResult[];
  /** The output was checked against its schema by the process that computed it. */
  readonly isChecked?: boolean;
  /** The tokens that the provider states, for a task with a `tokenModel`. */
  readonly usage?: unknown;
}

export type ResultOf<Name extends TaskName> = TaskResult<TaskDraft<Name>>;

export type PriceUnit = "page" | "char" | "image" | "second" | "minute" | "request" | "token" | "file" | "exec_time";

/** Bytes that the gateway adds to the output: as base64, and as a signed URL. */
export interface BinaryResult {
  /** E.g. `["items", 0, "image"]`. Null: the schema has no member for base64. */
  readonly base64Path: readonly (string | number)[] | null;
  readonly urlPath: readonly (string | number)[];
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/** A response with a successful status that reports a failure. `status` is the one that it should have had. */
export class TaskFailure extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "TaskFailure";
    this.status = status;
  }
}

/** Refuses an input that this provider does not accept, at a member of `input`. */
export function refuseInput(member: string, msg: string, type = "value_error"): never {
  throw new ValidationError([{ loc: ["body", "input", ...member.split(".")], msg, type }]);
}
