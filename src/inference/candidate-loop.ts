// Tries the candidates of a plan in turn until one answers. A failure leads to the next candidate at once; a single candidate is
// retried after a pause. All attempts share one deadline, and all retries of the process share one budget.

import { type ErrorCode, GatewayError, ValidationError } from "../errors.ts";
import { pause } from "../lib/deadline.ts";
import { CallerLeft, type Connection } from "../providers/call.ts";
import { type Admission, isProviderFailure, type OfferHealth } from "./health.ts";
import { toOutcome } from "./report.ts";
import type { AttemptNote, NamedTarget, Trace } from "./trace.ts";

/** After these failures another candidate may succeed. A request that was rejected as invalid would be rejected again. */
export const fallbackCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "model_not_found",
  "provider_rate_limited",
  "provider_auth_failed",
  "provider_not_configured",
  "provider_error",
  "provider_unreachable",
  "provider_bad_response",
  "provider_disconnected",
  "provider_unavailable",
  "provider_timeout",
  // Inside an attempt, a local engine is overloaded, or the memory for downloads is used up. Another provider may fetch the address itself.
  "overloaded",
]);

/** After these failures the same candidate may soon succeed. A timeout is not among them: a retry would take as long again. */
const retryCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "provider_rate_limited",
  "provider_error",
  "provider_unreachable",
  "provider_disconnected",
]);

const firstPauseMs = 100;
// A provider that asks for a longer pause ends the request: the caller receives the provider's `Retry-After`.
const longestPauseMs = 2_000;

/** The part of a candidate that the loop uses. */
export interface LoopCandidate extends NamedTarget {
  /** Null: no circuit breaker. */
  readonly health: OfferHealth | null;
  /** Why it cannot be tried here; absent or null when it can. */
  readonly unavailableReason?: string | null;
}

export interface LoopOptions<Candidate extends LoopCandidate> {
  readonly candidates: readonly Candidate[];
  readonly trace: Trace;
  readonly connection: Connection;
  /** In the milliseconds of `performance.now()`. */
  readonly deadline: number;
  /** False: a request that a provider may have executed is not sent to the same provider again. */
  readonly repeatsExecuted?: false;
  /** Overrides the setting of the loop. */
  readonly retries?: number;
  /** Called before the loop moves on to the next candidate; the loop ends when it throws. */
  readonly beforeFallback?: (next: Candidate) => Promise<void>;
  /** Called with the candidate that answered. */
  readonly onAnswered?: (candidate: Candidate) => void;
}

/** Retries are a share of the requests, so they never multiply the load on a provider that is down. */
class RetryBudget {
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

export class CandidateLoop {
  readonly #retries: number;
  readonly #budget = new RetryBudget();

  /** `retries`: how often a single candidate is retried. */
  constructor({ retries }: { readonly retries: number }) {
    this.#retries = retries;
  }

  /** `attempt` resolves when the candidate has answered, or has begun to stream its answer. */
  async run<Candidate extends LoopCandidate, Answer>(
    options: LoopOptions<Candidate>,
    attempt: (candidate: Candidate, note: AttemptNote) => Promise<Answer>,
  ): Promise<Answer> {
    const { candidates, trace, beforeFallback } = options;
    const retries = candidates.length === 1 ? (options.retries ?? this.#retries) : 0;
    this.#budget.deposit();
    let failure: GatewayError | null = null;
    let refusal: ValidationError | null = null;
    for (const [index, candidate] of candidates.entries()) {
      if (index > 0 && beforeFallback !== undefined) await beforeFallback(candidate);
      for (let tried = 0; tried <= retries; tried++) {
        const admission = admit(candidate, trace);
        if (admission === null) break;
        const note = trace.begin(candidate, tried > 0 ? "retry" : reasonFor(candidates, index));
        try {
          const answer = await attempt(candidate, note);
          noteSuccess(note, candidate, admission, trace);
          options.onAnswered?.(candidate);
          return answer;
        } catch (error) {
          noteFailure(note, candidate, admission, error);
          // The format of this candidate cannot express the request; that of another candidate may.
          if (error instanceof ValidationError) {
            refusal ??= error;
            break;
          }
          if (!mayFallBack(error) || options.connection.signal.aborted) throw error;
          // What a provider answered says more than a limit that kept the request from another one.
          if (failure === null || !isOwnRefusal(error)) failure = error;
        }
        if (tried === retries || !(await this.#mayRetry(failure, tried, candidate, options))) break;
      }
      if (performance.now() >= options.deadline) break;
    }
    throw failure ?? refusal ?? unavailable(candidates);
  }

  /** Waits for the pause before the retry. */
  async #mayRetry(
    failure: GatewayError,
    tried: number,
    { health }: LoopCandidate,
    { deadline, connection, repeatsExecuted }: Pick<LoopOptions<never>, "deadline" | "connection" | "repeatsExecuted">,
  ): Promise<boolean> {
    if (!retryCodes.has(failure.code)) return false;
    if (repeatsExecuted === false && failure.details.mayHaveExecuted) return false;
    const pauseMs = pauseBefore(tried, failure);
    if (pauseMs === null) return false;
    const retryAt = performance.now() + pauseMs;
    // The failure may have opened the circuit, which a pause would not close.
    if (retryAt >= deadline || health?.wouldAdmit(retryAt) === false || !this.#budget.withdraw()) return false;
    if (!(await pause(pauseMs, connection.signal))) throw new CallerLeft();
    return true;
  }
}

function mayFallBack(error: unknown): error is GatewayError {
  return error instanceof GatewayError && (fallbackCodes.has(error.code) || isOwnRefusal(error));
}

/** A limit or budget refused the call before it was sent. */
function isOwnRefusal({ code, details }: GatewayError): boolean {
  return details.isOwnLimit === true || code === "budget_exceeded" || code === "price_unknown";
}

/** Null: the candidate is skipped, and the trace says why. */
function admit({ health, provider, model, unavailableReason = null }: LoopCandidate, trace: Trace): Admission | null {
  let admission: Admission | null = null;
  if (unavailableReason === null) admission = health === null ? "call" : health.admit(performance.now());
  if (admission === null)
    trace.skipped.push({ provider: provider.name, model, why: unavailableReason ?? "circuit open" });
  return admission;
}

function noteSuccess(note: AttemptNote, { health }: LoopCandidate, admission: Admission, trace: Trace): void {
  const now = performance.now();
  note.endedAt = now;
  health?.succeeded(now, admission, (trace.firstByteAt || now) - (trace.sentAt || note.startedAt));
}

function noteFailure(note: AttemptNote, { health }: LoopCandidate, admission: Admission, error: unknown): void {
  note.endedAt = performance.now();
  note.failure = toOutcome(error);
  if (!(error instanceof GatewayError) || !concernsProvider(error, note)) {
    health?.cancelled(admission);
    return;
  }
  const { code, message, details } = error;
  const failure = { code, message, retryAfter: details.retryAfter ?? null };
  health?.failed(note.endedAt, admission, failure, note.reason !== "retry");
}

/** What kept a request from being sent says nothing about the provider, unless its credentials could not be obtained or its engine failed. */
function concernsProvider(error: GatewayError, { wasSent }: AttemptNote): boolean {
  return !isOwnRefusal(error) && (wasSent || isProviderFailure(error.code));
}

/** Why the candidate is tried, before any retry. */
export function reasonFor(candidates: readonly LoopCandidate[], index: number): AttemptNote["reason"] {
  if (index === 0) return "first";
  const [before, now] = [candidates[index - 1], candidates[index]];
  return before?.provider === now?.provider && before?.model === now?.model ? "other_deployment" : "fallback";
}

/** Null: the provider asks for a longer pause than a request can wait for. */
export function pauseBefore(tried: number, { details }: GatewayError, random = Math.random): number | null {
  const growing = Math.min(firstPauseMs * 2 ** tried, longestPauseMs);
  const jittered = growing * (0.5 + random() / 2);
  if (details.retryAfter === undefined) return jittered;
  const requestedMs = details.retryAfter * 1_000;
  return requestedMs > longestPauseMs ? null : Math.max(requestedMs, jittered);
}

/** The answer when no candidate may be called. */
export function unavailable(candidates: readonly LoopCandidate[]): GatewayError {
  const available = candidates.filter(({ unavailableReason = null }) => unavailableReason === null);
  if (available.length === 0)
    return new GatewayError("provider_not_configured", candidates[0]?.unavailableReason ?? "There is no candidate.");
  const now = performance.now();
  const soonestMs = Math.min(...available.map(({ health }) => health?.opensInMs(now) ?? 0));
  const retryAfter = Math.max(1, Math.ceil(soonestMs / 1_000));
  const names = [...new Set(available.map(({ provider }) => `'${provider.name}'`))].join(", ");
  return new GatewayError(
    "provider_unavailable",
    `The circuit of the provider ${names} is open after repeated failures: retry in ${retryAfter} s.`,
    { retryAfter },
  );
}
