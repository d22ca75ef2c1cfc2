// Rate limits of several gateways on one database. The store is the real one, on SQLite; several `RateShares` on it stand for several gateways.

import { afterAll, describe, expect, test } from "bun:test";
import { Counter } from "../../src/access/counter-table.ts";
import type { LimitRule } from "../../src/access/limit-rules.ts";
import { RateLimits } from "../../src/access/rate-limits.ts";
import { RateShares, type RateSharesOptions } from "../../src/access/rate-shares.ts";
import { SharedCounters } from "../../src/access/shared-counters.ts";
import { GatewayError } from "../../src/errors.ts";
import { openStorage } from "../../src/storage/storage.ts";
import { createEngines, quiet } from "../contracts/engines.ts";
import { anyCaller } from "../support/any-caller.ts";
import { openReadableLog } from "../support/readable-log.ts";
import { rejectionOf } from "../support/thrown.ts";

const [engine] = createEngines();
afterAll(() => engine.stop());

const minuteStart = 1_700_000_040_000;
/** Until then, the other gateways may not have noticed a new one. */
const joinMs = 3_000;

async function openGateways() {
  const storage = await openStorage(await engine.createStore());
  const clock = { now: minuteStart };
  const opened: RateShares[] = [];
  /** A gateway that all others know, and that knows them: gateways start one after the other. */
  async function open(id: string, more: Partial<RateSharesOptions> & { readonly serves?: boolean } = {}) {
    const counters = new SharedCounters({ now: () => clock.now });
    const gateway = { id, serves: more.serves ?? true };
    const options = { store: storage.rateShares, counters, gateway, log: quiet, now: () => clock.now, ...more };
    const shares = new RateShares(options);
    opened.push(shares);
    await shares.start();
    return { shares, counters, rates: new RateLimits({ counters, shares }) };
  }
  async function close() {
    for (const shares of opened) shares.close();
    await storage.close();
  }
  const note = (id: string) => storage.rateShares.noteGateway(id, true, Date.now(), 60_000);
  return { storage, clock, open, close, note };
}

function makeCaller(limit: Partial<NonNullable<LimitRule["rateLimit"]>>) {
  const none = { requests_per_second: null, requests_per_minute: null, tokens_per_minute: null };
  const rateLimit = { ...none, concurrent_requests: null, ...limit };
  const rule: LimitRule = { id: "key:one", holder: "key", holderName: "a key", model: null, budget: null, rateLimit };
  return { ...anyCaller, rules: [rule] };
}

describe("a gateway", () => {
  test("that is alone uses whole limits, and leases none", async () => {
    const { open, close } = await openGateways();
    const { shares } = await open("one");
    expect(shares.gateways).toBe(1);
    expect(shares.ownPart(10)).toBe(10);
    expect(shares.isLeased("perMinute")).toBe(false);
    await close();
  });

  test("beside others has an equal part of each limit, and at least one request", async () => {
    const { open, close, note } = await openGateways();
    await note("two");
    await note("three");
    const { shares } = await open("one");
    expect(shares.gateways).toBe(3);
    expect([10, 3, 2].map((limit) => shares.ownPart(limit))).toEqual([3, 1, 1]);
    await close();
  });

  test("leases limits of a minute, and divides those of a second", async () => {
    const { open, close, note } = await openGateways();
    await note("two");
    const { shares } = await open("one");
    expect((["perSecond", "perMinute", "tokens"] as const).map((kind) => shares.isLeased(kind))).toEqual([
      ...[false, true, true],
    ]);
    await close();
  });

  test("that only runs jobs takes no part of the limits of requests, and others lease beside it", async () => {
    const { open, close } = await openGateways();
    await open("jobs", { serves: false });
    const { shares } = await open("one");
    expect([shares.gateways, shares.ownPart(10), shares.isLeased("tokens")]).toEqual([1, 10, true]);
    await close();
  });

  test("that has just started divides limits, until the others know it", async () => {
    const { clock, open, close } = await openGateways();
    const { shares } = await open("one");
    clock.now += joinMs - 1;
    expect(shares.mustDivide).toBe(true);
    clock.now += 1;
    expect(shares.mustDivide).toBe(false);
    await close();
  });
});

describe("two gateways", () => {
  const caller = makeCaller({ requests_per_minute: 100 });

  /** How many of these requests pass. */
  async function countPassed(rates: RateLimits, requests: number): Promise<number> {
    let passed = 0;
    for (let sent = 0; sent < requests; sent++) {
      try {
        await rates.takeRequest(caller);
        passed++;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
      }
    }
    return passed;
  }

  async function openTwo() {
    const gateways = await openGateways();
    await gateways.note("two");
    const [one, two] = [await gateways.open("one"), await gateways.open("two")];
    return { ...gateways, one, two };
  }

  test("that have just started each let their part pass", async () => {
    const { one, two, close } = await openTwo();
    expect([await countPassed(one.rates, 200), await countPassed(two.rates, 200)]).toEqual([50, 50]);
    await close();
  });

  test("that know each other let the limit pass together, however it is divided between them", async () => {
    const { clock, one, two, close } = await openTwo();
    clock.now += joinMs;
    const passed = [await countPassed(one.rates, 70), await countPassed(two.rates, 20)];
    expect(passed).toEqual([70, 20]);
    expect((await countPassed(one.rates, 200)) + (await countPassed(two.rates, 200))).toBe(10);
    const refusal = await rejectionOf(Promise.resolve(two.rates.takeRequest(caller)), GatewayError);
    expect(refusal.code).toBe("rate_limit_exceeded");
    await close();
  });

  test("use a grant in the step for which it was given only", async () => {
    const { clock, one, close } = await openTwo();
    clock.now += joinMs;
    const limit = { counter: new Counter("key:one"), kind: "tokens", limit: 100 } as const;
    expect(await one.shares.lease(limit, 30)).toBe(0);
    const take = (amount: number) => one.counters.take(limit.counter, "tokens", { limit: 100, amount, isShared: true });
    expect(take(30)).toHaveProperty("step");
    expect(take(1)).toBe("shareUsedUp");
    clock.now += 10_000;
    expect(take(1)).toBe("shareUsedUp");
    await close();
  });
});

test("what a gateway leased and did not use in a step is returned when the step is over", async () => {
  const { clock, open, close, note } = await openGateways();
  await note("two");
  const [one, two] = [await open("one"), await open("two")];
  const limit = { kind: "tokens", limit: 100 } as const;
  expect(await one.shares.lease({ ...limit, counter: new Counter("key:one") }, 60)).toBe(0);
  const leaseRest = () => two.shares.lease({ ...limit, counter: new Counter("key:one") }, 90);
  await one.shares.start();
  expect(await leaseRest()).toBeGreaterThan(0);
  clock.now += 10_000;
  expect(await leaseRest()).toBeGreaterThan(0);
  clock.now += 250;
  await one.shares.start();
  expect(await leaseRest()).toBe(0);
  await close();
});

describe("a grant", () => {
  const counter = new Counter("key:one");
  const step = minuteStart / 10_000;
  const openCounters = () => new SharedCounters({ now: () => minuteStart });
  const takeAll = (counters: SharedCounters) => {
    let taken = 0;
    while (counters.take(counter, "tokens", { limit: 1_000, amount: 1, isShared: true }) !== "shareUsedUp") taken++;
    return taken;
  };

  test("includes the earlier ones of its step, in whichever order they arrive", () => {
    const counters = openCounters();
    for (const amount of [5, 8, 6]) counters.grant(counter, "tokens", { step, amount });
    expect(takeAll(counters)).toBe(8);
  });

  test("for the next step is not replaced by one that arrives late", () => {
    const counters = openCounters();
    counters.grant(counter, "tokens", { step: step + 1, amount: 5 });
    counters.grant(counter, "tokens", { step, amount: 9 });
    expect(takeAll(counters)).toBe(0);
  });

  test("replaces that of an earlier step, also when it is smaller", () => {
    const counters = openCounters();
    counters.grant(counter, "tokens", { step: step - 1, amount: 9 });
    counters.grant(counter, "tokens", { step, amount: 4 });
    expect(takeAll(counters)).toBe(4);
  });
});

describe("a lease", () => {
  const limit = { counter: new Counter("key:one"), kind: "perMinute", limit: 10 } as const;

  /** Another gateway has leased all but two of the limit, and the calls to the store are counted. */
  async function openUsedUp() {
    const gateways = await openGateways();
    const { rateShares } = gateways.storage;
    await gateways.note("one");
    const other = await gateways.open("other");
    await other.shares.lease(limit, 8);
    let asked = 0;
    const lease = (request: Parameters<typeof rateShares.lease>[0]) => {
      asked++;
      return rateShares.lease(request);
    };
    const { shares } = await gateways.open("one", { store: { ...rateShares, lease } });
    return { ...gateways, shares, countAsked: () => asked };
  }

  test("that was refused is not requested again for 250 ms, and the remaining wait decreases", async () => {
    const { clock, shares, countAsked, close } = await openUsedUp();
    const waitMs = await shares.lease(limit, 5);
    expect(waitMs).toBeGreaterThan(10_000);
    clock.now += 249;
    for (const amount of [5, 6]) expect(await shares.lease(limit, amount)).toBe(waitMs - 249);
    expect(countAsked()).toBe(1);
    clock.now += 1;
    expect(await shares.lease(limit, 5)).toBeGreaterThan(10_000);
    expect(countAsked()).toBe(2);
    await close();
  });

  test("for a smaller amount or another limit is requested at once after a refusal", async () => {
    const { shares, countAsked, close } = await openUsedUp();
    await shares.lease(limit, 5);
    expect(await shares.lease(limit, 1)).toBe(0);
    expect(await shares.lease({ ...limit, kind: "tokens" }, 5)).toBe(0);
    expect(countAsked()).toBe(3);
    await close();
  });

  test("is requested once for concurrent requests", async () => {
    const { shares, countAsked, close } = await openUsedUp();
    const waits = await Promise.all(Array.from({ length: 5 }, () => shares.lease(limit, 1)));
    expect(waits).toEqual([0, 0, 0, 0, 0]);
    expect(countAsked()).toBe(1);
    // A finished request does not block the next one.
    await shares.lease(limit, 1);
    expect(countAsked()).toBe(2);
    await close();
  });
});

test("while the store does not answer, a gateway uses its part of each limit, and says so once", async () => {
  const { clock, storage, open, note } = await openGateways();
  await note("two");
  const { log, readLog } = openReadableLog("warn");
  const { shares, rates } = await open("one", { log });
  clock.now += joinMs;
  expect(shares.mustDivide).toBe(false);
  await storage.close();
  const caller = makeCaller({ requests_per_minute: 4 });
  for (let sent = 0; sent < 2; sent++) await rates.takeRequest(caller);
  expect(shares.mustDivide).toBe(true);
  expect(readLog()).toContain("the store does not answer");
  expect(() => rates.takeRequest(caller)).toThrow("may send 4 requests per minute");
  await shares.lease({ counter: new Counter("key:two"), kind: "tokens", limit: 5 }, 1);
  expect(readLog().match(/the store does not answer/g)).toHaveLength(1);
  shares.close();
});
