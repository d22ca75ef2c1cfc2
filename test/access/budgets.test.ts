// Budgets within processes: what calls reserve, wait for and settle. The store is the real one, on SQLite; several `createBudgets` on it stand
// for several processes.

import { afterAll, describe, expect, test } from "bun:test";
import { type BudgetReservation, createBudgets } from "../../src/access/budgets.ts";
import { openKeyring } from "../../src/access/keys.ts";
import type { LimitRule } from "../../src/access/limit-rules.ts";
import { createTeams } from "../../src/access/teams.ts";
import { createKeyRequest, updateKeyRequest } from "../../src/contract/keys.ts";
import type { Budget } from "../../src/contract/limits.ts";
import { createTeamRequest, updateTeamRequest } from "../../src/contract/teams.ts";
import { GatewayError } from "../../src/errors.ts";
import { toMonth } from "../../src/storage/ledger.ts";
import { openStorage, type Storage } from "../../src/storage/storage.ts";
import { createFolders, quiet } from "../contracts/engines.ts";
import { makeLine } from "../contracts/ledger-store.ts";
import { rejectionOf } from "../support/thrown.ts";
import { waitFor, within } from "../support/wait.ts";

const folders = createFolders();
const storage: Storage = await openStorage({
  ...{ databaseUrl: null, dataDir: folders.create(), log: quiet, deadlineMs: 60_000 },
});
afterAll(async () => {
  await storage.close();
  folders.remove();
});

const usd = 1_000_000_000_000;
/** The clock stands still where a test does not move it: on a slow machine, leases would expire before the ledger is written. */
const startedAt = Date.now();
let rules = 0;

function makeRule(budget: Partial<Budget> = {}, more: Partial<LimitRule> = {}): LimitRule {
  return {
    ...{ id: `key:${++rules}`, holder: "key", holderName: "a key", model: null, rateLimit: null },
    budget: { amount: 1, period: "none", time_zone: "UTC", raise: null, ...budget },
    ...more,
  };
}

interface Options {
  readonly processId?: string;
  readonly waitMs?: number;
  readonly now?: () => number;
  readonly store?: Parameters<typeof createBudgets>[0]["store"];
}

function openBudgets(options: Options = {}) {
  const { processId = crypto.randomUUID(), waitMs = 0, store = storage.budgets, now = () => startedAt } = options;
  const budgets = createBudgets({ store, processId, waitMs, log: quiet, now });
  const reserve = async (rule: LimitRule | readonly LimitRule[], pico: number, model = "mock/echo") => {
    const held = await budgets.reserve(Array.isArray(rule) ? rule : [rule as LimitRule], model, () => pico);
    if (held === null) throw new Error("No budget applies");
    return held;
  };
  let written = Promise.resolve();
  /** Settles, and writes the line of the ledger as a gateway does: one batch after the other. */
  async function spend(held: BudgetReservation, pico: number): Promise<void> {
    held.settle(pico);
    const line = makeLine({ counted_pico: pico, accounts: held.accounts });
    const write = async () => {
      await storage.ledger.createPartitions([toMonth(line.time)]);
      await storage.ledger.append({ lines: JSON.stringify([line]), processId });
    };
    written = written.then(write);
    await written;
  }
  return { budgets, reserve, spend, processId };
}

const refusalOf = (promise: Promise<unknown>) => rejectionOf(promise, GatewayError);

async function spentOf(held: BudgetReservation): Promise<bigint> {
  const [balance] = await storage.budgets.balances(held.accounts);
  return balance?.spentPico ?? 0n;
}

describe("one process", () => {
  test("the first call asks the store, and the next ones do not", async () => {
    const { budgets } = openBudgets();
    const rule = makeRule();
    const first = budgets.reserve([rule], "mock/echo", () => usd / 1_000);
    expect(first).toBeInstanceOf(Promise);
    await first;
    for (let sent = 0; sent < 50; sent++)
      expect(budgets.reserve([rule], "mock/echo", () => usd / 1_000)).not.toBeInstanceOf(Promise);
  });

  test("a call without a budget that applies costs nothing, and its estimate is not computed", async () => {
    const { budgets } = openBudgets();
    const rule = makeRule({}, { model: "other/*" });
    const estimate = () => {
      throw new Error("It was computed");
    };
    expect(budgets.reserve([rule], "mock/echo", estimate)).toBeNull();
    expect(budgets.reserve([{ ...rule, budget: null, model: null }], "mock/echo", estimate)).toBeNull();
  });

  test("calls are refused when the estimate does not fit, and what was not used can be used again", async () => {
    const { reserve, spend } = openBudgets();
    const rule = makeRule();
    const held = await reserve(rule, 0.9 * usd);
    const refusal = await refusalOf(reserve(rule, 0.2 * usd));
    expect(refusal.code).toBe("budget_exceeded");
    expect(refusal.details.headers?.["x-should-retry"]).toBe("true");
    await spend(held, 0.1 * usd);
    const second = await reserve(rule, 0.2 * usd);
    second.release();
    await spend(await reserve(rule, 0.9 * usd), 0.9 * usd);
    const spent = await refusalOf(reserve(rule, 1));
    expect(spent.message).toBe("The budget of the key 'a key' is 1.00 USD. It is spent. It does not reset by itself.");
    expect(spent.details.headers).toEqual({ "x-budget-limit": "1.00", "x-budget-remaining": "0.00" });
  });

  test("the refusal says which budget, what is left and when it resets", async () => {
    const now = Date.parse("2026-03-15T12:00:00Z");
    const { reserve } = openBudgets({ now: () => now });
    const rule = makeRule(
      { period: "monthly", time_zone: "Europe/Berlin" },
      { holder: "team", holderName: "red", model: "mock/*" },
    );
    const refusal = await refusalOf(reserve(rule, 2 * usd));
    expect(refusal.message).toBe(
      "The monthly budget of the team 'red' for models that match 'mock/*' is 1.00 USD. 1.00 USD of it are left, and this call may cost up to 2.00 USD. A lower limit of output tokens lowers that. It resets at 2026-03-31T22:00:00.000Z.",
    );
    expect(refusal.details.headers?.["x-budget-reset"]).toBe("2026-03-31T22:00:00.000Z");
  });

  test("a call that fits in the next period is told when that begins, and one above the whole budget is not", async () => {
    const now = Date.parse("2026-03-15T12:00:00Z");
    const { reserve, spend } = openBudgets({ now: () => now });
    const rule = makeRule({ period: "daily" });
    await spend(await reserve(rule, 0.9 * usd), 0.9 * usd);
    expect((await refusalOf(reserve(rule, 0.5 * usd))).details.retryAfter).toBe(12 * 3_600);
    expect((await refusalOf(reserve(rule, 1.5 * usd))).details.retryAfter).toBeUndefined();
    const unlimited = makeRule();
    await spend(await reserve(unlimited, usd), usd);
    expect((await refusalOf(reserve(unlimited, 0.5 * usd))).details.retryAfter).toBeUndefined();
  });

  test("a call that costs more than its estimate is counted, and the excess is missing afterwards", async () => {
    const { reserve, spend } = openBudgets();
    const rule = makeRule();
    const held = await reserve(rule, 0.1 * usd);
    await spend(held, 0.95 * usd);
    expect(await spentOf(held)).toBe(BigInt(0.95 * usd));
    expect((await refusalOf(reserve(rule, 0.1 * usd))).message).toContain("0.05 USD of it are left");
    await spend(await reserve(rule, 0.04 * usd), 0.04 * usd);
  });

  test("continued work is charged, whatever is left of the budget, and calls after it are refused", async () => {
    const { budgets, reserve, spend } = openBudgets();
    const rule = makeRule();
    await spend(await reserve(rule, 0.9 * usd), 0.9 * usd);
    expect((await refusalOf(reserve(rule, 0.8 * usd))).code).toBe("budget_exceeded");
    const held = budgets.charge([rule], "mock/echo") ?? expect.unreachable("no budget applies");
    await spend(held, 0.8 * usd);
    expect(await spentOf(held)).toBe(BigInt(1.7 * usd));
    expect((await refusalOf(reserve(rule, 1))).code).toBe("budget_exceeded");
    expect(budgets.charge([makeRule({}, { model: "other/*" })], "mock/echo")).toBeNull();
  });

  test("work is charged by a process that has no lease of the budget", async () => {
    const { budgets, spend, reserve } = openBudgets();
    const rule = makeRule();
    const held = budgets.charge([rule], "mock/echo") ?? expect.unreachable("no budget applies");
    await spend(held, 0.8 * usd);
    expect(await spentOf(held)).toBe(BigInt(0.8 * usd));
    expect((await refusalOf(reserve(rule, 0.3 * usd))).code).toBe("budget_exceeded");
    (await reserve(rule, 0.2 * usd)).release();
  });

  test("a budget of zero refuses also calls that are free, and any other lets free calls pass when it is spent", async () => {
    const { reserve, spend } = openBudgets();
    expect((await refusalOf(reserve(makeRule({ amount: 0 }), 0))).code).toBe("budget_exceeded");
    const rule = makeRule();
    await spend(await reserve(rule, usd), usd);
    await refusalOf(reserve(rule, 1));
    (await reserve(rule, 0)).settle(0);
  });

  test("a call must pass the budgets of key, team and model at once, and takes from none if one refuses", async () => {
    const { reserve } = openBudgets();
    const key = makeRule({ amount: 3 });
    const team = makeRule({ amount: 2 }, { holder: "team", holderName: "red" });
    const models = makeRule({ amount: 1 }, { model: "mock/*" });
    const all = [key, team, models];
    expect((await refusalOf(reserve(all, 1.5 * usd))).message).toContain("for models that match 'mock/*'");
    expect((await refusalOf(reserve([key, team], 2.5 * usd))).message).toContain("team 'red'");
    const held = await reserve(all, usd);
    expect(held.accounts).toHaveLength(3);
    // The other models of the team still have one dollar.
    (await reserve(all, usd, "other/model")).settle(usd);
    (await reserve(key, usd)).settle(usd);
    await refusalOf(reserve(key, 1));
  });

  test("a call waits for what running calls have reserved", async () => {
    const { reserve, spend } = openBudgets({ waitMs: 60_000 });
    const rule = makeRule();
    const held = await reserve(rule, 0.9 * usd);
    const waiting = Promise.all(Array.from({ length: 20 }, () => reserve(rule, 0.04 * usd)));
    await spend(held, 0.1 * usd);
    expect(await waiting).toHaveLength(20);
  });

  test("a call that begins just when an exchange with the store ends is answered", async () => {
    for (let turns = 0; turns < 20; turns++) {
      const rule = makeRule();
      const second = Promise.withResolvers<BudgetReservation>();
      let exchanges = 0;
      const exchange: typeof storage.budgets.exchange = async (...args) => {
        const answers = await storage.budgets.exchange(...args);
        if (++exchanges === 1) reserveAfter(turns);
        return answers;
      };
      const { budgets, reserve } = openBudgets({ waitMs: 60_000, store: { ...storage.budgets, exchange } });
      /** So many turns of the queue of microtasks later. */
      const reserveAfter = (left: number): void =>
        left > 0 ? queueMicrotask(() => reserveAfter(left - 1)) : second.resolve(reserve(rule, 0.5 * usd));
      await reserve(rule, 0.1 * usd);
      await within(60_000, `the call after ${turns} turns`, second.promise);
      await budgets.close();
    }
  });

  test("a new period begins with the whole budget, and a call is charged to the period in which it began", async () => {
    const clock = { now: Date.parse("2026-03-15T23:59:59Z") };
    const { reserve, spend } = openBudgets({ now: () => clock.now });
    const rule = makeRule({ period: "daily" });
    const held = await reserve(rule, 0.9 * usd);
    await refusalOf(reserve(rule, 0.2 * usd));
    clock.now += 1_000;
    const next = await reserve(rule, usd);
    expect(next.accounts).not.toEqual(held.accounts);
    await spend(held, 0.5 * usd);
    expect(await spentOf(held)).toBe(BigInt(0.5 * usd));
    expect(await spentOf(next)).toBe(0n);
  });

  test("a raise counts until it ends, and a new amount at once", async () => {
    const clock = { now: Date.parse("2026-03-15T12:00:00Z") };
    const { reserve } = openBudgets({ now: () => clock.now });
    const rule = makeRule({ raise: { amount: 1, until: "2026-03-15T13:00:00Z" } });
    (await reserve(rule, 1.5 * usd)).release();
    clock.now += 3_600_000;
    expect((await refusalOf(reserve(rule, 1.5 * usd))).message).toContain("is 1.00 USD");
    const changed = { ...rule, budget: { ...(rule.budget as Budget), amount: 5, raise: null } };
    (await reserve(changed, 4 * usd)).release();
    await refusalOf(reserve(rule, 1.5 * usd));
  });

  test("calls of a request that began before a change of a budget follow the new one", async () => {
    const keyring = await openKeyring({ storage, adminKey: null, staleAfterMs: 9e9, log: quiet });
    const teams = createTeams({ storage, keyring });
    const team = await teams.create(createTeamRequest.parse({ name: "blue", budget: { amount: 1 } }));
    const key = await keyring.create(createKeyRequest.parse({ name: "a key", team: "blue", budget: { amount: 1 } }));
    const findRules = async () => (await keyring.findCaller(key.id))?.rules ?? expect.unreachable("no key");
    const before = await findRules();
    const { reserve } = openBudgets({ waitMs: 60_000 });
    const held = await reserve(before, 0.9 * usd);
    await keyring.update(key.id, updateKeyRequest.parse({ budget: { amount: 5 } }));
    await teams.update(team.id, updateTeamRequest.parse({ budget: { amount: 6 } }));
    (await reserve(await findRules(), 3 * usd)).release();
    // Also in a process that serves no other request of the key.
    for (const process of [reserve, openBudgets({ waitMs: 60_000 }).reserve]) {
      (await process(before, 2 * usd)).release();
      const balances = await storage.budgets.balances(held.accounts);
      expect(balances.map(({ limitPico }) => limitPico).sort()).toEqual([5n, 6n].map((amount) => amount * BigInt(usd)));
    }
    await keyring.close();
  });

  test("amounts of another lease do not come back to a lease that was lost", async () => {
    const clock = { now: Date.now() };
    const { reserve } = openBudgets({ now: () => clock.now });
    const rule = makeRule();
    const held = await reserve(rule, 0.5 * usd);
    clock.now += 60_000;
    // Another process takes what the store got back.
    const other = openBudgets({ now: () => clock.now });
    await other.reserve(rule, 0.9 * usd);
    await refusalOf(reserve(rule, 0.2 * usd));
    held.settle(0);
    await refusalOf(reserve(rule, 0.2 * usd));
    await reserve(rule, 0.1 * usd);
  });

  test("what is to be returned of a lease that was lost is not taken from the next one", async () => {
    const clock = { now: Date.now() };
    const answered = Promise.withResolvers<void>();
    let exchanges = 0;
    const exchange: typeof storage.budgets.exchange = async (...args) => {
      const answers = await storage.budgets.exchange(...args);
      if (++exchanges === 2) await answered.promise;
      return answers;
    };
    const now = () => clock.now;
    const { reserve } = openBudgets({ now, waitMs: 60_000, store: { ...storage.budgets, exchange } });
    const rule = makeRule({ amount: 2 });
    (await reserve(rule, usd)).release();
    clock.now += 60_000;
    const waiting = reserve(rule, 0.1 * usd);
    await waitFor("the exchange", () => exchanges === 2);
    // Under a lower limit, the process returns what it does not use; the store has already answered that the lease was lost.
    const lower = { ...rule, budget: { ...(rule.budget as Budget), amount: 1 } };
    const next = reserve(lower, 0.1 * usd);
    answered.resolve();
    await Promise.all([waiting, next]);
    await reserve(lower, 0.3 * usd);
    expect((await refusalOf(openBudgets({ now }).reserve(lower, 0.6 * usd))).code).toBe("budget_exceeded");
  });
});

describe("several processes", () => {
  test("what one does not use, it returns when another needs it", async () => {
    const rule = makeRule();
    const one = openBudgets();
    const other = openBudgets({ waitMs: 60_000 });
    (await one.reserve(rule, 0.9 * usd)).release();
    const held = await other.reserve(rule, 0.9 * usd);
    expect(held.pico).toBe(0.9 * usd);
  });

  test("together they never reserve more than the budget, and no needed part stays unused", async () => {
    const rule = makeRule();
    const processes = Array.from({ length: 4 }, () => openBudgets({ waitMs: 60_000 }));
    let admitted = 0;
    let refused = 0;
    await Promise.all(
      Array.from({ length: 2_000 }, async (_, index) => {
        const { reserve, spend } = processes[index % 4] as ReturnType<typeof openBudgets>;
        try {
          const held = await reserve(rule, 0.004 * usd);
          admitted++;
          await spend(held, 0.001 * usd);
        } catch (error) {
          expect((error as GatewayError).code).toBe("budget_exceeded");
          refused++;
        }
      }),
    );
    expect(admitted + refused).toBe(2_000);
    // Only what is less than one estimate may be left.
    expect(admitted).toBeLessThanOrEqual(1_000);
    expect(admitted).toBeGreaterThanOrEqual(997);
  }, 300_000);

  describe("a call that waits when its period ends", () => {
    /** A call waits in one process for what another has reserved, and a further call begins the next day. */
    async function waitOverMidnight(waitMs: number) {
      const clock = { now: Date.parse("2026-03-15T23:59:59.500Z") };
      const rule = makeRule({ period: "daily" });
      const one = openBudgets({ now: () => clock.now });
      const other = openBudgets({ now: () => clock.now, waitMs });
      const held = await one.reserve(rule, 0.9 * usd);
      const waiting = other.reserve(rule, 0.2 * usd);
      waiting.catch(() => {});
      const isWanted = async () => (await storage.budgets.wanted(clock.now)).includes(held.accounts[0] as string);
      await waitFor("the call to wait", isWanted);
      clock.now += 600;
      const next = await other.reserve(rule, 0.1 * usd);
      expect(next.accounts).not.toEqual(held.accounts);
      return { clock, one, held, waiting };
    }

    test("gets what comes back of the old period", async () => {
      const { one, held, waiting } = await waitOverMidnight(60_000);
      await one.spend(held, 0.1 * usd);
      expect((await waiting).accounts).toEqual(held.accounts);
    });

    test("is refused when its time is over", async () => {
      const { clock, waiting } = await waitOverMidnight(2_000);
      clock.now += 2_000;
      const refusal = await refusalOf(waiting);
      expect(refusal.code).toBe("budget_exceeded");
      expect(refusal.details.headers?.["x-should-retry"]).toBe("true");
    });
  });

  test("a call that waits for one budget finds another one of which the period has ended meanwhile", async () => {
    const clock = { now: Date.parse("2026-03-15T23:59:59.500Z") };
    const first = makeRule({}, { id: "key:first" });
    const second = makeRule({ period: "daily" }, { id: "key:second" });
    const asked: string[] = [];
    const exchange: typeof storage.budgets.exchange = async (requests, terms) => {
      asked.push(...requests.map(({ ruleId }) => ruleId));
      return await storage.budgets.exchange(requests, terms);
    };
    const one = openBudgets({ now: () => clock.now });
    const other = openBudgets({ now: () => clock.now, waitMs: 60_000, store: { ...storage.budgets, exchange } });
    const [heldOfFirst, heldOfSecond] = [await one.reserve(first, 0.9 * usd), await one.reserve(second, 0.9 * usd)];
    const isWanted = async (held: BudgetReservation) =>
      (await storage.budgets.wanted(clock.now)).includes(held.accounts[0] as string);
    const waiting = other.reserve([first, second], 0.2 * usd);
    await waitFor("the call to wait for the first budget", () => isWanted(heldOfFirst));
    clock.now += 600;
    await other.reserve(second, 0.1 * usd);
    // The store is asked once in a tick: after two ticks, the account of the old period is forgotten.
    asked.length = 0;
    await waitFor("two ticks", () => asked.filter((id) => id === first.id).length > 2);
    await one.spend(heldOfFirst, 0.1 * usd);
    await waitFor("the call to wait for the second budget", () => isWanted(heldOfSecond));
    await one.spend(heldOfSecond, 0.1 * usd);
    expect((await waiting).accounts).toEqual([heldOfFirst, heldOfSecond].flatMap(({ accounts }) => accounts));
  });

  test("a process that ends gives back its lease", async () => {
    const rule = makeRule();
    const one = openBudgets();
    (await one.reserve(rule, 0.9 * usd)).release();
    await one.budgets.close();
    (await openBudgets().reserve(rule, 0.95 * usd)).release();
  });

  test("a process that ends while it asks for more gives back what it is granted", async () => {
    const rule = makeRule();
    const answered = Promise.withResolvers<void>();
    let exchanges = 0;
    const exchange: typeof storage.budgets.exchange = async (...args) => {
      exchanges++;
      const answers = await storage.budgets.exchange(...args);
      if (exchanges > 1) await answered.promise;
      return answers;
    };
    const one = openBudgets({ store: { ...storage.budgets, exchange } });
    const held = [await one.reserve(rule, 0.001 * usd)];
    // Half of the lease is used, so the process asks for more.
    while (exchanges < 2) held.push(await one.reserve(rule, 0.001 * usd));
    for (const reservation of held) reservation.release();
    const closed = one.budgets.close();
    answered.resolve();
    await closed;
    (await openBudgets().reserve(rule, usd)).release();
  });
});

describe("an outage of the store", () => {
  test("calls within the lease continue, others are answered 503, and nothing is lost afterwards", async () => {
    let isDown = false;
    const down = new GatewayError("dependency_unavailable", "down");
    const whenUp = <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) => {
      // The store executes the call, and its answer is lost.
      return async (...args: Args) => {
        const result = await call(...args);
        if (isDown) throw down;
        return result;
      };
    };
    const { exchange, renew, wanted } = storage.budgets;
    const store = { exchange: whenUp(exchange), renew: whenUp(renew), wanted: whenUp(wanted) };
    const rule = makeRule();
    const { reserve } = openBudgets({ store });
    (await reserve(rule, 0.1 * usd)).release();
    isDown = true;
    const held = await reserve(rule, 0.1 * usd);
    expect((await refusalOf(reserve(rule, 0.5 * usd))).code).toBe("dependency_unavailable");
    expect((await refusalOf(reserve(rule, 0.5 * usd))).code).toBe("dependency_unavailable");
    isDown = false;
    held.release();
    // The grant whose answer was lost is not lost: the whole budget can be had again.
    const whole = await waitFor("the whole budget", () => reserve(rule, usd).catch(() => null));
    whole.release();
  });
});

test("accounts that are not used are given back and forgotten", async () => {
  const clock = { now: Date.now() };
  const { budgets, reserve } = openBudgets({ now: () => clock.now });
  const many = Array.from({ length: 100 }, () => makeRule());
  for (const held of await Promise.all(many.map((rule) => reserve(rule, 0.9 * usd)))) held.release();
  expect(budgets.size()).toBe(100);
  clock.now += 61_000;
  await waitFor("the accounts to be forgotten", async () => budgets.size() === 0);
  await budgets.close();
});
