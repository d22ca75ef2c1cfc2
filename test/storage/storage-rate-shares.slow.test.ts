// Shares of rate limits, leased by several gateways at the same time.

import { expect, test } from "bun:test";
import { Counter } from "../../src/access/counter-table.ts";
import { RateShares } from "../../src/access/rate-shares.ts";
import { SharedCounters } from "../../src/access/shared-counters.ts";
import type { ShareRequest } from "../../src/storage/rate-shares.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { createEngines, describeOn, withStorage } from "../contracts/engines.ts";
import { openReadableLog } from "../support/readable-log.ts";

const stepStart = 1_700_000_000_000;

function requestOf(gatewayId: string, more: Partial<ShareRequest> = {}): ShareRequest {
  return {
    ...{ limitId: "key:one perMinute", limit: 1_000, gatewayId, gateways: 4, stepStart, stepMs: 10_000, elapsed: 0 },
    used: [0, 0, 0, 0, 0, 0, 0],
    wanted: 1,
    ...more,
  };
}

/** What each gateway may use in the end. */
async function leaseAll(
  storage: Storage,
  gateways: readonly string[],
  times: number,
  more: Partial<ShareRequest> = {},
) {
  const granted = new Map<string, number>();
  const leaseOnce = async (gateway: string) => {
    const used = [granted.get(gateway) ?? 0, 0, 0, 0, 0, 0, 0];
    const share = await storage.rateShares.lease(requestOf(gateway, { used, ...more }));
    granted.set(gateway, share.granted);
    return share.isEnough;
  };
  const leaseMany = async (gateway: string) => {
    let count = 1;
    while (count < times && (await leaseOnce(gateway))) count++;
  };
  // The first leases come before all others. A busy server would otherwise answer one gateway after the others have leased almost everything.
  await Promise.all(gateways.map(leaseOnce));
  await Promise.all(gateways.map(leaseMany));
  return granted;
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, one) => total + one, 0);

for (const engine of createEngines()) {
  describeOn(engine, "shares of rate limits", () => {
    test("gateways that lease at the same time get the limit together, to the last unit", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const granted = await leaseAll(storage, ["a", "b", "c", "d"], 200);
        expect(sum(granted.values())).toBe(1_000);
        for (const amount of granted.values()) expect(amount).toBeGreaterThan(50);
      });
    });

    test("a lease is half of what is free, divided by the gateways, or as much as is wanted; alone it is all", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        expect(await storage.rateShares.lease(requestOf("a"))).toMatchObject({ granted: 125, isEnough: true });
        expect(await storage.rateShares.lease(requestOf("b", { wanted: 500 }))).toMatchObject({ granted: 500 });
        expect(await storage.rateShares.lease(requestOf("c", { wanted: 400 }))).toMatchObject({
          granted: 0,
          isEnough: false,
          counted: [625, 0, 0, 0, 0, 0, 0],
        });
        expect(await storage.rateShares.lease(requestOf("c", { gateways: 1 }))).toMatchObject({ granted: 375 });
      });
    });

    test("a gateway that gets no share is told how long to wait, also when it asks again at once", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const limit = { counter: new Counter("key:one"), kind: "perMinute", limit: 10 } as const;
        const createShares = (id: string) =>
          new RateShares({
            store: storage.rateShares,
            counters: new SharedCounters({ now: () => stepStart }),
            gateway: { id, serves: true },
            log: openReadableLog("error").log,
          });
        const [one, other] = [createShares("one"), createShares("other")];
        expect(await one.lease(limit, 10)).toBe(0);
        const waitMs = await other.lease(limit, 5);
        expect(waitMs).toBeGreaterThan(10_000);
        expect(waitMs).toBeLessThanOrEqual(70_000);
        expect(await other.lease(limit, 5)).toBeGreaterThan(10_000);
      });
    });

    test("what was used without a lease is counted, and what was leased and not used is returned", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        await storage.rateShares.lease(requestOf("a", { wanted: 600 }));
        const next = { stepStart: stepStart + 10_000 };
        const used = [0, 200, 0, 0, 0, 0, 0];
        expect((await storage.rateShares.lease(requestOf("b", { ...next, wanted: 500 }))).isEnough).toBe(false);
        await storage.rateShares.reportUse(requestOf("a", { ...next, used }));
        expect((await storage.rateShares.lease(requestOf("b", { ...next, wanted: 500 }))).isEnough).toBe(true);
        // In the sixth step after, 200 fade away.
        const last = { stepStart: stepStart + 60_000, used: [0, 500, 0, 0, 0, 0, 0], wanted: 1 };
        expect(await storage.rateShares.lease(requestOf("b", { ...last, elapsed: 0.5, gateways: 1 }))).toMatchObject({
          granted: 400,
        });
      });
    });

    test("gateways count as long as they are noted, those that run jobs only apart", async () => {
      await withStorage(await engine.createStore(), async ({ rateShares }) => {
        expect(await rateShares.noteGateway("a", true, 10_000, 5_000)).toEqual({ all: 1, serving: 1 });
        expect(await rateShares.noteGateway("b", false, 12_000, 5_000)).toEqual({ all: 2, serving: 1 });
        expect(await rateShares.noteGateway("b", false, 15_001, 5_000)).toEqual({ all: 1, serving: 0 });
        await rateShares.deleteExpired(stepStart, 5_000);
      });
    });
  });
}
