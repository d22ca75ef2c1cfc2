// Rate limits and budgets of a key. Each serving process counts on its own: with n processes a key may exceed its rate by
// a factor of n at most.

import { GatewayError } from "../errors.ts";
import type { Caller } from "./caller.ts";

export interface Limits {
  /** Counts the request, or throws 402 or 429. */
  admit(caller: Caller): void;
}

interface Window {
  second: number;
  inSecond: number;
  minute: number;
  inMinute: number;
}

export function createLimits(now: () => number = Date.now): Limits {
  const windows = new Map<string, Window>();

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

  return {
    admit(caller) {
      countRequest(caller);
      // Nothing has a price yet, so nothing is ever spent: only a budget of nothing is spent from the start.
      if (caller.budget !== null && caller.budget.amount <= 0)
        throw new GatewayError("insufficient_credits", "The budget of this key is spent.");
    },
  };
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
