// The contract of an engine: who does a task of the universal endpoint, at one provider. What goes in has been checked against
// the task's input schema and its files have been fetched; what comes out is checked against the output schema.

import type { ErrorCode } from "../errors.ts";
import type { Json } from "../lib/json-schema/schema.ts";
import type { JsonObject } from "../providers/dialect.ts";

export interface Engine {
  /** The third part of a task model's name: `local`, `openai`, `amazon` … */
  readonly provider: string;
  /** Other names that mean this provider: its company's. */
  readonly alsoNamed?: readonly string[];
  /** `text/sentiment_analysis` */
  readonly task: string;
  /** Models that are listed. Empty: it has none to choose from. */
  readonly models: readonly string[];
  /** Whether a model that is not listed is tried as well. */
  readonly takesOtherModels: boolean;
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
  /** Doing it a second time changes nothing elsewhere and costs nothing: a job that was interrupted may simply be run again. */
  readonly isRepeatable?: true;
  /** Members of the task's input that its provider has no parameter for: a caller who gives one is told. */
  readonly unusedMembers?: readonly string[];
  /** It looks into no file: what an address names is not fetched for it. */
  readonly ignoresFiles?: true;
  /** Throws a GatewayError, or a ValidationError when this engine cannot take such an input. */
  run(call: EngineCall): Promise<EngineAnswer>;
  /**
   * For work that goes on elsewhere: begins it when `kept` is null, else asks for it, once. What it wants to find again is kept
   * durably before the next step, in this process or another one. Throws as `run` does.
   */
  runStep?(call: EngineCall, kept: Json | null): Promise<EngineStep>;
}

/** Done, or to be asked again after a while. */
export type EngineStep =
  | { readonly answer: EngineAnswer }
  | { readonly kept: Json; readonly waitMs: number; readonly progress?: number };

export interface EngineCall {
  /** Null: none was named. */
  readonly model: string | null;
  /** With the defaults of the schema filled in. */
  readonly input: JsonObject;
  /** The files that the input names, by the member that names them: `file`, `file1`, `reference_images.0` … */
  readonly files: Readonly<Record<string, EngineFile>>;
  /** Free-form members that are merged into the vendor's call. */
  readonly providerParams: JsonObject;
  /** Fires when the caller has left, or the time is up. */
  readonly signal: AbortSignal;
  /** In the milliseconds of `performance.now()`. */
  readonly deadline: number;
  readonly requestId: string;
  /** Whose work it is, as `ownerOf` of access/caller.ts names it: local engines serve owners in turn. */
  readonly owner: string;
  /** The same for every run of a job, and for no other: what a vendor takes as a token against doing a thing twice. */
  readonly jobId?: string;
  /** Takes each call of a chat model that the engine makes, so that every send is counted as an attempt of the request. */
  readonly noteAttempt?: (attempt: EngineAttempt) => void;
  /** 0..1; only jobs listen. */
  readonly tellProgress?: (share: number) => void;
}

/** One send to a provider. */
export interface EngineAttempt {
  readonly provider: string;
  readonly model: string;
  readonly deployment: string;
  /** Why this offer was tried. */
  readonly reason: "first" | "retry" | "other_deployment" | "fallback";
  readonly startedAt: number;
  /** Null while it runs, and when it has answered. */
  failure: "caller_left" | ErrorCode | null;
  endedAt: number | null;
}

export interface EngineFile {
  readonly name: string;
  /** Detected from the bytes, never believed. */
  readonly mediaType: string;
  readonly size: number;
  read(): Promise<Uint8Array>;
}

export interface EngineAnswer {
  /** In the shape of the task's output schema, binary results excepted: see `binaries`. */
  readonly output: JsonObject;
  /** As the vendor or library said it, for `show_original_response`; null when there is nothing of that kind. */
  readonly original: unknown;
  /** What was used, by the units that prices have: `page`, `char`, `image`, `second`, `minute`, `request`, `token`, `file`. */
  readonly units: Readonly<Partial<Record<PriceUnit, number>>>;
  /** USD, when the engine knows it better than a price per unit; null with a reason when nobody knows. */
  readonly charge?: { readonly cost: number | null; readonly reason: string | null };
  /**
   * Binary results, by the path of the member that holds them in `output`: the gateway puts base64 there where the schema has such
   * a member, and a signed address into its `…_resource_url` neighbour. E.g. `{ path: ["items", 0, "image"], … }`.
   */
  readonly binaries?: readonly BinaryResult[];
}

export type PriceUnit = "page" | "char" | "image" | "second" | "minute" | "request" | "token" | "file" | "exec_time";

export interface BinaryResult {
  /** Where base64 goes in the output; null: the schema has no such member. */
  readonly base64Path: readonly (string | number)[] | null;
  /** Where the address goes in the output. */
  readonly urlPath: readonly (string | number)[];
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}
