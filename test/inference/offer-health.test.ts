// The circuit breaker of one offer, at a clock of the test: windows, counts, probes and how long a circuit stays open.

import { describe, expect, test } from "bun:test";
import type { ErrorCode } from "../../src/errors.ts";
import { type BreakerSettings, HealthBook, OfferHealth } from "../../src/inference/health.ts";

const settings: BreakerSettings = { breakerFailures: 4, breakerWindowMs: 10_000, breakerOpenMs: 1_000 };
const start = 1_000_000;

function fail(health: OfferHealth, now: number, times = 1, code: ErrorCode = "provider_error"): void {
  const error = { code, message: "down", retryAfter: null };
  for (let count = 0; count < times; count++) health.failed(now, "call", error, true);
}

function succeed(health: OfferHealth, now: number, times = 1): void {
  for (let count = 0; count < times; count++) health.succeeded(now, "call", 10);
}

/** Lets one probe through and ends it. */
function probe(health: OfferHealth, now: number, isGood: boolean): void {
  expect(health.admit(now)).toBe("probe");
  if (isGood) health.succeeded(now, "probe", 10);
  else health.failed(now, "probe", { code: "provider_error", message: "down", retryAfter: null }, true);
}

describe("a circuit opens", () => {
  test("with the failure that reaches the count, not before", () => {
    const health = new OfferHealth(settings);
    fail(health, start, 3);
    expect(health.state(start)).toBe("closed");
    fail(health, start);
    expect([health.state(start), health.admit(start), health.opensInMs(start)]).toEqual(["open", null, 1_000]);
  });

  test("when at least half of the calls failed", () => {
    const health = new OfferHealth(settings);
    succeed(health, start, 5);
    fail(health, start, 4);
    expect(health.state(start)).toBe("closed");
    fail(health, start);
    expect(health.state(start)).toBe("open");
  });

  test("by failures of the same window: those of the half before the last one are forgotten", () => {
    const near = new OfferHealth(settings);
    fail(near, start, 3);
    fail(near, start + 9_999);
    expect(near.state(start + 9_999)).toBe("open");
    const far = new OfferHealth(settings);
    fail(far, start, 3);
    fail(far, start + 10_000);
    expect(far.state(start + 10_000)).toBe("closed");
  });

  test("counting the last two halves of the window: a success in between does not forget failures", () => {
    const health = new OfferHealth(settings);
    fail(health, start, 2);
    succeed(health, start + 5_000);
    fail(health, start + 5_000, 2);
    expect(health.state(start + 5_000)).toBe("open");
  });

  test.each([
    ["provider_error", "open"],
    ["provider_unreachable", "open"],
    ["provider_bad_response", "open"],
    ["provider_disconnected", "open"],
    ["provider_timeout", "open"],
    ["provider_rate_limited", "closed"],
    ["provider_auth_failed", "closed"],
    ["provider_rejected_request", "closed"],
    ["model_not_found", "closed"],
  ] as const)("by %s: %s", (code, state) => {
    const health = new OfferHealth(settings);
    fail(health, start, 20, code);
    expect(health.state(start)).toBe(state);
  });

  test("never by retries of one request, and never when the count is 0", () => {
    const retried = new OfferHealth(settings);
    const error = { code: "provider_error", message: "down", retryAfter: null } as const;
    for (let count = 0; count < 20; count++) retried.failed(start, "call", error, count === 0);
    expect(retried.state(start)).toBe("closed");
    const off = new OfferHealth({ ...settings, breakerFailures: 0 });
    fail(off, start, 100);
    expect(off.state(start)).toBe("closed");
  });
});

describe("an open circuit", () => {
  function opened(): OfferHealth {
    const health = new OfferHealth(settings);
    fail(health, start, 4);
    return health;
  }

  test("lets one probe through when its time is over, and no second one beside it", () => {
    const health = opened();
    expect(health.admit(start + 999)).toBeNull();
    expect(health.state(start + 1_000)).toBe("half_open");
    expect(health.admit(start + 1_000)).toBe("probe");
    expect(health.admit(start + 1_000)).toBeNull();
    expect(health.admit(start + 10_999)).toBeNull();
    expect(health.admit(start + 11_000)).toBe("probe");
  });

  test("lets another probe through when the caller of the first one left", () => {
    const health = opened();
    expect(health.admit(start + 1_000)).toBe("probe");
    health.cancelled("probe");
    expect(health.admit(start + 1_000)).toBe("probe");
  });

  test("stays open twice as long after every probe that fails, up to eight times", () => {
    const health = opened();
    let now = start + 1_000;
    for (const factor of [2, 4, 8, 8, 8]) {
      probe(health, now, false);
      expect(health.opensInMs(now)).toBe(factor * 1_000);
      now += factor * 1_000;
    }
  });

  test("closes with a probe that succeeds, and its failures no longer count", () => {
    const health = opened();
    probe(health, start + 1_000, true);
    expect(health.state(start + 1_000)).toBe("closed");
    fail(health, start + 1_000, 3);
    expect(health.state(start + 1_000)).toBe("closed");
    fail(health, start + 1_000);
    expect(health.opensInMs(start + 1_000)).toBe(1_000);
  });

  test("closes when the provider answers a probe with a refusal: it is reachable", () => {
    const health = opened();
    expect(health.admit(start + 1_000)).toBe("probe");
    health.failed(start + 1_000, "probe", { code: "provider_rejected_request", message: "no", retryAfter: null }, true);
    expect(health.state(start + 1_000)).toBe("closed");
  });

  test("is not decided by calls that began before it opened", () => {
    const health = opened();
    health.succeeded(start, "call", 10);
    fail(health, start);
    expect([health.state(start), health.opensInMs(start)]).toEqual(["open", 1_000]);
  });
});

describe("other deployments go first", () => {
  test("for as long as the provider asked after a rate limit, a minute at most, and five seconds when it named no time", () => {
    for (const [retryAfter, coolMs] of [
      [2, 2_000],
      [600, 60_000],
      [null, 5_000],
    ] as const) {
      const health = new OfferHealth(settings);
      health.failed(start, "call", { code: "provider_rate_limited", message: "slow", retryAfter }, true);
      expect([health.isOutlier(start + coolMs - 1), health.isOutlier(start + coolMs)]).toEqual([true, false]);
    }
  });

  test("after five failures that are at least half of the calls", () => {
    const health = new OfferHealth({ ...settings, breakerFailures: 0 });
    fail(health, start, 4);
    expect(health.isOutlier(start)).toBe(false);
    fail(health, start);
    expect(health.isOutlier(start)).toBe(true);
    succeed(health, start, 6);
    expect(health.isOutlier(start)).toBe(false);
  });
});

test("the mean of the latency moves by a fifth of the difference", () => {
  const health = new OfferHealth(settings);
  health.succeeded(start, "call", 100);
  expect(health.latencyMs).toBe(100);
  health.succeeded(start, "call", 200);
  expect(health.latencyMs).toBe(120);
});

test("callers who name many models cannot make the gateway forget an open circuit", () => {
  const book = new HealthBook({ ...settings, breakerFailures: 1, breakerOpenMs: 3_600_000 });
  const down = book.of("deployment", "down");
  fail(down, performance.now());
  for (let index = 0; index < 10_050; index++)
    book.of("deployment", `model-${index}`).succeeded(performance.now(), "call", 1);
  expect(book.of("deployment", "down")).toBe(down);
  expect([...book.ofDeployment("deployment")].length).toBeLessThanOrEqual(10_000);
});

test("when every circuit is open, the records are dropped rather than kept without a bound", () => {
  const book = new HealthBook({ ...settings, breakerFailures: 1, breakerOpenMs: 3_600_000 });
  for (let index = 0; index <= 10_000; index++) fail(book.of("deployment", `model-${index}`), performance.now());
  expect([...book.ofDeployment("deployment")].length).toBe(1);
});
