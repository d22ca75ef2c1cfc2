// The error catalogue: every error code with its status, type and meaning. http/error-reply.ts turns a thrown error into an answer.

/** The type of an error follows from its status; `invalid_request_error` is that of all others. */
const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "insufficient_quota",
  403: "permission_error",
  429: "rate_limit_error",
  500: "server_error",
  502: "upstream_error",
  503: "service_unavailable",
  504: "upstream_error",
};

/** Status and meaning. The meanings are part of the API reference. */
const entries = {
  malformed_request: [400, "The request is not well-formed HTTP."],
  invalid_utf8: [400, "The body is not valid UTF-8."],
  provider_rejected_request: [400, "The provider refused the request; the message carries its reason."],
  previous_response_not_found: [400, "No stored response of this caller has the id in `previous_response_id`."],
  previous_response_provider_mismatch: [
    400,
    "The earlier response is stored by another provider; only that provider can continue it.",
  ],
  stateful_not_supported: [
    400,
    "The provider cannot continue an earlier response, or cannot run this one in the background.",
  ],
  compaction_not_supported: [400, "The provider cannot compact conversations."],
  async_only: [400, "The task runs only as a job: send it to `/v3/universal-ai/async`."],
  no_webhook_receiver: [400, "The job was submitted without a `webhook_receiver`, so there is no callback to send."],
  response_in_progress: [400, "Over a WebSocket: the previous response has not ended yet."],
  unknown_message: [400, "Over a WebSocket: the message is not `response.create`."],
  missing_api_key: [401, "The request has no `Authorization` header."],
  invalid_auth_scheme: [401, "The `Authorization` header does not use the scheme `Bearer`."],
  invalid_api_key: [401, "The key is not known."],
  api_key_expired: [401, "The key has expired."],
  api_key_revoked: [401, "The key was revoked, which is final, or is disabled, which an administrator can change."],
  session_ended: [401, "The session of the cookie has ended or never existed: sign in again."],
  sign_in_failed: [401, "The issuer refused the sign-in, or its answer is not valid."],
  insufficient_credits: [402, "The key has a budget of 0, so it may not make any call."],
  budget_exceeded: [
    402,
    "A budget of the key or of its team does not cover the call; the message names the budget, what is left of it and when it resets.",
  ],
  price_unknown: [
    402,
    "The model has no price, so the call cannot be counted against a budget; the operator can set its price or a fallback price.",
  ],
  insufficient_scope: [403, "The key may not call this path: it has the wrong kind, or lacks the scope."],
  insufficient_role: [403, "The role of the key or the person does not allow this, or is limited to a team."],
  no_role: [403, "The person signed in, but none of their groups has a role at this gateway."],
  csrf_token_invalid: [
    403,
    "A request with a session cookie changes something and lacks the header `x-switchyard-csrf`, or its value is wrong.",
  ],
  cross_origin_refused: [
    403,
    "A request with a session cookie changes something and comes from a page of another site.",
  ],
  model_not_allowed: [403, "The key or its team may not use this model."],
  team_disabled: [403, "The team of the key is disabled."],
  host_not_allowed: [403, "The `Host` header of a request for operators names another host than this gateway."],
  not_found: [404, "There is no route for this path."],
  provider_not_found: [
    404,
    "No provider has this name: that of the path, or the one before the first slash of `model`.",
  ],
  credentials_not_found: [404, "The store has no credentials of the provider."],
  model_not_found: [404, "No configured provider offers the model."],
  feature_not_found: [404, "There is no such feature."],
  subfeature_not_found: [404, "The feature has no such subfeature."],
  response_not_found: [404, "No stored response of this caller has the id."],
  response_not_stored: [
    404,
    "The response was created with `store: false`, or its provider stores none, so it was not stored.",
  ],
  job_not_found: [404, "No job of this caller has the id, or the job has expired."],
  file_not_found: [404, "No file of this caller has the id, or the signed URL is no longer valid."],
  collection_not_found: [404, "No collection of this caller has the id, or the collection has expired."],
  face_not_found: [404, "The collection has no face with the id."],
  key_not_found: [404, "No key has the id."],
  team_not_found: [404, "No team has the id or name."],
  session_not_found: [404, "No session has the id, or the session has ended."],
  request_not_found: [404, "The ledger has no request with the id, or its lines have been deleted."],
  method_not_allowed: [405, "The path does not allow this method; `Allow` lists the methods that it allows."],
  request_timeout: [408, "The body did not arrive in time."],
  job_processing: [409, "The job is still running."],
  job_finished: [409, "The job has ended, so it cannot be cancelled."],
  key_conflict: [409, "The key is in a state that does not allow the change."],
  provider_conflict: [409, "The credentials of the provider cannot be stored; the message says why."],
  team_conflict: [409, "A team has this name already, or the team still has keys that are not revoked."],
  payload_too_large: [413, "The body is larger than the gateway accepts."],
  unsupported_media_type: [415, "The body is not declared as `application/json`."],
  unsupported_charset: [415, "The body is declared with a character set other than UTF-8."],
  unsupported_content_encoding: [415, "The body has a content encoding. Send it uncompressed."],
  expectation_failed: [417, "The `Expect` header asks for something other than `100-continue`."],
  invalid_request: [422, "The JSON or the values in it are not valid; `detail` lists every problem."],
  rate_limit_exceeded: [429, "A rate limit of the key or its team is reached; `Retry-After` is the time to wait."],
  too_many_deliveries: [
    429,
    "The webhook of the job was sent again too often. The result of the job can still be read.",
  ],
  too_many_auth_failures: [429, "Too many requests with wrong keys came from this address."],
  provider_rate_limited: [429, "The provider's own rate limit is reached."],
  headers_too_large: [431, "The headers or the URL are too long."],
  too_many_headers: [431, "There are too many headers."],
  internal_error: [500, "A bug of the gateway. Report the `x-request-id`."],
  not_implemented: [501, "The gateway does not support this."],
  issuer_unavailable: [502, "The issuer of OpenID Connect identities does not answer."],
  provider_auth_failed: [502, "The provider refused the gateway's own credentials. The operator has to act."],
  provider_error: [502, "The provider failed."],
  provider_unreachable: [502, "The provider could not be reached."],
  provider_bad_response: [502, "The provider's answer could not be understood."],
  provider_disconnected: [502, "The provider closed the connection before its answer was complete."],
  provider_not_configured: [503, "The provider is known, but has no credentials; the message names the setting."],
  provider_unavailable: [
    503,
    "The circuit of the provider is open after repeated failures; `Retry-After` is the time to wait.",
  ],
  overloaded: [503, "The gateway is overloaded."],
  draining: [503, "This process is shutting down; connect again to reach another one."],
  dependency_unavailable: [503, "The gateway's store does not answer."],
  provider_timeout: [504, "The provider did not answer in time."],
} as const satisfies Record<string, readonly [status: number, meaning: string]>;

/** The answer tells SDKs not to retry these (`x-should-retry: false`). */
const notRetried: ReadonlySet<string> = new Set<ErrorCode>([
  "response_not_stored",
  "job_processing",
  "job_finished",
  "too_many_deliveries",
  "key_conflict",
  "team_conflict",
  "provider_conflict",
  "not_implemented",
  "provider_auth_failed",
  "provider_not_configured",
]);

export type ErrorCode = keyof typeof entries;

interface CatalogueEntry {
  readonly status: number;
  readonly type: string;
  readonly meaning: string;
  readonly mayRetry: boolean;
}

export const errorCatalogue = Object.fromEntries(
  Object.entries(entries).map(([code, [status, meaning]]) => {
    const type = types[status] ?? "invalid_request_error";
    return [code, { status, type, meaning, mayRetry: !notRetried.has(code) }];
  }),
) as Readonly<Record<ErrorCode, CatalogueEntry>>;

/** One problem of a request, in the form that FastAPI clients know. */
export interface Problem {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

interface ErrorDetails {
  readonly param?: string;
  /** Seconds, for the Retry-After header. */
  readonly retryAfter?: number;
  /** The same request would fail in the same way: neither a client nor a job should repeat it. */
  readonly shouldRetry?: false;
  /** The status of the provider's error, where the status of the answer is another one. */
  readonly providerStatus?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The request was written to a provider without a complete answer, or an earlier call for the same task was answered: repeating it may
   * execute and bill it twice.
   */
  readonly mayHaveExecuted?: true;
  /** A limit of the key or its team refused the call before it was sent. Another model may have other limits. */
  readonly isOwnLimit?: true;
  readonly cause?: unknown;
}

export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "GatewayError";
    this.code = code;
    this.details = details;
  }
}

/** A 422: all problems at once, in the order of the schema, within limits of number and size. */
export class ValidationError extends Error {
  readonly problems: readonly [Problem, ...Problem[]];

  /** `leftOut`: the number of further problems that were only counted. */
  constructor(problems: readonly [Problem, ...Problem[]], leftOut = 0) {
    const kept = limitProblems(problems, leftOut);
    super(kept[0].msg);
    this.name = "ValidationError";
    this.problems = kept;
  }
}

/** A setting that the operator has to correct. `path` is a member of switchyard.yaml or an environment variable. */
export class SettingError extends Error {
  readonly path: string;

  constructor(path: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SettingError";
    this.path = path;
  }
}

const maxProblems = 100;
/** The answer may have 64 KB; the message and the parameter repeat the first problem. */
const maxProblemsLength = 48 * 1024;
const maxStepLength = 100;
const maxSteps = 70;
const maxMessageLength = 1_000;

/** Collects the problems of a request. Problems beyond the limit are only counted, so that a hostile request costs no memory. */
export class ProblemList {
  readonly #kept: Problem[] = [];
  #leftOut = 0;

  get isFull(): boolean {
    return this.#kept.length >= maxProblems;
  }

  add(problem: Problem): void {
    if (this.isFull) this.#leftOut++;
    else this.#kept.push(problem);
  }

  leaveOut(count: number): void {
    this.#leftOut += count;
  }

  throwIfAny(): void {
    const [first, ...others] = this.#kept;
    if (first !== undefined) throw new ValidationError([first, ...others], this.#leftOut);
  }
}

export function throwProblems(problems: readonly Problem[]): void {
  const [first, ...others] = problems;
  if (first !== undefined) throw new ValidationError([first, ...others]);
}

function limitProblems(problems: readonly [Problem, ...Problem[]], leftOut: number): [Problem, ...Problem[]] {
  const first = shortenProblem(problems[0]);
  const kept: [Problem, ...Problem[]] = [first];
  let length = lengthOf(first);
  let next = 1;
  for (; next < problems.length; next++) {
    const isLast = next === problems.length - 1 && leftOut === 0;
    if (kept.length >= (isLast ? maxProblems : maxProblems - 1)) break;
    const problem = shortenProblem(problems[next] as Problem);
    length += lengthOf(problem);
    if (length > maxProblemsLength) break;
    kept.push(problem);
  }
  const missing = problems.length - next + leftOut;
  if (missing > 0) {
    const msg = missing === 1 ? "1 more problem" : `${missing} more problems`;
    kept.push({ loc: [first.loc[0] ?? "body"], msg, type: "problems_left_out" });
  }
  return kept;
}

function shortenProblem({ loc, msg, type }: Problem): Problem {
  const steps = loc.slice(0, maxSteps).map((step) => (typeof step === "string" ? shorten(step, maxStepLength) : step));
  return { loc: steps, msg: shorten(msg, maxMessageLength), type };
}

function lengthOf(problem: Problem): number {
  return Buffer.byteLength(JSON.stringify(problem));
}

/** Does not cut a surrogate pair in two. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const cut = text.slice(0, maxLength - 1);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

const maxCauseLength = 500;

/** The system error behind an error of the gateway, for the log: "ECONNREFUSED: connect failed". */
export function describeCause({ cause }: Error): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  const { code } = cause as { readonly code?: unknown };
  return shorten(`${typeof code === "string" ? `${code}: ` : ""}${cause.message}`, maxCauseLength);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
