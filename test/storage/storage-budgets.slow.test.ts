// Accounts and leases of budgets, on both engines.

import { describe, expect, test } from "bun:test";
import { createBudgets } from "../../src/access/budgets.ts";
import type { LimitRule } from "../../src/access/limit-rules.ts";
import { GatewayError } from "../../src/errors.ts";
import type { AlertSettings, LeaseRequest, LeaseTerms } from "../../src/storage/budgets.ts";
import { toMonth } from "../../src/storage/ledger.ts";
import { openStorage, type Storage } from "../../src/storage/storage.ts";
import {
  createEngines,
  describeOn,
  quiet,
  takeOne,
  usePostgres,
  withDatabase,
  withStorage,
} from "../contracts/engines.ts";
import { makeLine } from "../contracts/ledger-store.ts";
import { whyNoPostgres } from "../support/postgres.ts";
import { waitFor } from "../support/wait.ts";

const id = "key:one monthly 0";
const now = 1_800_000_000_000;
const noAlerts = { thresholds: [], receiver: null };

function ask(more: Partial<LeaseRequest> = {}): LeaseRequest {
  return {
    ...{ id, ruleId: "key:one", periodStart: 0, periodEnd: null, limitPico: 1_000n },
    ...{ number: 1, needPico: 0, wantPico: 0, returnPico: 0 },
    ...more,
  };
}

function as(processId: string, at = now): LeaseTerms {
  return { processId, now: at, expiresAt: at + 30_000, wantedUntil: at + 1_000 };
}

async function exchange(storage: Storage, request: LeaseRequest, terms: LeaseTerms) {
  const [answer] = await storage.budgets.exchange([request], terms);
  if (answer === undefined) throw new Error("no answer");
  return answer;
}

for (const engine of createEngines()) {
  describeOn(engine, "budgets", () => {
    /** Through a line of the ledger. */
    async function charge(
      storage: Storage,
      processId: string,
      charges: Record<string, number>,
      alerts: AlertSettings = noAlerts,
    ) {
      const lines = Object.entries(charges).map(([account, pico]) =>
        makeLine({ counted_pico: pico, accounts: [account] }),
      );
      await storage.ledger.createPartitions(lines.map(({ time }) => toMonth(time)));
      return (await storage.ledger.append({ lines: JSON.stringify(lines), processId, alerts })).alerts;
    }

    test("a grant is a share of what is free, or what is wanted if that is more, and never more than is free", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const first = await exchange(storage, ask({ needPico: 10, wantPico: 10 }), as("a"));
        expect(first).toMatchObject({ grantedPico: 125, spentPico: 0n, othersPico: 0n, hadLease: false });
        const second = await exchange(storage, ask({ needPico: 500, wantPico: 600 }), as("b"));
        expect(second).toMatchObject({ grantedPico: 500, othersPico: 125n });
        // However much it could use, half of what is free stays for others.
        const third = await exchange(storage, ask({ needPico: 10, wantPico: 900 }), as("c"));
        expect(third.grantedPico).toBe(187);
        expect((await exchange(storage, ask({ needPico: 188, wantPico: 900 }), as("e"))).grantedPico).toBe(188);
        expect(await exchange(storage, ask({ needPico: 1, wantPico: 1 }), as("d"))).toMatchObject({ grantedPico: 0 });
        // The last one asked for what others hold.
        expect(await storage.budgets.wanted(now)).toEqual([id]);
        expect(await storage.budgets.wanted(now + 1_000)).toEqual([]);
      });
    });

    test("less than is needed is not granted, and a return can be granted to others", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        await exchange(storage, ask({ needPico: 900, wantPico: 900 }), as("a"));
        expect((await exchange(storage, ask({ needPico: 101, wantPico: 101 }), as("b"))).grantedPico).toBe(0);
        await exchange(storage, ask({ number: 2, returnPico: 800 }), as("a"));
        expect((await exchange(storage, ask({ needPico: 900, wantPico: 900 }), as("b"))).grantedPico).toBe(900);
        expect((await exchange(storage, ask({ number: 3 }), as("a"))).othersPico).toBe(900n);
      });
    });

    test("a budget that could not be given back in an outage is used again by the next call", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const clock = { now };
        let isDown = false;
        const exchanges: string[][] = [];
        const exchangeUnlessDown: typeof storage.budgets.exchange = async (requests, terms) => {
          exchanges.push(requests.map((request) => request.id));
          if (isDown) throw new GatewayError("dependency_unavailable", "down");
          return await storage.budgets.exchange(requests, terms);
        };
        const budgets = createBudgets({
          ...{ processId: "a", waitMs: 60_000, log: quiet },
          store: { ...storage.budgets, exchange: exchangeUnlessDown },
          now: () => clock.now,
        });
        const rule: LimitRule = {
          ...{ id: "key:one", holder: "key", holderName: "a key", model: null, rateLimit: null },
          budget: { amount: 1, period: "none", time_zone: "UTC", raise: null },
        };
        const reserve = async () => await budgets.reserve([rule], "mock/echo", () => 900_000_000_000);
        (await reserve())?.release();
        isDown = true;
        clock.now += 61_000;
        await waitFor("the budget to be idle", () => budgets.size() === 0);
        exchanges.length = 0;
        const waiting = reserve();
        await waitFor("several attempts", () => exchanges.length > 3);
        isDown = false;
        const held = await waiting;
        expect(exchanges.filter((ids) => new Set(ids).size < ids.length)).toEqual([]);
        held?.release();
        await budgets.close();
        const left = await exchange(storage, ask({ id: held?.accounts[0] ?? "" }), as("b", clock.now));
        expect(left).toMatchObject({ othersPico: 0n });
      });
    });

    test("an exchange that is repeated because its answer was lost is executed once", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const request = ask({ number: 7, needPico: 300, wantPico: 300 });
        await exchange(storage, request, as("a"));
        expect((await exchange(storage, request, as("a"))).grantedPico).toBe(300);
        const giveBack = ask({ number: 8, returnPico: 200 });
        await exchange(storage, giveBack, as("a"));
        await exchange(storage, giveBack, as("a"));
        expect((await exchange(storage, ask(), as("b"))).othersPico).toBe(100n);
      });
    });

    test("a charge moves the amount from the lease to what is spent", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        await exchange(storage, ask({ needPico: 400, wantPico: 400 }), as("a"));
        await charge(storage, "a", { [id]: 150 });
        const answer = await exchange(storage, ask(), as("b"));
        expect(answer).toMatchObject({ spentPico: 150n, othersPico: 250n });
        // More than the lease: the budget is overspent by the difference, and nobody else is granted it.
        await charge(storage, "a", { [id]: 300 });
        expect(await exchange(storage, ask({ needPico: 551, wantPico: 551 }), as("b"))).toMatchObject({
          grantedPico: 0,
          spentPico: 450n,
          othersPico: 0n,
        });
        // The process itself need not cover what is spent already.
        expect((await exchange(storage, ask({ number: 2, needPico: 150, wantPico: 150 }), as("a"))).grantedPico).toBe(
          150,
        );
        expect((await exchange(storage, ask(), as("b"))).othersPico).toBe(100n);
      });
    });

    test("an account that is charged before any lease exists", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        await charge(storage, "a", { [id]: 5 });
        await charge(storage, "a", { [id]: 6 }, { thresholds: [1], receiver: null });
        expect(await storage.budgets.balances([id, "key:none none 0"])).toEqual([
          { id, ruleId: "key:one", periodStart: 0, spentPico: 11n, limitPico: -1n },
        ]);
        expect(await exchange(storage, ask(), as("a"))).toMatchObject({ spentPico: 11n, limitPico: 1_000n });
      });
    });

    test("the lease of a dead process expires, and a late renewal does not bring it back", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        await exchange(storage, ask({ needPico: 900, wantPico: 900 }), as("dead"));
        const later = as("b", now + 30_000);
        expect(await storage.budgets.renew(as("dead", now + 20_000))).toEqual([id]);
        expect((await exchange(storage, ask({ needPico: 500, wantPico: 500 }), later)).grantedPico).toBe(0);
        const afterwards = as("b", now + 50_000);
        expect((await exchange(storage, ask({ needPico: 500, wantPico: 500 }), afterwards)).grantedPico).toBe(500);
        expect(await storage.budgets.renew(as("dead", now + 49_000))).toEqual([]);
        expect((await exchange(storage, ask(), as("dead", now + 50_000))).hadLease).toBe(false);
      });
    });

    test("amounts beyond the exact numbers stay exact", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        const limitPico = 9_000_000_000_000_000_001n;
        const answer = await exchange(storage, ask({ limitPico, needPico: 1, wantPico: 1 }), as("a"));
        expect(answer).toMatchObject({ limitPico, grantedPico: 1_000_000_000_000_000 });
        await charge(storage, "b", { [id]: 8_999_999_999_999_999 });
        expect((await exchange(storage, ask({ limitPico }), as("a"))).spentPico).toBe(8_999_999_999_999_999n);
      });
    });

    test("each threshold is announced once, with a webhook in the same transaction", async () => {
      const options = { ...(await engine.createStore()), works: true };
      await withStorage(options, async (storage) => {
        const alerts = { thresholds: [50, 80, 100], receiver: "https://alerts.example/hook" };
        await exchange(storage, ask(), as("a"));
        expect(await charge(storage, "a", { [id]: 499 }, alerts)).toEqual([]);
        expect(await charge(storage, "a", { [id]: 1 }, alerts)).toMatchObject([{ threshold: 50, spentPico: 500n }]);
        expect(await charge(storage, "b", { [id]: 10 }, alerts)).toEqual([]);
        const item = await takeOne(storage, "deliver");
        const opened = await storage.deliveries.open(item);
        expect(opened?.delivery).toMatchObject({ receiver: alerts.receiver, state: "pending" });
        expect(JSON.parse(opened?.alert ?? "")).toMatchObject({ ruleId: "key:one", limitPico: "1000", threshold: 50 });
        const both = await charge(storage, "b", { [id]: 600 }, alerts);
        expect(both.map(({ threshold }) => threshold)).toEqual([80, 100]);
        expect(await charge(storage, "b", { [id]: 600 }, alerts)).toEqual([]);
        expect(await storage.deliveries.deleteAlerts(Date.now() + 1, 100)).toBe(3);
        expect(await storage.deliveries.open(item)).toBeNull();
      });
    });

    test("processes that exchange and charge the same accounts at once never deadlock or exceed the limit", async () => {
      const options = await engine.createStore();
      const storages = await Promise.all(Array.from({ length: 3 }, () => openStorage(options)));
      const ids = ["key:a none 0", "key:b none 0", "team:c none 0"];
      const held = new Map<string, bigint>();
      try {
        await Promise.all(
          storages.map(async (storage, index) => {
            const processId = `process ${index}`;
            for (let round = 1; round <= 15; round++) {
              const rotated = [...ids.slice(round % 3), ...ids.slice(0, round % 3)];
              const requests = rotated.map((one) =>
                ask({ id: one, ruleId: one.split(" ")[0] ?? "", number: round, needPico: 1, wantPico: 40 }),
              );
              const answers = await storage.budgets.exchange(requests, as(processId));
              const charges = Object.fromEntries(answers.map((one) => [one.id, one.grantedPico >> 1]));
              for (const one of answers) held.set(one.id, (held.get(one.id) ?? 0n) + BigInt(one.grantedPico));
              await charge(storage, processId, charges);
              await storage.budgets.renew(as(processId));
            }
          }),
        );
        for (const one of ids) expect(held.get(one) ?? 0n).toBe(1_000n);
        const [first] = await (storages[0] as Storage).budgets.balances([ids[0] ?? ""]);
        expect(first?.spentPico).toBeLessThanOrEqual(500n);
      } finally {
        await Promise.all(storages.map((storage) => storage.close()));
      }
    });

    test("accounts of periods that ended long ago are deleted", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        await exchange(storage, ask({ periodEnd: now - 10, needPico: 1, wantPico: 1 }), as("a", now - 60_000));
        await exchange(storage, ask({ id: "key:two none 0", needPico: 1, wantPico: 1 }), as("a"));
        expect(await storage.budgets.deleteEnded(now, 100)).toBe(2);
        expect((await storage.budgets.page("", 10)).map((one) => one.id)).toEqual(["key:two none 0"]);
      });
    });
  });
}

describe.skipIf(whyNoPostgres() !== null)("locks of budgets on PostgreSQL", () => {
  const postgres = usePostgres();

  test("a process that renews its leases while it exchanges them does not deadlock", async () => {
    const databaseUrl = await postgres.createDatabase();
    const options = { databaseUrl, dataDir: postgres.folders.create(), log: quiet, deadlineMs: 60_000 };
    await withStorage(options, async (storage) => {
      const ids = ["key:a none 0", "key:b none 0", "key:c none 0"];
      const want = (number: number) => ids.map((one) => ask({ id: one, number, needPico: 1, wantPico: 1 }));
      // The leases expire in the reverse order of their ids.
      for (const [index, request] of want(1).toReversed().entries())
        await exchange(storage, request, as("a", now + index));
      await withDatabase(options, async ({ client, transaction }) => {
        // The planner then prefers the index by expiry.
        await client`analyze budget_leases`;
        const countWaiting = async () => {
          const [row] = await client`
            select count(*)::int as total from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`;
          return row.total;
        };
        const operations: Promise<unknown>[] = [];
        await transaction(async (sql) => {
          await sql`select 1 from budget_leases where account_id = ${ids[1] ?? ""} for update`;
          operations.push(storage.budgets.exchange(want(2), as("a", now + 10)));
          await waitFor("the exchange to wait for the second lease", async () => (await countWaiting()) === 1);
          operations.push(storage.budgets.renew(as("a", now + 10)));
          await waitFor("the renewal to wait", async () => (await countWaiting()) === 2);
        });
        expect(await Promise.all(operations)).toMatchObject([ids.map((one) => ({ id: one, hadLease: true })), ids]);
      });
    });
  });

  test("accounts and leases that others have locked are deleted later, without waiting", async () => {
    const databaseUrl = await postgres.createDatabase();
    const options = { databaseUrl, dataDir: postgres.folders.create(), log: quiet, deadlineMs: 60_000 };
    await withStorage(options, async (storage) => {
      for (const one of ["key:a none 0", "key:b none 0"])
        await exchange(storage, ask({ id: one, periodEnd: 1, needPico: 1, wantPico: 1 }), as("a"));
      await withDatabase(options, async ({ transaction }) => {
        await transaction(async (sql) => {
          await sql`select 1 from budget_accounts where id like 'key:a%' for update`;
          await sql`select 1 from budget_leases where account_id like 'key:a%' for update`;
          expect(await storage.budgets.deleteEnded(now + 60_000, 100)).toBe(2);
        });
      });
      expect(await storage.budgets.deleteEnded(now + 60_000, 100)).toBe(2);
    });
  });
});
