// The limits of keys and teams, at a clock of the test: requests per second and per minute, tokens per minute, running requests and streams.

import { describe, expect, test } from "bun:test";
import type { Caller } from "../../src/access/caller.ts";
import type { LimitRule } from "../../src/access/limit-rules.ts";
import { type ConcurrencyLimits, createLimits, type RunningRequest } from "../../src/access/limits.ts";
import { formatDuration, RateLimits, type RateReservation } from "../../src/access/rate-limits.ts";
import { SharedCounters } from "../../src/access/shared-counters.ts";
import { GatewayError } from "../../src/errors.ts";

type Rates = NonNullable<LimitRule["rateLimit"]>;

const none: Rates = {
  requests_per_second: null,
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrent_requests: null,
};

function ruleOf(rates: Partial<Rates>, more: Partial<LimitRule> = {}): LimitRule {
  const rateLimit = { ...none, ...rates };
  return { id: "key:one", holder: "key", holderName: "a key", model: null, rateLimit, budget: null, ...more };
}

function callerOf(rules: readonly LimitRule[], more: Partial<Caller> = {}): Caller {
  return {
    ...{ keyId: "one", kind: "inference", name: "a key", owner: null, scopes: new Set(["chat"]), allowedModels: null },
    ...{ rateLimit: null, budget: null, team: null, role: null, tags: {}, rules },
    ...more,
  };
}

/** The clock starts at the beginning of a minute. */
function openLimits(concurrency?: ConcurrencyLimits) {
  const clock = { now: 60_000 * 1_000 };
  const rates = new RateLimits({ counters: new SharedCounters({ now: () => clock.now }) });
  const limits = createLimits(concurrency, rates);
  const start = (caller: Caller): RunningRequest => {
    const running = limits.begin(caller);
    if (running instanceof Promise) throw new Error("there is no store to ask");
    return running;
  };
  const passed = (caller: Caller, count: number) => {
    let admitted = 0;
    for (let sent = 0; sent < count; sent++) if (errorOf(() => start(caller)) === null) admitted += 1;
    return admitted;
  };
  const reserve = (caller: Caller, model: string, tokens = 0, request: object = {}) => {
    const reserved = rates.reserve(caller, { model, estimateTokens: () => tokens, request });
    if (reserved instanceof Promise) throw new Error("there is no store to ask");
    return reserved ?? unlimited;
  };
  const headersOf = (caller: Caller, request: object = {}) => {
    const headers: Record<string, string> = {};
    limits.addHeaders(headers, caller, request);
    return headers;
  };
  return { clock, start, passed, reserve, headersOf };
}

const unlimited: RateReservation = { settle() {}, release() {} };

function errorOf(run: () => unknown): GatewayError | null {
  try {
    run();
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function refusalOf(run: () => unknown): GatewayError {
  return errorOf(run) ?? expect.unreachable("it was admitted");
}

describe("requests", () => {
  test.each([
    [
      "as many as the limit pass in a minute, and none before most of that minute is over",
      { requests_per_minute: 60 },
      [100, [0, 60], [60_000, 0], [5_000, 30], [5_000, 30], [120_000, 60]],
    ],
    ["seconds slide in the same way", { requests_per_second: 10 }, [20, [0, 10], [1_000, 0], [167, 10]]],
  ] as const)("%s", (_title, limit, [attempts, ...steps]) => {
    const { clock, passed } = openLimits();
    const caller = callerOf([ruleOf(limit)]);
    for (const [laterMs, expected] of steps) {
      clock.now += laterMs;
      expect(passed(caller, attempts)).toBe(expected);
    }
  });

  test("a steady caller at four fifths of the limit always passes", () => {
    for (const limit of [10, 60, 100, 600]) {
      const { clock, passed } = openLimits();
      const caller = callerOf([ruleOf({ requests_per_minute: limit })]);
      for (let sent = 0; sent < 5 * limit; sent++) {
        expect([limit, sent, passed(caller, 1)]).toEqual([limit, sent, 1]);
        clock.now += 60_000 / limit / 0.8;
      }
    }
  });

  test("a caller that sends all the time gets the limit in every minute", () => {
    const { clock, passed } = openLimits();
    const caller = callerOf([ruleOf({ requests_per_minute: 60 })]);
    const perMinute = Array.from({ length: 10 }, () => {
      let count = 0;
      for (let second = 0; second < 60; second++, clock.now += 1_000) count += passed(caller, 5);
      return count;
    });
    expect(perMinute[0]).toBe(60);
    for (const count of perMinute.slice(1)) expect(Math.abs(count - 60)).toBeLessThanOrEqual(6);
  });

  test("in no fifty seconds more than the limit passes, whatever the callers do", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { clock, passed } = openLimits();
      const random = createRandom(seed);
      const caller = callerOf([ruleOf({ requests_per_minute: 60 })]);
      const times: number[] = [];
      for (let step = 0; step < 200; step++) {
        clock.now += Math.floor(random() ** 3 * 20_000);
        for (let count = passed(caller, Math.floor(random() * 20)); count > 0; count--) times.push(clock.now);
      }
      // Of a whole minute, the oldest sixth fades away, although its requests may all have come at its end.
      const most = Math.max(...times.map((end) => times.filter((time) => time > end - 50_000 && time <= end).length));
      expect(most).toBeLessThanOrEqual(60);
    }
  });

  test("a caller that waits as long as Retry-After says passes, at any moment and whatever was counted before", () => {
    for (let seed = 1; seed <= 100; seed++) {
      const { clock, passed, start } = openLimits();
      const random = createRandom(seed);
      const limit = 1 + Math.floor(random() * 50);
      const caller = callerOf([
        ruleOf(random() < 0.5 ? { requests_per_minute: limit } : { requests_per_second: limit }),
      ]);
      for (let step = 0; step < 20; step++) {
        clock.now += Math.floor(random() * 20_000);
        passed(caller, Math.floor(random() * 60));
        const refusal = errorOf(() => start(caller));
        if (refusal === null) continue;
        clock.now += (refusal.details.retryAfter ?? 0) * 1_000;
        start(caller);
      }
    }
  });

  test("a request that one rule refuses is counted against no other", () => {
    const { clock, passed } = openLimits();
    const key = ruleOf({ requests_per_second: 1, requests_per_minute: 3 });
    const team = ruleOf({ requests_per_minute: 5 }, { id: "team:t", holder: "team", holderName: "research" });
    const caller = callerOf([team, key]);
    for (let second = 0; second < 3; second++) {
      expect(passed(caller, 10)).toBe(1);
      clock.now += 2_000;
    }
    expect(passed(caller, 10)).toBe(0);
    // Of the team's five, three are used.
    const other = callerOf([team], { keyId: "two" });
    expect(passed(other, 10)).toBe(2);
  });

  test("the refusal names the rule, its limit and when to come back", () => {
    const { start, clock } = openLimits();
    const team = ruleOf({ requests_per_minute: 1 }, { id: "team:t", holder: "team", holderName: "research" });
    start(callerOf([team]));
    clock.now += 15_500;
    const { code, message, details } = refusalOf(() => start(callerOf([team])));
    expect(code).toBe("rate_limit_exceeded");
    expect(message).toBe("The team 'research' may send 1 requests per minute. Retry in 55 s.");
    expect(details.retryAfter).toBe(55);
  });

  test("each key has a count of its own, and a key without limits has none", () => {
    const { passed } = openLimits();
    expect(passed(callerOf([ruleOf({ requests_per_minute: 1 })]), 2)).toBe(1);
    expect(passed(callerOf([ruleOf({ requests_per_minute: 1 }, { id: "key:two" })], { keyId: "two" }), 2)).toBe(1);
    expect(passed(callerOf([], { keyId: "third" }), 1_000)).toBe(1_000);
  });

  test("a clock that is set back by an hour does not refuse for an hour", () => {
    const { clock, passed } = openLimits();
    const caller = callerOf([ruleOf({ requests_per_minute: 5 })]);
    expect(passed(caller, 9)).toBe(5);
    clock.now -= 3_600_000;
    expect(passed(caller, 9)).toBe(5);
    clock.now += 120_000;
    expect(passed(caller, 9)).toBe(5);
  });
});

describe("limits for models", () => {
  const rule = ruleOf({ requests_per_minute: 2 }, { id: "key:one/openai/*", model: "openai/*" });

  test("count the calls to models that match, and no others", () => {
    const { reserve, passed } = openLimits();
    const caller = callerOf([rule]);
    expect(passed(caller, 50)).toBe(50);
    reserve(caller, "openai/a");
    reserve(caller, "openai/b");
    reserve(caller, "other/c");
    const { message } = refusalOf(() => reserve(caller, "openai/a"));
    expect(message).toContain("may send 2 requests per minute for models that match 'openai/*'");
  });

  test("count the calls that tasks make", () => {
    const { reserve } = openLimits();
    const caller = callerOf([rule]);
    reserve(caller, "text/summarize/openai/a");
    reserve(caller, "text/summarize/openai/a");
    reserve(caller, "openrouter/some/openai/a");
    refusalOf(() => reserve(caller, "text/summarize/openai/a"));
  });

  test("count a request once, however often it is retried, and not at all when nothing was sent", () => {
    const { reserve } = openLimits();
    const caller = callerOf([rule]);
    const request = {};
    for (let retry = 0; retry < 5; retry++) reserve(caller, "openai/a", 0, request).settle(0);
    const another = {};
    reserve(caller, "openai/a", 0, another).release();
    reserve(caller, "openai/a", 0, another).settle(0);
    refusalOf(() => reserve(caller, "openai/a"));
  });

  test("still count a request once when a later call of it is not sent", () => {
    const { reserve } = openLimits();
    const caller = callerOf([
      ruleOf({ requests_per_minute: 1, tokens_per_minute: 100 }, { id: "a", model: "openai/*" }),
    ]);
    const request = {};
    reserve(caller, "openai/one", 10, request).settle(10);
    reserve(caller, "openai/one", 10, request).release();
    expect(errorOf(() => reserve(caller, "openai/one", 10, request))).toBeNull();
  });

  test("bound running calls, and release them at their end", () => {
    const { reserve } = openLimits();
    const caller = callerOf([ruleOf({ concurrent_requests: 2 }, { id: "key:one/a/*", model: "a/*" })]);
    const first = reserve(caller, "a/x");
    reserve(caller, "a/x");
    reserve(caller, "b/x");
    expect(refusalOf(() => reserve(caller, "a/y")).message).toContain(
      "2 concurrent requests for models that match 'a/*'",
    );
    first.settle(null);
    reserve(caller, "a/y").release();
    reserve(caller, "a/y");
    refusalOf(() => reserve(caller, "a/y"));
  });

  test("appear in the headers of a request that they applied to", () => {
    const { reserve, headersOf } = openLimits();
    const caller = callerOf([ruleOf({ requests_per_minute: 100 }), rule]);
    const request = {};
    expect(headersOf(caller, request)["x-ratelimit-limit-requests"]).toBe("100");
    reserve(caller, "openai/a", 0, request);
    expect(headersOf(caller, request)).toMatchObject({
      "x-ratelimit-limit-requests": "2",
      "x-ratelimit-remaining-requests": "1",
    });
  });
});

describe("tokens per minute", () => {
  const caller = callerOf([ruleOf({ tokens_per_minute: 1_000 })]);

  test("are reserved before a call and corrected after it, in both directions", () => {
    const { reserve, headersOf } = openLimits();
    const [first, second] = [reserve(caller, "a/b", 400), reserve(caller, "a/b", 600)];
    refusalOf(() => reserve(caller, "a/b", 1));
    first.settle(100);
    expect(headersOf(caller)["x-ratelimit-remaining-tokens"]).toBe("300");
    second.settle(850);
    expect(headersOf(caller)["x-ratelimit-remaining-tokens"]).toBe("50");
    reserve(caller, "a/b", 50).settle(null);
    expect(headersOf(caller)["x-ratelimit-remaining-tokens"]).toBe("0");
  });

  test("a call that was not sent used none", () => {
    const { reserve, headersOf } = openLimits();
    reserve(caller, "a/b", 700).release();
    expect(headersOf(caller)["x-ratelimit-remaining-tokens"]).toBe("1000");
  });

  test("a late correction changes the moment of the call", () => {
    const { reserve, headersOf, clock } = openLimits();
    const long = reserve(caller, "a/b", 800);
    clock.now += 50_000;
    expect(headersOf(caller)["x-ratelimit-remaining-tokens"]).toBe("200");
    long.settle(200);
    expect(headersOf(caller)["x-ratelimit-remaining-tokens"]).toBe("800");
  });

  test("an estimate above the limit waits for an empty window instead of never passing", () => {
    const { reserve, clock } = openLimits();
    reserve(caller, "a/b", 1);
    const { details } = refusalOf(() => reserve(caller, "a/b", 50_000));
    clock.now += (details.retryAfter ?? 0) * 1_000;
    reserve(caller, "a/b", 50_000);
    refusalOf(() => reserve(caller, "a/b", 1));
  });

  test("tokens that are refused give the request of a model back", () => {
    const { reserve } = openLimits();
    const both = callerOf([
      ruleOf({ requests_per_minute: 1 }, { id: "key:one/a/*", model: "a/*" }),
      ruleOf({ tokens_per_minute: 10 }),
    ]);
    reserve(both, "b/c", 10).settle(10);
    expect(refusalOf(() => reserve(both, "a/b", 5)).message).toContain("10 tokens per minute");
    expect(refusalOf(() => reserve(both, "a/b", 5)).message).toContain("10 tokens per minute");
  });
});

describe("headers", () => {
  test("show the tightest limit, in OpenAI's format", () => {
    const { start, headersOf, clock } = openLimits();
    const caller = callerOf([ruleOf({ requests_per_second: 5, requests_per_minute: 60, tokens_per_minute: 1_000 })]);
    clock.now += 250;
    start(caller);
    expect(headersOf(caller)).toEqual({
      "x-ratelimit-limit-requests": "5",
      "x-ratelimit-remaining-requests": "4",
      "x-ratelimit-reset-requests": "1.084s",
      "x-ratelimit-limit-tokens": "1000",
      "x-ratelimit-remaining-tokens": "1000",
      "x-ratelimit-reset-tokens": "0ms",
    });
    clock.now += 10_000;
    expect(headersOf(caller)["x-ratelimit-remaining-requests"]).toBe("5");
    expect(headersOf(callerOf([]))).toEqual({});
  });

  test("durations are written as OpenAI writes them", () => {
    const written = [0, 12, 999.2, 1_000, 1_500, 60_000, 90_500, 360_000].map(formatDuration);
    expect(written).toEqual(["0ms", "12ms", "1s", "1s", "1.5s", "1m0s", "1m30.5s", "6m0s"]);
  });
});

describe("running requests", () => {
  const concurrency = { maxConcurrentRequestsPerKey: 2, maxConcurrentStreamsPerKey: 1 };

  test("one that has ended makes way for the next, however often it is ended", () => {
    const { start } = openLimits(concurrency);
    const caller = callerOf([]);
    const [first] = [start(caller), start(caller)];
    expect(refusalOf(() => start(caller)).message).toContain("2 requests running");
    first.end();
    first.end();
    start(caller);
    expect(refusalOf(() => start(caller)).code).toBe("rate_limit_exceeded");
  });

  test("streams are counted apart, once each", () => {
    const { start } = openLimits(concurrency);
    const [first, second] = [start(callerOf([])), start(callerOf([]))];
    first.beginStream();
    first.beginStream();
    expect(refusalOf(() => second.beginStream()).message).toContain("1 streams running");
    first.end();
    second.beginStream();
  });

  test("a request that is refused by its rate is not running", () => {
    const { start, clock } = openLimits(concurrency);
    const caller = callerOf([ruleOf({ requests_per_second: 1 })]);
    start(caller);
    refusalOf(() => start(caller));
    clock.now += 2_000;
    start(caller);
  });

  test("of a team are those of all its keys, and the lower of setting and rule holds for a key", () => {
    const { start } = openLimits({ maxConcurrentRequestsPerKey: 3, maxConcurrentStreamsPerKey: 3 });
    const team = ruleOf({ concurrent_requests: 4 }, { id: "team:t", holder: "team", holderName: "research" });
    const [one, two] = [callerOf([team]), callerOf([team], { keyId: "two" })];
    const running: RunningRequest[] = [start(one), start(one), start(one)];
    expect(refusalOf(() => start(one)).message).toContain("3 requests running");
    running.push(start(two));
    expect(refusalOf(() => start(two)).message).toBe(
      "The team 'research' may have 4 concurrent requests. Wait until some of them have ended.",
    );
    // A refused request does not run, so it does not count for its key either.
    for (let again = 0; again < 3; again++) refusalOf(() => start(two));
    running[0]?.end();
    start(two);
    const key = callerOf([ruleOf({ concurrent_requests: 1 }, { id: "key:three" })], { keyId: "three" });
    start(key);
    expect(refusalOf(() => start(key)).message).toContain("The key 'a key' may have 1 concurrent requests");
  });
});

test("a budget of nothing is spent, and one of a cent is not", () => {
  const { start } = openLimits();
  const spent = callerOf([], { budget: { amount: 0, period: "none", time_zone: "UTC", raise: null } });
  expect(refusalOf(() => start(spent)).code).toBe("insufficient_credits");
  start(callerOf([], { budget: { amount: 0.01, period: "none", time_zone: "UTC", raise: null } }));
  const raised = (milliseconds: number) => {
    const until = new Date(Date.now() + milliseconds).toISOString();
    return callerOf([], { budget: { amount: 0, period: "none", time_zone: "UTC", raise: { amount: 1, until } } });
  };
  start(raised(3_600_000));
  expect(refusalOf(() => start(raised(-1))).code).toBe("insufficient_credits");
});

/** The same numbers in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
