// The contract of a vendor's task: pure functions that turn a task's input into requests, and the last answer into its output. The
// engine around them (engines/vendor-engine.ts) decides what is sent, retried, timed and paid.

import { type ErrorCode, ValidationError } from "../errors.ts";
import type { JsonObject } from "../lib/lenient-json.ts";

export interface VendorTask {
  /** `text/sentiment_analysis` */
  readonly task: string;
  /** The page that the wire format comes from. */
  readonly docs: string;
  /** One of the row's services; absent: the row's own address. */
  readonly service?: string;
  /** Models that are listed. Absent: there are none to choose from, and naming one is refused by the gateway. */
  readonly models?: readonly string[];
  /** Whether a model that is not listed is tried as well. */
  readonly takesOtherModels?: boolean;
  /** What the vendor's documentation says that it takes; other files are refused before they are read. */
  readonly files?: FileLimits;
  /** Members of the task's input that the vendor has no parameter for: a caller who gives one is told. */
  readonly unused?: readonly string[];
  /** Those that the vendor has a parameter for, but not in a request with this input. */
  readonly unusedFor?: (input: JsonObject) => readonly string[];
  /** Members that a route in the vendor's own format has beyond the task's input, and that are passed on. */
  readonly passedMembers?: readonly string[];
  /** Of a task that speaks: the voices that every account has. Absent: they are not the same for all, or too many to list. */
  readonly voices?: Voices;
  /** Settings without which this task cannot be done, by the names under which the call has them. */
  readonly needs?: Readonly<Record<string, string>>;
  /** The vendor takes a token against doing it twice, and is given the one of the job: a job may begin it again. */
  readonly isRepeatable?: true;
  toRequest(call: VendorCall): VendorRequest | Promise<VendorRequest>;
  /**
   * For tasks of several requests: what follows an answer to `asked`, which may be asked again. Null: it was the last one.
   * Absent: the first one is. Between a request that waits and the next one a job may move to another process, without its files: what
   * is needed then goes along as the request's `note`. All that follows one that waits must bear being asked twice.
   */
  next?(answer: VendorAnswer, call: VendorCall, asked: VendorRequest): NextRequest | null | Promise<NextRequest | null>;
  /** Throws a VendorFailure when the answer says that it failed. A TypeError means an answer that makes no sense. */
  fromAnswer(answer: VendorAnswer, call: VendorCall, asked: VendorRequest): VendorResult | Promise<VendorResult>;
  /** What takes away the files that the work left at the vendor's, after its end. `asked` was the last request. */
  leftovers?(call: VendorCall, asked: VendorRequest): readonly VendorRequest[];
}

export interface Voices {
  /** BCP-47; null: the language of the text. */
  readonly languages: readonly string[] | null;
  /** Model → voices; the empty name stands for the provider's default model. */
  readonly models: Readonly<Record<string, readonly string[]>>;
}

export interface VendorCall extends EngineCall {
  /** Those that the task needs. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface FileLimits {
  readonly maxBytes?: number;
  /** `image/png`; one that ends with a slash stands for all of its kind: `image/`. */
  readonly mediaTypes?: readonly string[];
}

export interface VendorRequest {
  /** POST when absent. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Appended to the address, percent-encoded where it must be. */
  readonly path: string;
  /** Members that are null or undefined are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: VendorBody;
  /**
   * Where in the JSON body `provider_params` go; its top when absent. In a form they become fields, or members of the JSON in the one field
   * that is named here; else parameters of the address.
   */
  readonly paramsAt?: readonly (string | number)[];
  /** Whether `provider_params` go into it. Absent: only when it is the first one. */
  readonly takesParams?: boolean;
  /** Statuses beyond 2xx that are no failure. */
  readonly alsoGood?: readonly number[];
  /** Another one of the row's services than the task's. */
  readonly service?: string;
  /**
   * The address of a result that the vendor keeps elsewhere, instead of `path`: fetched through the guard against inner addresses, and
   * without credentials.
   */
  readonly url?: string;
  /** What the answers are to be read with. It never leaves the gateway. Of a request that waits it has to be JSON. */
  readonly note?: unknown;
}

export interface NextRequest extends VendorRequest {
  /**
   * How long to wait before it; `growing`: the vendor does not say, a second at first and ten in the end. One that waits asks whether
   * work is done, and is asked again when it meets a short failure.
   */
  readonly waitMs?: number | "growing";
  /** 0..1, where the vendor tells how far the work is. */
  readonly progress?: number;
}

export type VendorBody =
  /** `mediaType`: `application/json` when absent. */
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

export interface VendorAnswer {
  readonly status: number;
  /** Names are written in lower case. */
  header(name: string): string | null;
  /** Of the content type, in lower case, without its parameters. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** Parsed when it is first asked for; a body that is no JSON is `provider_bad_response`. */
  readonly json: unknown;
}

export interface VendorResult {
  readonly output: JsonObject;
  readonly units: EngineAnswer["units"];
  readonly binaries?: EngineAnswer["binaries"];
  readonly charge?: EngineAnswer["charge"];
  /** For `show_original_response`. Absent: the last answer where it is JSON, else null. */
  readonly original?: unknown;
}

export interface EngineCall {
  /** Null: none was named. */
  readonly model: string | null;
  /** With the defaults of the schema filled in. */
  readonly input: JsonObject;
  /** The files that the input names, by the member that names them: `file`, `file1`, `reference_images.0` … */
  readonly files: Readonly<Record<string, EngineFile>>;
  /** Where to send it: the name of one of the engine's deployments. Absent: the engine chooses. */
  readonly deployment?: string;
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
  /** The cost in USD, if the engine knows it more exactly than a price per unit. An unknown cost is null, with a reason. */
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

/** An answer of status 200 that says it failed. The status is the one that the failure should have had. */
export class VendorFailure extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "VendorFailure";
    this.status = status;
  }
}

/** Refuses an input that this vendor does not accept, at a member of `input`. */
export function refuseInput(member: string, msg: string, type = "value_error"): never {
  throw new ValidationError([{ loc: ["body", "input", ...member.split(".")], msg, type }]);
}
