// The error catalogue: every code that a caller can meet, its status and type, and whether a client's retry makes sense.
// Whatever is thrown on the way of a request ends in http/error-reply.ts, which turns these into an answer.

interface Entry {
  readonly status: number;
  readonly type: string;
  /** `false` is told to SDKs by `x-should-retry: false`: their automatic retry would be wrong. */
  readonly retry?: false;
}

const invalid = "invalid_request_error";
const unavailable = "service_unavailable";

export const errorCatalogue = {
  malformed_request: { status: 400, type: invalid },
  invalid_utf8: { status: 400, type: invalid },
  provider_rejected_request: { status: 400, type: invalid },
  previous_response_not_found: { status: 400, type: invalid },
  previous_response_provider_mismatch: { status: 400, type: invalid },
  stateful_not_supported: { status: 400, type: invalid },
  compaction_not_supported: { status: 400, type: invalid },
  async_only: { status: 400, type: invalid },
  no_webhook_receiver: { status: 400, type: invalid },
  response_in_progress: { status: 400, type: invalid },
  unknown_message: { status: 400, type: invalid },
  missing_api_key: { status: 401, type: "authentication_error" },
  invalid_auth_scheme: { status: 401, type: "authentication_error" },
  invalid_api_key: { status: 401, type: "authentication_error" },
  api_key_expired: { status: 401, type: "authentication_error" },
  api_key_revoked: { status: 401, type: "authentication_error" },
  insufficient_credits: { status: 402, type: "insufficient_quota" },
  insufficient_scope: { status: 403, type: "permission_error" },
  model_not_allowed: { status: 403, type: "permission_error" },
  not_found: { status: 404, type: invalid },
  provider_not_found: { status: 404, type: invalid },
  model_not_found: { status: 404, type: invalid },
  feature_not_found: { status: 404, type: invalid },
  subfeature_not_found: { status: 404, type: invalid },
  response_not_found: { status: 404, type: invalid },
  response_not_stored: { status: 404, type: invalid, retry: false },
  job_not_found: { status: 404, type: invalid },
  file_not_found: { status: 404, type: invalid },
  key_not_found: { status: 404, type: invalid },
  method_not_allowed: { status: 405, type: invalid },
  request_timeout: { status: 408, type: invalid },
  job_processing: { status: 409, type: invalid, retry: false },
  job_finished: { status: 409, type: invalid, retry: false },
  key_conflict: { status: 409, type: invalid, retry: false },
  payload_too_large: { status: 413, type: invalid },
  unsupported_media_type: { status: 415, type: invalid },
  unsupported_charset: { status: 415, type: invalid },
  unsupported_content_encoding: { status: 415, type: invalid },
  expectation_failed: { status: 417, type: invalid },
  invalid_request: { status: 422, type: invalid },
  rate_limit_exceeded: { status: 429, type: "rate_limit_error" },
  too_many_auth_failures: { status: 429, type: "rate_limit_error" },
  provider_rate_limited: { status: 429, type: "rate_limit_error" },
  headers_too_large: { status: 431, type: invalid },
  too_many_headers: { status: 431, type: invalid },
  internal_error: { status: 500, type: "server_error" },
  not_implemented: { status: 501, type: invalid, retry: false },
  provider_auth_failed: { status: 502, type: "upstream_error", retry: false },
  provider_error: { status: 502, type: "upstream_error" },
  provider_unreachable: { status: 502, type: "upstream_error" },
  provider_bad_response: { status: 502, type: "upstream_error" },
  provider_disconnected: { status: 502, type: "upstream_error" },
  provider_not_configured: { status: 503, type: unavailable, retry: false },
  provider_unavailable: { status: 503, type: unavailable },
  overloaded: { status: 503, type: unavailable },
  draining: { status: 503, type: unavailable },
  dependency_unavailable: { status: 503, type: unavailable },
  provider_timeout: { status: 504, type: "upstream_error" },
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof errorCatalogue;

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
  readonly headers?: Readonly<Record<string, string>>;
  /** The request was written to a provider and no whole answer came back: repeating it may execute, and bill, it twice. */
  readonly mayHaveExecuted?: true;
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

  /** `leftOut`: further problems that were counted and not kept. */
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

/** Collects the problems of a request. Beyond the limit a problem is counted and not kept, so that a hostile request costs no memory. */
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
  if (missing > 0)
    kept.push({ loc: [first.loc[0] ?? "body"], msg: `${missing} more problems`, type: "problems_left_out" });
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

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
