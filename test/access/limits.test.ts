// The limits of a key, at a clock of the test: requests per second and per minute, running requests and streams, and budgets.

import { describe, expect, test } from "bun:test";
import type { Caller } from "../../src/access/caller.ts";
import { createLimits } from "../../src/access/limits.ts";
import { GatewayError } from "../../src/errors.ts";

type RateLimit = NonNullable<Caller["rateLimit"]>;

const none: RateLimit = {
  requests_per_second: null,
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrent_requests: null,
};

function callerOf(rateLimit: Partial<RateLimit> | null, more: Partial<Caller> = {}): Caller {
  return {
    ...{ keyId: "one", kind: "inference", name: "a key", owner: null, scopes: new Set(["chat"]), allowedModels: null },
    rateLimit: rateLimit === null ? null : { ...none, ...rateLimit },
    ...{ budget: null, team: null, rules: [], tags: {} },
    ...more,
  };
}

/** `now` starts at the beginning of a minute. */
function openLimits(concurrency?: Parameters<typeof createLimits>[0]) {
  const clock = { now: 60_000 * 1_000 };
  const limits = createLimits(concurrency, () => clock.now);
  const admitted = (caller: Caller, count: number) => {
    let passed = 0;
    for (let sent = 0; sent < count; sent++)
      try {
        limits.admit(caller);
        passed += 1;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
      }
    return passed;
  };
  return { clock, limits, admitted };
}

function refusalOf(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("it was admitted");
}

describe("requests per second", () => {
  test("as many as the limit are admitted within a second, and the next second starts anew", () => {
    const { clock, admitted } = openLimits();
    const caller = callerOf({ requests_per_second: 3 });
    expect(admitted(caller, 5)).toBe(3);
    clock.now += 999;
    expect(admitted(caller, 5)).toBe(0);
    clock.now += 1;
    expect(admitted(caller, 5)).toBe(3);
  });

  test("the refusal says when to come back", () => {
    const { limits } = openLimits();
    const caller = callerOf({ requests_per_second: 1 });
    limits.admit(caller);
    const refusal = refusalOf(() => limits.admit(caller));
    expect([refusal.code, refusal.message]).toEqual([
      "rate_limit_exceeded",
      "This key may send 1 requests per second.",
    ]);
    expect(refusal.details).toMatchObject({
      retryAfter: 1,
      headers: { "x-ratelimit-limit-requests": "1", "x-ratelimit-reset-requests": "1s" },
    });
  });

  test("a refused request does not count towards the minute", () => {
    const { clock, admitted } = openLimits();
    const caller = callerOf({ requests_per_second: 1, requests_per_minute: 3 });
    expect(admitted(caller, 10)).toBe(1);
    clock.now += 1_000;
    expect(admitted(caller, 10)).toBe(1);
    clock.now += 1_000;
    expect(admitted(caller, 10)).toBe(1);
    clock.now += 1_000;
    expect(admitted(caller, 10)).toBe(0);
  });
});

describe("requests per minute", () => {
  test("as many as the limit are admitted until the minute of the clock ends", () => {
    const { clock, admitted } = openLimits();
    const caller = callerOf({ requests_per_minute: 4 });
    expect(admitted(caller, 3)).toBe(3);
    clock.now += 59_999;
    expect(admitted(caller, 3)).toBe(1);
    clock.now += 1;
    expect(admitted(caller, 9)).toBe(4);
  });

  test("the refusal says how many seconds are left of the minute", () => {
    const { clock, limits } = openLimits();
    const caller = callerOf({ requests_per_minute: 1 });
    limits.admit(caller);
    clock.now += 15_500;
    expect(refusalOf(() => limits.admit(caller)).details.retryAfter).toBe(45);
  });

  test("each key has a count of its own, and a key without limits has none", () => {
    const { admitted } = openLimits();
    expect(admitted(callerOf({ requests_per_minute: 1 }), 2)).toBe(1);
    expect(admitted(callerOf({ requests_per_minute: 1 }, { keyId: "another" }), 2)).toBe(1);
    expect(admitted(callerOf(null, { keyId: "third" }), 1_000)).toBe(1_000);
  });
});

describe("running requests", () => {
  const concurrency = { maxConcurrentRequestsPerKey: 2, maxConcurrentStreamsPerKey: 1 };

  test("one that has ended makes way for the next, however often it is ended", () => {
    const { limits } = openLimits(concurrency);
    const caller = callerOf(null);
    const [first] = [limits.begin(caller), limits.begin(caller)];
    expect(refusalOf(() => limits.begin(caller)).message).toContain("2 requests running");
    first.end();
    first.end();
    limits.begin(caller);
    expect(refusalOf(() => limits.begin(caller)).code).toBe("rate_limit_exceeded");
  });

  test("streams are counted apart, once each", () => {
    const { limits } = openLimits(concurrency);
    const [first, second] = [limits.begin(callerOf(null)), limits.begin(callerOf(null))];
    first.beginStream();
    first.beginStream();
    expect(refusalOf(() => second.beginStream()).message).toContain("1 streams running");
    first.end();
    second.beginStream();
  });

  test("a request that is refused by its rate is not running", () => {
    const { limits, clock } = openLimits(concurrency);
    const caller = callerOf({ requests_per_second: 1 });
    limits.begin(caller);
    refusalOf(() => limits.begin(caller));
    clock.now += 1_000;
    limits.begin(caller);
  });
});

test("a budget of nothing is spent, and one of a cent is not", () => {
  const { limits } = openLimits();
  const spent = callerOf(null, { budget: { amount: 0, period: "none", time_zone: "UTC", raise: null } });
  expect(refusalOf(() => limits.admit(spent)).code).toBe("insufficient_credits");
  limits.admit(callerOf(null, { budget: { amount: 0.01, period: "none", time_zone: "UTC", raise: null } }));
});
