// What a request must pass when it arrives, before its body is read: the limits of running requests and streams of its key, and the limits of
// requests of its key and team. All processes of a gateway count together.

import { GatewayError } from "../errors.ts";
import { findLimit } from "./budget-periods.ts";
import type { Caller } from "./caller.ts";
import { type Counter, type CounterEntry, running } from "./counter-table.ts";
import type { LimitRule } from "./limit-rules.ts";
import { RateLimits, tooManyRunning } from "./rate-limits.ts";
import { SharedCounters } from "./shared-counters.ts";

export type Limits = ReturnType<typeof createLimits>;

export interface RunningRequest {
  /** Also counts the request as a stream, or throws 429. Idempotent. */
  beginStream(): void;
  /** Call it when the request ends, successfully or not. Idempotent. */
  end(): void;
}

export interface ConcurrencyLimits {
  readonly maxConcurrentRequestsPerKey: number;
  readonly maxConcurrentStreamsPerKey: number;
}

/** The running requests that a request is one of. */
interface RunningLimit {
  readonly counter: Counter;
  /** The setting for every key; infinite for a team. */
  readonly setting: number;
  /** The limit that a rule sets; null: no rule sets one. */
  readonly rule: { readonly rule: LimitRule; readonly limit: number } | null;
}

const unlimited: ConcurrencyLimits = {
  maxConcurrentRequestsPerKey: Number.POSITIVE_INFINITY,
  maxConcurrentStreamsPerKey: Number.POSITIVE_INFINITY,
};

export function createLimits(
  { maxConcurrentRequestsPerKey, maxConcurrentStreamsPerKey }: ConcurrencyLimits = unlimited,
  rates: RateLimits = new RateLimits({ counters: new SharedCounters() }),
) {
  const { counters } = rates;
  const limitsOf = new WeakMap<Caller, readonly RunningLimit[]>();

  function findRunningLimits(caller: Caller): readonly RunningLimit[] {
    let found = limitsOf.get(caller);
    if (found === undefined) {
      found = createRunningLimits(caller);
      limitsOf.set(caller, found);
    }
    return found;
  }

  function createRunningLimits({ keyId, rules }: Caller): readonly RunningLimit[] {
    const id = `key:${keyId}`;
    const checks = rules.filter(({ model }) => model === null).flatMap((rule) => rates.toRunningChecks(rule));
    const ofKey = checks.find(({ rule }) => rule.id === id) ?? null;
    return [
      { counter: rates.counterOf(id), setting: maxConcurrentRequestsPerKey, rule: ofKey },
      ...checks
        .filter(({ rule }) => rule.id !== id)
        .map((check) => ({ counter: check.counter, setting: Number.POSITIVE_INFINITY, rule: check })),
    ];
  }

  function beginRunning(caller: Caller): CountedRequest {
    const limits = findRunningLimits(caller);
    const request = new CountedRequest(counters, maxConcurrentStreamsPerKey);
    for (const limit of limits) {
      const ofRule = limit.rule === null ? Number.POSITIVE_INFINITY : rates.runningLimit(limit.rule.limit);
      const entry = counters.entryOf(limit.counter);
      if (counters.begin(entry, running.requests, Math.min(limit.setting, ofRule))) {
        request.entries.push(entry);
        continue;
      }
      request.end();
      throw limit.rule === null || limit.setting <= ofRule
        ? tooMany(limit.setting, "requests")
        : tooManyRunning(limit.rule.rule, limit.rule.limit);
    }
    return request;
  }

  async function takeLater(request: RunningRequest, taking: Promise<void>): Promise<RunningRequest> {
    try {
      await taking;
      return request;
    } catch (error) {
      request.end();
      throw error;
    }
  }

  return {
    /** Counts the request until `end` is called, or throws 402 or 429. A promise only when the store has to be asked. */
    begin(caller: Caller): RunningRequest | Promise<RunningRequest> {
      // A key with a budget of zero makes no requests at all, unless the budget is raised. Other budgets are checked before a call is sent.
      const { budget } = caller;
      if (budget !== null && budget.amount <= 0 && findLimit(budget, Date.now()).pico <= 0n)
        throw new GatewayError("insufficient_credits", "The budget of this key is spent.");
      const request = beginRunning(caller);
      try {
        const taking = rates.takeRequest(caller);
        return taking === undefined ? request : takeLater(request, taking);
      } catch (error) {
        request.end();
        throw error;
      }
    },

    /** Adds the headers about the limits of the caller; `request`: the object that stands for the request. */
    addHeaders: (headers: Record<string, string>, caller: Caller, request: object) =>
      rates.addHeaders(headers, caller, request),
  };
}

class CountedRequest implements RunningRequest {
  /** The first is that of the key. */
  readonly entries: CounterEntry[] = [];
  readonly #counters: SharedCounters;
  readonly #maxStreams: number;
  #isStream = false;
  #hasEnded = false;

  constructor(counters: SharedCounters, maxStreams: number) {
    this.#counters = counters;
    this.#maxStreams = maxStreams;
  }

  beginStream(): void {
    const [ofKey] = this.entries;
    if (this.#isStream || this.#hasEnded || ofKey === undefined) return;
    if (!this.#counters.begin(ofKey, running.streams, this.#maxStreams)) throw tooMany(this.#maxStreams, "streams");
    this.#isStream = true;
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const entry of this.entries) this.#counters.end(entry, running.requests);
    const [ofKey] = this.entries;
    if (this.#isStream && ofKey !== undefined) this.#counters.end(ofKey, running.streams);
  }
}

function tooMany(limit: number, what: "requests" | "streams"): GatewayError {
  return new GatewayError(
    "rate_limit_exceeded",
    `This key may have ${limit} ${what} running at the same time. Wait until some of them have ended.`,
    { retryAfter: 1 },
  );
}
