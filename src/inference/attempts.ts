// Tries the offers of a plan in turn until one answers: the next offer at once, or, when there is no other, the same one again
// after a pause, all inside one deadline and one budget of retries.

import { type ErrorCode, GatewayError, ValidationError } from "../errors.ts";
import { CallerLeft, type Connection } from "../providers/call.ts";
import type { Admission } from "./health.ts";
import type { Candidate } from "./route-planner.ts";
import type { AttemptNote, AttemptReason, Trace } from "./trace.ts";

/** After these failures another offer may do better; a request that was rejected as such would be rejected again. */
export const fallbackCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "model_not_found",
  "provider_rate_limited",
  "provider_auth_failed",
  "provider_error",
  "provider_unreachable",
  "provider_bad_response",
  "provider_disconnected",
  "provider_unavailable",
  "provider_timeout",
  // Only an engine of this house says so of itself.
  "overloaded",
]);

/** After these the same offer may do better in a moment. A provider that was too slow is not made to do it all again. */
const retryCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "provider_rate_limited",
  "provider_error",
  "provider_unreachable",
  "provider_disconnected",
]);

export interface RetrySettings {
  /** How often a failed call is made again when there is no other offer. */
  readonly retries: number;
}

const firstPauseMs = 100;
// A provider that asks for a longer wait is taken at its word: the caller is told instead.
const longestPauseMs = 2_000;

export interface AttemptOptions {
  readonly candidates: readonly Candidate[];
  readonly trace: Trace;
  readonly connection: Connection;
  /** In the milliseconds of `performance.now()`. */
  readonly deadline: number;
  /** `false`: a request that a provider may have executed is not sent to it again. */
  readonly repeatsExecuted?: false;
}

/** Retries are a share of the requests, so that they never multiply the load on a provider that is down. */
export class RetryBudget {
  static readonly #share = 0.2;
  static readonly #most = 100;
  #left = 10;

  deposit(): void {
    if (this.#left < RetryBudget.#most) this.#left += RetryBudget.#share;
  }

  withdraw(): boolean {
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}

export class Attempts {
  readonly #settings: RetrySettings;
  readonly #budget = new RetryBudget();

  constructor(settings: RetrySettings) {
    this.#settings = settings;
  }

  /** `attempt` resolves when the offer has answered, or has begun to. */
  async run<T>(options: AttemptOptions, attempt: (candidate: Candidate) => Promise<T>): Promise<T> {
    const { candidates, trace } = options;
    this.#budget.deposit();
    let failure: GatewayError | null = null;
    let refusal: ValidationError | null = null;
    for (const [index, candidate] of candidates.entries()) {
      const retries = candidates.length === 1 ? this.#settings.retries : 0;
      for (let tried = 0; tried <= retries; tried++) {
        const admission = candidate.health.admit(performance.now());
        if (admission === null) {
          trace.skipped.push({ provider: candidate.provider.name, model: candidate.model, why: "circuit open" });
          break;
        }
        const reason = tried > 0 ? "retry" : reasonOf(candidates, index);
        const note = beginNote(candidate, reason, trace);
        try {
          const result = await attempt(candidate);
          noteSuccess(note, candidate, admission, trace);
          return result;
        } catch (error) {
          noteFailure(note, candidate, admission, error);
          if (error instanceof ValidationError) {
            // Its format has no place for what was asked; another offer's may have.
            refusal ??= error;
            break;
          }
          if (!(error instanceof GatewayError && fallbackCodes.has(error.code))) throw error;
          failure = error;
        }
        if (tried === retries || !retryCodes.has(failure.code)) break;
        if (options.repeatsExecuted === false && failure.details.mayHaveExecuted) break;
        const pauseMs = pauseBefore(tried, failure);
        if (pauseMs === null) break;
        const then = performance.now() + pauseMs;
        // This failure may have opened the circuit: there is nothing to wait for then.
        if (then >= options.deadline || !candidate.health.mayBeAsked(then) || !this.#budget.withdraw()) break;
        await pause(pauseMs, options.connection);
      }
      if (performance.now() >= options.deadline) break;
    }
    throw failure ?? refusal ?? unavailable(candidates);
  }
}

function beginNote({ provider, deployment, model }: Candidate, reason: AttemptReason, trace: Trace): AttemptNote {
  const note: AttemptNote = {
    provider: provider.name,
    model,
    deployment: deployment.name,
    reason,
    startedAt: performance.now(),
    failure: null,
    endedAt: null,
  };
  trace.attempts.push(note);
  return note;
}

function noteSuccess(note: AttemptNote, { health }: Candidate, admission: Admission, trace: Trace): void {
  const now = performance.now();
  note.endedAt = now;
  health.succeeded(now, admission, (trace.firstByteAt || now) - (trace.sentAt || note.startedAt));
}

function noteFailure(note: AttemptNote, { health }: Candidate, admission: Admission, error: unknown): void {
  note.endedAt = performance.now();
  if (error instanceof GatewayError) {
    const { code, message, details } = error;
    note.failure = code;
    const failure = { code, message, retryAfter: details.retryAfter ?? null };
    health.failed(note.endedAt, admission, failure, note.reason !== "retry");
  } else {
    note.failure = describe(error);
    health.forgotten(admission);
  }
}

/** An end that says nothing about the offer. */
function describe(error: unknown): AttemptNote["failure"] {
  if (error instanceof ValidationError) return "invalid_request";
  return error instanceof CallerLeft ? "caller_left" : "internal_error";
}

function reasonOf(candidates: readonly Candidate[], index: number): AttemptReason {
  if (index === 0) return "first";
  const [before, now] = [candidates[index - 1], candidates[index]];
  return before?.provider === now?.provider && before?.model === now?.model ? "other_deployment" : "fallback";
}

/** Null: the provider asks for more patience than a request has. */
function pauseBefore(tried: number, { details }: GatewayError): number | null {
  const growing = Math.min(firstPauseMs * 2 ** tried, longestPauseMs);
  const jittered = growing * (0.5 + Math.random() / 2);
  if (details.retryAfter === undefined) return jittered;
  const wishMs = details.retryAfter * 1_000;
  return wishMs > longestPauseMs ? null : Math.max(wishMs, jittered);
}

/** Ends early when the caller leaves. */
async function pause(milliseconds: number, { signal }: Connection): Promise<void> {
  if (!signal.aborted) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  }
  if (signal.aborted) throw new CallerLeft();
}

function unavailable(candidates: readonly Candidate[]): GatewayError {
  const now = performance.now();
  const soonestMs = Math.min(...candidates.map(({ health }) => health.opensInMs(now)));
  const names = [...new Set(candidates.map(({ provider }) => `'${provider.name}'`))].join(", ");
  return new GatewayError(
    "provider_unavailable",
    `The provider ${names} has been failing and is not asked for a while.`,
    {
      retryAfter: Math.max(1, Math.ceil(soonestMs / 1_000)),
    },
  );
}
