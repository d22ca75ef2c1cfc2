// The part of a budget that this process may spend: what it has leased from the store, what running calls have reserved of it, and the calls
// that wait for more. Amounts are pico-dollars.

import type { Budget } from "../contract/limits.ts";
import { GatewayError } from "../errors.ts";
import type { LeaseAnswer, LeaseRequest } from "../storage/budgets.ts";
import type { LimitRule } from "./limit-rules.ts";

/** A call that waits until its estimate is available. */
interface Waiter {
  readonly pico: number;
  readonly deadline: number;
  /** The store was asked since the call began to wait. */
  isAsked: boolean;
  resolve(generation: number): void;
  reject(error: unknown): void;
}

export interface AccountTerms {
  readonly periodStart: number;
  /** Infinity: the period never ends. */
  readonly periodEnd: number;
  readonly limitPico: bigint;
  /** When the limit changes although the period goes on. */
  readonly changesAt: number;
}

// What is left only shrinks while the limit stays the same. The store is asked again from time to time, because it may have been restored from a backup.
const leftIsKnownForMs = 5_000;

export class Account {
  readonly id: string;
  rule: LimitRule;
  terms: AccountTerms;
  /** What calls may reserve. Below zero after calls that cost more than their estimate. */
  available = 0;
  reserved = 0;
  /** What goes back to the store with the next exchange. */
  returning = 0;
  /** What the exchange in progress gives back. An exchange that is repeated gives back the same. */
  #returned: number | null = null;
  /** Changes when the lease is lost: what was reserved before does not come back to this lease. */
  generation = 0;
  hasLease = false;
  /** From here on, the store may have granted the lease to others. */
  leaseUntil = 0;
  lastGrant = 0;
  lastUsedAt = 0;
  isRequested = false;
  /** The number of the next exchange. */
  number: number;
  waiters: Waiter[] = [];
  #leftPico: bigint | null = null;
  #leftKnownUntil = 0;

  constructor(rule: LimitRule, terms: AccountTerms, number: number) {
    this.rule = rule;
    this.terms = terms;
    this.number = number;
    this.id = toAccountId(rule, terms);
  }

  /** After a change of the rule, or the end of a raise. */
  update(rule: LimitRule, terms: AccountTerms): void {
    // Under a lower limit, the lease may be more than is left.
    if (terms.limitPico < this.terms.limitPico) this.returnAvailable();
    if (terms.limitPico !== this.terms.limitPico) this.#leftPico = null;
    this.rule = rule;
    this.terms = terms;
  }

  canTake(pico: number, now: number): boolean {
    return pico === 0 || (this.available >= pico && now < this.leaseUntil && this.waiters.length === 0);
  }

  take(pico: number, now: number): void {
    this.available -= pico;
    this.reserved += pico;
    this.lastUsedAt = now;
  }

  /** Throws when the budget is known to be spent. */
  refuseSpent(pico: number, now: number): void {
    if (this.terms.limitPico === 0n) throw this.#toExceeded(pico, 0n, now);
    if (pico > 0 && this.#leftPico !== null && now < this.#leftKnownUntil && this.#leftPico < BigInt(Math.ceil(pico)))
      throw this.#toExceeded(pico, this.#leftPico, now);
  }

  waitFor(pico: number, deadline: number): Promise<number> {
    return new Promise((resolve, reject) => this.waiters.push({ pico, deadline, isAsked: false, resolve, reject }));
  }

  /** A call has ended. `generation`: that of its reservation. */
  settle(reservedPico: number, actualPico: number, generation: number, now: number): void {
    // A charge without a reservation may find no lease: then it is only in the ledger.
    if (generation !== this.generation || !this.hasLease) return;
    this.reserved -= reservedPico;
    this.available += reservedPico - actualPico;
    this.lastUsedAt = now;
    this.#serveFirst(now);
  }

  /** An exchange was sent, and its answer is missing: the store may have granted something. */
  get isUnanswered(): boolean {
    return this.#returned !== null;
  }

  returnAvailable(): void {
    if (this.available <= 0) return;
    this.returning += this.available;
    this.available = 0;
  }

  /** What was left of the lease may have been granted to others. */
  loseLease(): void {
    this.generation++;
    this.available = 0;
    this.reserved = 0;
    // The next lease must not give back what belonged to this one. `apply` subtracts what an exchange in progress gives back.
    this.returning = this.#returned ?? 0;
    this.hasLease = false;
    this.leaseUntil = 0;
  }

  toRequest(): LeaseRequest {
    const { id, rule, terms, number, waiters } = this;
    let least = Number.POSITIVE_INFINITY;
    let sum = 0;
    for (const { pico } of waiters) {
      if (pico < least) least = pico;
      sum += pico;
    }
    // Several processes may each hold too little for a call, and together enough.
    if (this.#returned === null && this.available < least && waiters.length > 0) this.returnAvailable();
    this.#returned ??= this.returning;
    const { available, returning } = this;
    const isWaiting = waiters.length > 0;
    // The smallest amount that is wanted gets a share of what is free.
    const want = isWaiting ? Math.max(1, sum - available) : returning > 0 || this.lastGrant === 0 ? 0 : 1;
    return {
      id,
      ruleId: rule.id,
      periodStart: terms.periodStart,
      periodEnd: Number.isFinite(terms.periodEnd) ? terms.periodEnd : null,
      limitPico: terms.limitPico,
      number,
      needPico: isWaiting ? Math.max(0, least - available) : 0,
      wantPico: want,
      returnPico: this.#returned,
    };
  }

  /** Applies the answer of the store, and lets calls continue that can. */
  apply(answer: LeaseAnswer, nextNumber: number, leaseUntil: number, now: number): void {
    this.number = nextNumber;
    this.returning -= this.#returned ?? 0;
    this.#returned = null;
    if (this.hasLease && !answer.hadLease) this.loseLease();
    this.lastGrant = answer.grantedPico;
    this.available += answer.grantedPico;
    this.hasLease = answer.hadLease || answer.grantedPico > 0;
    if (this.hasLease) this.leaseUntil = leaseUntil;
    const left = answer.limitPico - answer.spentPico;
    this.#leftPico = left;
    this.#leftKnownUntil = now + leftIsKnownForMs;
    this.waiters = this.waiters.filter((waiter) => {
      if (this.#serve(waiter, now)) return false;
      // What others hold and what is reserved may come back, but not what is spent.
      waiter.isAsked = true;
      if (left >= BigInt(Math.ceil(waiter.pico))) return true;
      waiter.reject(this.#toExceeded(waiter.pico, left, now));
      return false;
    });
  }

  rejectAll(error: unknown): void {
    const waiters = this.waiters;
    this.waiters = [];
    for (const waiter of waiters) waiter.reject(error);
  }

  /** Rejects the calls whose time is over. `failure`: why the store could not be asked. */
  rejectLate(now: number, failure: unknown = null): void {
    if (this.waiters.length === 0) return;
    this.waiters = this.waiters.filter((waiter) => {
      if (now < waiter.deadline || (failure === null && !waiter.isAsked)) return true;
      waiter.reject(failure ?? this.#toReserved(waiter.pico));
      return false;
    });
  }

  #serve(waiter: Waiter, now: number): boolean {
    if (this.available < waiter.pico || now >= this.leaseUntil) return false;
    this.take(waiter.pico, now);
    waiter.resolve(this.generation);
    return true;
  }

  #serveFirst(now: number): void {
    let served = 0;
    for (const waiter of this.waiters) {
      if (!this.#serve(waiter, now)) break;
      served++;
    }
    if (served > 0) this.waiters.splice(0, served);
  }

  #toExceeded(pico: number, leftPico: bigint, now: number): GatewayError {
    const left = leftPico > 0n ? leftPico : 0n;
    const { limitPico, periodEnd } = this.terms;
    const reset = Number.isFinite(periodEnd) ? new Date(periodEnd).toISOString() : null;
    const needs =
      left === 0n
        ? "It is spent."
        : `${formatUsd(left)} USD of it are left, and this call may cost up to ${formatUsd(pico)} USD. A lower limit of output tokens lowers that.`;
    const resets = reset === null ? "It does not reset by itself." : `It resets at ${reset}.`;
    return new GatewayError(
      "budget_exceeded",
      `${this.#describe()} is ${formatUsd(limitPico)} USD. ${needs} ${resets}`,
      {
        // A call that exceeds the whole budget does not fit in the next period either.
        ...(reset !== null && pico <= limitPico && { retryAfter: Math.max(1, Math.ceil((periodEnd - now) / 1_000)) }),
        headers: {
          "x-budget-limit": formatUsd(limitPico),
          "x-budget-remaining": formatUsd(left),
          ...(reset === null ? {} : { "x-budget-reset": reset }),
        },
      },
    );
  }

  /** Running calls have reserved the rest of the budget, and some of it will come back: unlike a spent budget, this passes. */
  #toReserved(pico: number): GatewayError {
    const left = this.#leftPico ?? 0n;
    return new GatewayError(
      "budget_exceeded",
      `${this.#describe()} has ${formatUsd(left)} USD left, which running calls have reserved, and this call may cost up to ${formatUsd(pico)} USD. Retry when some of them have ended.`,
      { retryAfter: 1, headers: { "x-should-retry": "true", "x-budget-remaining": formatUsd(left) } },
    );
  }

  #describe(): string {
    const { holder, holderName, model, budget } = this.rule;
    const period = budget === null || budget.period === "none" ? "" : `${budget.period} `;
    const models = model === null ? "" : ` for models that match '${model}'`;
    return `The ${period}budget of the ${holder} '${holderName}'${models}`;
  }
}

export function toAccountId(rule: LimitRule, { periodStart }: Pick<AccountTerms, "periodStart">): string {
  return `${rule.id} ${(rule.budget as Budget).period} ${periodStart}`;
}

/** Without an exponent and without needless zeros: amounts below a millionth of a dollar are common. */
function formatUsd(pico: number | bigint): string {
  const text = BigInt(typeof pico === "bigint" ? pico : Math.ceil(pico))
    .toString()
    .padStart(13, "0");
  const cents = text.slice(-12).replace(/0+$/, "").padEnd(2, "0");
  return `${text.slice(0, -12)}.${cents}`;
}
