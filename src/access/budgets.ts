// Budgets of keys and teams. This process leases parts of a budget from the store and lets calls reserve from them without asking again. What a
// call reserves is an estimate; when its cost is known, the difference comes back. The cost itself reaches the store with the line of the
// ledger, so that budgets and ledger always agree.

import type { Budget } from "../contract/limits.ts";
import { GatewayError, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { isUnavailable } from "../storage/outage.ts";
import type { BudgetStore } from "../storage/stores.ts";
import { Account, type AccountTerms, toAccountId } from "./budget-account.ts";
import { findLimit, findPeriod } from "./budget-periods.ts";
import { appliesTo, findCurrentRules, type LimitRule } from "./limit-rules.ts";

export interface BudgetsOptions {
  readonly store: Pick<BudgetStore, "exchange" | "renew" | "wanted">;
  /** The leases of a process are charged with the lines of its ledger. */
  readonly processId: string;
  /** How long a call waits for amounts that other calls have reserved. */
  readonly waitMs: number;
  /** Costs reach the store with the ledger, so budgets cannot be enforced without it. */
  readonly isLedgerOff?: boolean;
  readonly log: Log;
  readonly now?: () => number;
}

/** What a call has reserved. One of its methods is called; further calls change nothing. */
export interface BudgetReservation {
  readonly accounts: readonly string[];
  readonly pico: number;
  settle(actualPico: number): void;
  /** The call was not sent. */
  release(): void;
}

// A process that died loses its leases after this time.
const leaseMs = 30_000;
const renewEveryMs = 10_000;
// Clocks of replicas differ, and an answer takes time: a lease is used for a shorter time than the store keeps it.
const marginMs = 5_000;
const tickMs = 150;
// Longer than a tick, so that the other processes see it at least once.
const wantedMs = 600;
// A budget that is not used for this time is given back and forgotten.
const idleMs = 60_000;
const mostAccounts = 100_000;
const accountsPerExchange = 512;

export type Budgets = ReturnType<typeof createBudgets>;

export function createBudgets(options: BudgetsOptions) {
  const { store, processId, waitMs, isLedgerOff = false, log, now = Date.now } = options;
  /** By the id of the rule. */
  const accounts = new Map<string, Account>();
  const rulesWithBudget = new WeakMap<readonly LimitRule[], readonly LimitRule[]>();
  /**
   * Accounts of earlier periods and idle ones, by their ids, until no call waits for them and all of their lease is given back. No other account
   * has the id of one of them, because an exchange may name an account only once.
   */
  const leaving = new Map<string, Account>();
  const requested = new Set<Account>();
  let exchanging: Promise<void> | null = null;
  let ticking: ReturnType<typeof setInterval> | null = null;
  let isPolling = false;
  let renewedAt = 0;
  let numbers = 0;
  let isClosed = false;

  /** Null when no budget applies. Throws 402. A promise only when the store has to be asked, or other calls have reserved what is left. */
  function reserve(
    rules: readonly LimitRule[],
    model: string,
    estimate: () => number,
  ): BudgetReservation | Promise<BudgetReservation> | null {
    const at = now();
    const applying = findAccounts(rules, model, at);
    if (applying === null) return null;
    if (isLedgerOff) throw withoutLedger();
    const pico = estimate();
    let isReady = true;
    for (const account of applying) {
      account.refuseSpent(pico, at);
      if (!account.canTake(pico, at)) isReady = false;
    }
    if (!isReady) return reserveLater(applying, pico);
    for (const account of applying) {
      account.take(pico, at);
      if (account.available < account.lastGrant / 2 && pico * 4 < account.lastGrant) request(account);
    }
    return new Held(applying, pico, settlePart);
  }

  /** Null when no budget applies. Refuses nothing. What is settled is charged, whatever is left of the budgets. */
  function charge(rules: readonly LimitRule[], model: string): BudgetReservation | null {
    const applying = findAccounts(rules, model, now());
    return applying === null ? null : new Held(applying, 0, settlePart);
  }

  function findAccounts(rules: readonly LimitRule[], model: string, at: number): Account[] | null {
    // By the rules with which its request began, a call would set the limit of the account back for all calls.
    const budgets = findBudgets(findCurrentRules(rules));
    if (budgets.length === 0) return null;
    const applying: Account[] = [];
    for (const rule of budgets) if (appliesTo(rule, model)) applying.push(accountOf(rule, at));
    return applying.length === 0 ? null : applying;
  }

  /** One account after the other, in the order of their ids, so that two calls never wait for each other. */
  async function reserveLater(applying: readonly Account[], pico: number): Promise<BudgetReservation> {
    const deadline = now() + waitMs;
    const taken: { account: Account; generation: number }[] = [];
    try {
      for (const planned of applying.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
        const at = now();
        const account = keepAccount(planned);
        if (account.canTake(pico, at)) {
          account.take(pico, at);
          taken.push({ account, generation: account.generation });
          continue;
        }
        const waiting = account.waitFor(pico, deadline);
        request(account);
        taken.push({ account, generation: await waiting });
      }
    } catch (error) {
      for (const { account, generation } of taken) settlePart(account, pico, 0, generation);
      throw error;
    }
    return new Held(
      taken.map(({ account }) => account),
      pico,
      settlePart,
      taken.map(({ generation }) => generation),
    );
  }

  function settlePart(account: Account, reserved: number, actual: number, generation: number): void {
    account.settle(reserved, actual, generation, now());
    if (leaving.get(account.id) === account) account.returnAvailable();
  }

  function findBudgets(rules: readonly LimitRule[]): readonly LimitRule[] {
    let found = rulesWithBudget.get(rules);
    if (found === undefined) {
      found = rules.filter(({ budget }) => budget !== null);
      rulesWithBudget.set(rules, found);
    }
    return found;
  }

  function accountOf(rule: LimitRule, at: number): Account {
    const known = accounts.get(rule.id);
    if (known !== undefined && known.rule.budget === rule.budget && at < known.terms.changesAt) return known;
    const terms = toTerms(rule.budget as Budget, at);
    const id = toAccountId(rule, terms);
    if (known !== undefined && known.id === id) {
      known.update(rule, terms);
      if (known.returning > 0) request(known);
      return known;
    }
    if (known !== undefined) retire(known);
    const account = takeBack(id, rule, terms) ?? new Account(rule, terms, ++numbers);
    account.lastUsedAt = at;
    if (accounts.size >= mostAccounts) forgetOldest();
    accounts.set(rule.id, account);
    start();
    return account;
  }

  function takeBack(id: string, rule: LimitRule, terms: AccountTerms): Account | undefined {
    const account = leaving.get(id);
    leaving.delete(id);
    account?.update(rule, terms);
    return account;
  }

  /** While a call waited for another account, this one may have been retired and forgotten. It is kept until the call has been served. */
  function keepAccount(account: Account): Account {
    const known = accounts.get(account.rule.id);
    if (known?.id === account.id) return known;
    const left = leaving.get(account.id);
    if (left !== undefined) return left;
    leaving.set(account.id, account);
    start();
    return account;
  }

  function retire(account: Account): void {
    accounts.delete(account.rule.id);
    leaving.set(account.id, account);
    account.returnAvailable();
    if (account.returning > 0) request(account);
  }

  function forgetOldest(): void {
    for (const account of accounts.values()) {
      if (account.reserved > 0 || account.waiters.length > 0) continue;
      retire(account);
      return;
    }
  }

  function request(account: Account): void {
    if (account.isRequested || isClosed) return;
    account.isRequested = true;
    requested.add(account);
    exchanging ??= exchangeAll();
  }

  async function exchangeAll(): Promise<void> {
    try {
      // All calls of this turn of the event loop share one exchange.
      await Promise.resolve();
      while (requested.size > 0) {
        const batch = [...requested].slice(0, accountsPerExchange);
        for (const account of batch) {
          requested.delete(account);
          account.isRequested = false;
        }
        await exchange(batch);
      }
    } finally {
      // In the turn that found nothing more to exchange: a request in a turn between the two would never be sent.
      exchanging = null;
    }
  }

  async function exchange(batch: readonly Account[]): Promise<void> {
    const sentAt = now();
    const terms = { processId, now: sentAt, expiresAt: sentAt + leaseMs, wantedUntil: sentAt + wantedMs };
    try {
      const answers = await store.exchange(
        batch.map((account) => account.toRequest()),
        terms,
      );
      const answerOf = new Map(answers.map((answer) => [answer.id, answer]));
      for (const account of batch) {
        const answer = answerOf.get(account.id);
        if (answer === undefined) continue;
        account.apply(answer, ++numbers, sentAt + leaseMs - marginMs, now());
        // There may be more to grant.
        if (account.waiters.length > 0 && (answer.grantedPico > 0 || answer.isRepeated)) request(account);
      }
    } catch (error) {
      log.warn("A budget could not be leased", { error: messageOf(error), accounts: batch.length });
      // The store may only be slow: calls that can wait are tried again with the next tick.
      for (const account of batch) {
        if (isUnavailable(error)) account.rejectLate(now(), error);
        else account.rejectAll(error);
      }
    }
  }

  function start(): void {
    if (ticking !== null || isClosed) return;
    renewedAt = now();
    ticking = setInterval(tick, tickMs);
    ticking.unref();
  }

  function tick(): void {
    const at = now();
    let isHolding = false;
    for (const account of accounts.values()) {
      account.rejectLate(at);
      if (account.waiters.length > 0 || account.returning > 0) request(account);
      if (account.available > 0 || account.reserved > 0) isHolding = true;
      const isIdle = account.reserved === 0 && account.waiters.length === 0 && at - account.lastUsedAt > idleMs;
      if (isIdle) retire(account);
    }
    for (const account of leaving.values()) {
      account.rejectLate(at);
      // What is left of a grant when the last call that waited has been served.
      if (account.waiters.length === 0) account.returnAvailable();
      if (account.waiters.length > 0 || account.returning > 0) request(account);
      else if (account.isUnanswered) repeatExchange(account);
      else if (account.reserved === 0 && !account.isRequested) leaving.delete(account.id);
    }
    if ((isHolding || leaving.size > 0) && !isPolling) void poll(at);
    if (accounts.size === 0 && leaving.size === 0 && ticking !== null) {
      clearInterval(ticking);
      ticking = null;
    }
  }

  /** Unless it is still in progress: a second one would ask for more than the account needs. */
  function repeatExchange(account: Account): void {
    if (exchanging === null) request(account);
  }

  async function poll(at: number): Promise<void> {
    isPolling = true;
    try {
      if (at - renewedAt >= renewEveryMs) await renew(at);
      const wanted = new Set(await store.wanted(at));
      if (wanted.size === 0) return;
      for (const account of accounts.values()) {
        if (account.available <= 0 || account.waiters.length > 0 || !wanted.has(account.id)) continue;
        account.returnAvailable();
        request(account);
      }
    } catch (error) {
      // Calls that need the store are told so; leases that cannot be renewed end by themselves.
      log.debug("Leases of budgets could not be checked", { error });
    } finally {
      isPolling = false;
    }
  }

  async function renew(at: number): Promise<void> {
    const held = [...accounts.values(), ...leaving.values()]
      .filter(({ hasLease }) => hasLease)
      .map((account) => {
        return { account, leaseUntil: account.leaseUntil };
      });
    const renewed = new Set(await store.renew({ processId, now: at, expiresAt: at + leaseMs }));
    renewedAt = at;
    for (const { account, leaseUntil } of held) {
      // A grant that came in between has a later end.
      if (account.leaseUntil !== leaseUntil) continue;
      if (renewed.has(account.id)) account.leaseUntil = at + leaseMs - marginMs;
      else account.loseLease();
    }
  }

  return {
    reserve,
    charge,
    /** How many accounts are in memory. */
    size: () => accounts.size,
    /** Gives back what is leased and not reserved. */
    async close(): Promise<void> {
      if (ticking !== null) clearInterval(ticking);
      // An exchange in progress may still grant something.
      await exchanging;
      for (const account of [...accounts.values(), ...leaving.values()]) {
        account.returnAvailable();
        if (account.returning > 0) request(account);
      }
      isClosed = true;
      await exchanging;
    },
  };
}

function withoutLedger(): GatewayError {
  return new GatewayError(
    "dependency_unavailable",
    "The key has a budget, which cannot be enforced because the operator has switched the ledger off (SWITCHYARD_LEDGER).",
    { shouldRetry: false },
  );
}

class Held implements BudgetReservation {
  readonly pico: number;
  readonly #accounts: readonly Account[];
  readonly #generations: readonly number[];
  readonly #settlePart: (account: Account, reserved: number, actual: number, generation: number) => void;
  #isSettled = false;

  constructor(
    accounts: readonly Account[],
    pico: number,
    settlePart: (account: Account, reserved: number, actual: number, generation: number) => void,
    generations: readonly number[] = accounts.map(({ generation }) => generation),
  ) {
    this.#accounts = accounts;
    this.pico = pico;
    this.#settlePart = settlePart;
    this.#generations = generations;
  }

  get accounts(): readonly string[] {
    return this.#accounts.map(({ id }) => id);
  }

  settle(actualPico: number): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    for (const [index, account] of this.#accounts.entries())
      this.#settlePart(account, this.pico, actualPico, this.#generations[index] as number);
  }

  release(): void {
    this.settle(0);
  }
}

function toTerms(budget: Budget, at: number): AccountTerms {
  const { start, end } = findPeriod(budget, at);
  const { pico, changesAt } = findLimit(budget, at);
  return { periodStart: start, periodEnd: end, limitPico: pico, changesAt: Math.min(end, changesAt) };
}
