// Rate limits, concurrency limits and budgets of keys. Each serving process counts separately, so with n processes a key may exceed a limit by
// a factor of n.

import { GatewayError } from "../errors.ts";
import type { Caller } from "./caller.ts";

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

interface Running {
  requests: number;
  streams: number;
}

interface Window {
  second: number;
  inSecond: number;
  minute: number;
  inMinute: number;
}

const unlimited: ConcurrencyLimits = {
  maxConcurrentRequestsPerKey: Number.POSITIVE_INFINITY,
  maxConcurrentStreamsPerKey: Number.POSITIVE_INFINITY,
};

export function createLimits(concurrency: ConcurrencyLimits = unlimited, now: () => number = Date.now) {
  const windows = new Map<string, Window>();
  const running = new Map<string, Running>();

  function countRequest({ keyId, rateLimit }: Caller): void {
    if (rateLimit === null) return;
    const at = now();
    const second = Math.floor(at / 1_000);
    const minute = Math.floor(at / 60_000);
    let window = windows.get(keyId);
    if (window === undefined) {
      window = { second, inSecond: 0, minute, inMinute: 0 };
      windows.set(keyId, window);
    }
    if (window.second !== second) Object.assign(window, { second, inSecond: 0 });
    if (window.minute !== minute) Object.assign(window, { minute, inMinute: 0 });
    const { requests_per_second: perSecond, requests_per_minute: perMinute } = rateLimit;
    if (perSecond !== null && window.inSecond >= perSecond) throw exceeded(perSecond, "second", 1);
    if (perMinute !== null && window.inMinute >= perMinute)
      throw exceeded(perMinute, "minute", Math.ceil(60 - (at % 60_000) / 1_000));
    window.inSecond++;
    window.inMinute++;
  }

  /** Counts the request, or throws 402 or 429. */
  function admit(caller: Caller): void {
    countRequest(caller);
    // Spending is not counted against budgets yet, so only a budget of zero is exhausted.
    if (caller.budget !== null && caller.budget.amount <= 0)
      throw new GatewayError("insufficient_credits", "The budget of this key is spent.");
  }

  return {
    admit,
    /** Like `admit`, and also counts the request as running until `end` is called. */
    begin(caller: Caller): RunningRequest {
      let ofKey = running.get(caller.keyId);
      if (ofKey === undefined) {
        ofKey = { requests: 0, streams: 0 };
        running.set(caller.keyId, ofKey);
      }
      if (ofKey.requests >= concurrency.maxConcurrentRequestsPerKey)
        throw tooMany(concurrency.maxConcurrentRequestsPerKey, "requests");
      admit(caller);
      return new CountedRequest(ofKey, concurrency.maxConcurrentStreamsPerKey);
    },
  };
}

class CountedRequest implements RunningRequest {
  readonly #ofKey: Running;
  readonly #maxStreams: number;
  #isStream = false;
  #hasEnded = false;

  constructor(ofKey: Running, maxStreams: number) {
    this.#ofKey = ofKey;
    this.#maxStreams = maxStreams;
    ofKey.requests++;
  }

  beginStream(): void {
    if (this.#isStream || this.#hasEnded) return;
    if (this.#ofKey.streams >= this.#maxStreams) throw tooMany(this.#maxStreams, "streams");
    this.#isStream = true;
    this.#ofKey.streams++;
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#ofKey.requests--;
    if (this.#isStream) this.#ofKey.streams--;
  }
}

function tooMany(limit: number, what: "requests" | "streams"): GatewayError {
  return new GatewayError(
    "rate_limit_exceeded",
    `This key may have ${limit} ${what} running at the same time. Wait until some of them have ended.`,
    { retryAfter: 1 },
  );
}

function exceeded(limit: number, unit: "second" | "minute", retryAfter: number): GatewayError {
  return new GatewayError("rate_limit_exceeded", `This key may send ${limit} requests per ${unit}.`, {
    retryAfter,
    headers: {
      "x-ratelimit-limit-requests": String(limit),
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": `${retryAfter}s`,
    },
  });
}
