// The rate limits of keys and teams: requests per second and per minute, and tokens per minute, in sliding windows that all processes of the
// gateway share; and concurrent calls, by the rules for certain models. Limits that are checked together all count a request, or none does.

import type { RateLimit } from "../contract/limits.ts";
import { GatewayError } from "../errors.ts";
import { minuteMs } from "../lib/time-units.ts";
import type { Caller } from "./caller.ts";
import { Counter, type CounterEntry, running } from "./counter-table.ts";
import { appliesTo, type LimitRule } from "./limit-rules.ts";
import type { RateShares, SharedLimit } from "./rate-shares.ts";
import type { SharedCounters } from "./shared-counters.ts";
import { resetMs, sumOf, type WindowKind } from "./window-cells.ts";

export interface RateLimitsOptions {
  readonly counters: SharedCounters;
  /** Null: no other gateway uses the same database. */
  readonly shares?: RateShares | null;
}

/** A call that is about to be sent. */
export interface RateCall {
  readonly model: string;
  readonly estimateTokens: () => number;
  /** Any object that all calls of a request share: they count the request once. */
  readonly request: object;
}

/** What a call has taken from the windows. Exactly one of its methods is called, once. */
export interface RateReservation {
  /** The call has ended. `tokens`: what it used; null when that is unknown, so that the estimate stays counted. */
  settle(tokens: number | null): void;
  /** The call was not sent. */
  release(): void;
}

/** What is left of a limit. */
export interface RateState {
  /** As in the settings of a key: `requests_per_minute`. */
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the limit has recovered completely, without further requests. Always 0 for `concurrent_requests`. */
  readonly resetMs: number;
}

/** How many requests of a rule may run at the same time. */
export interface RunningCheck {
  readonly rule: LimitRule;
  readonly counter: Counter;
  readonly limit: number;
}

/** A limit of a window, and the rule that sets it. */
interface RateCheck extends SharedLimit {
  readonly rule: LimitRule;
}

/** The limits that a list of rules sets, by the moment at which they are checked. */
interface Plan {
  /** Checked when a request arrives: requests, by the rules for all models. */
  readonly atStart: readonly RateCheck[];
  /** Checked before a call is sent: tokens, and requests by the rules for certain models. */
  readonly atCall: readonly RateCheck[];
  /** Checked before a call is sent: running calls, by the rules for certain models. */
  readonly running: readonly RunningCheck[];
  /** Whether a rule for certain models limits rates. */
  readonly hasModelRules: boolean;
  /** Those of `atCall` that apply to all models. */
  readonly tokensOfAllModels: readonly RateCheck[];
}

/** What the calls of one request have in common. */
interface RequestRecord {
  /** The counters that have counted the request: each counts it once, however many calls it makes. */
  readonly counted: Set<Counter>;
  /** The limits for certain models that applied to one of the calls. */
  readonly applied: Set<RateCheck>;
}

interface TakenAmount {
  readonly check: RateCheck;
  /** The step of the window in which the amount was counted. */
  readonly step: number;
  readonly amount: number;
}

/** A limit of which this gateway must lease more, and the amount that it needs. */
interface LeaseNeed {
  readonly check: RateCheck;
  readonly amount: number;
}

type AmountOf = (check: RateCheck) => number;

export class RateLimits {
  readonly counters: SharedCounters;
  readonly #shares: RateShares | null;
  readonly #countersById = new Map<string, Counter>();
  readonly #plans = new WeakMap<readonly LimitRule[], Plan>();
  /** By the object that the calls of a request share. */
  readonly #requests = new WeakMap<object, RequestRecord>();

  constructor({ counters, shares = null }: RateLimitsOptions) {
    this.counters = counters;
    this.#shares = shares;
  }

  /** Counts a request against the rules for all models, or throws 429. Returns a promise only when the store has to be asked. */
  takeRequest({ rules }: Caller): Promise<void> | undefined {
    if (rules.length === 0) return undefined;
    const { atStart } = this.#planOf(rules);
    if (atStart.length === 0) return undefined;
    const taken = this.#takeAll(atStart, oneRequest);
    return needsLease(taken) ? this.#leaseAndTake(atStart, oneRequest, taken).then(ignore) : undefined;
  }

  /**
   * Reserves what a call may use, or throws 429. Returns null when no limit applies, and a promise only when the store has to be asked.
   */
  reserve({ rules }: Caller, call: RateCall): RateReservation | Promise<RateReservation> | null {
    if (rules.length === 0) return null;
    const plan = this.#planOf(rules);
    if (plan.atCall.length === 0 && plan.running.length === 0) return null;
    return plan.hasModelRules
      ? this.#reserveForModel(plan, call)
      : this.#reserveTokens(plan.atCall, Math.ceil(call.estimateTokens()));
  }

  /** Adds `x-ratelimit-*` for the tightest limits that applied to the request. */
  addHeaders(headers: Record<string, string>, { rules }: Caller, request: object): void {
    if (rules.length === 0) return;
    const { atStart, tokensOfAllModels, hasModelRules } = this.#planOf(rules);
    const applied = hasModelRules ? [...(this.#requests.get(request)?.applied ?? [])] : [];
    // The same result as below without copying the lists, for most requests.
    if (applied.length === 0) {
      this.#addTightest(headers, headerNames.requests, atStart);
      this.#addTightest(headers, headerNames.tokens, tokensOfAllModels);
      return;
    }
    const requests = applied.filter(({ kind }) => kind !== "tokens");
    const tokens = applied.filter(({ kind }) => kind === "tokens");
    this.#addTightest(headers, headerNames.requests, [...atStart, ...requests]);
    this.#addTightest(headers, headerNames.tokens, [...tokensOfAllModels, ...tokens]);
  }

  /** Returns the limits of a rule, and what remains of them after the use of this gateway. The use of other gateways is not included. */
  describe(rule: LimitRule): RateState[] {
    const windows = this.#toChecks(rule).map(({ counter, kind, limit }) => {
      const state = this.counters.read(counter, kind);
      const remaining = Math.max(0, limit - sumOf(state));
      return { name: settingNames[kind], limit, remaining, resetMs: resetMs(state, kind) };
    });
    const concurrent = this.toRunningChecks(rule).map(({ counter, limit }) => {
      const remaining = Math.max(0, limit - this.counters.countRunning(counter, running.requests));
      return { name: "concurrent_requests", limit, remaining, resetMs: 0 };
    });
    return [...windows, ...concurrent];
  }

  /** A list of one, or an empty list when the rule does not limit running requests. */
  toRunningChecks(rule: LimitRule): RunningCheck[] {
    const limit = rule.rateLimit?.concurrent_requests ?? null;
    return limit === null ? [] : [{ rule, counter: this.counterOf(rule.id), limit }];
  }

  /** The part of a limit of running requests that this gateway may use: an equal part for each gateway, and at least one request. */
  runningLimit(limit: number): number {
    return this.#shares?.ownPart(limit) ?? limit;
  }

  counterOf(id: string): Counter {
    let counter = this.#countersById.get(id);
    if (counter === undefined) {
      counter = new Counter(id);
      this.#countersById.set(id, counter);
    }
    return counter;
  }

  /** For callers without rules for certain models, as most are: only tokens are checked before their calls. */
  #reserveTokens(checks: readonly RateCheck[], tokens: number): RateReservation | Promise<RateReservation> {
    // An estimate above the limit would never fit, so it is lowered to the limit: then it fits an empty window.
    const amountOf = ({ limit }: RateCheck) => Math.min(tokens, limit);
    const taken = this.#takeAll(checks, amountOf);
    if (!needsLease(taken)) return this.#toReservation(taken, ignore, null);
    return this.#leaseAndTake(checks, amountOf, taken).then((later) => this.#toReservation(later, ignore, null));
  }

  #reserveForModel(
    plan: Plan,
    { model, estimateTokens, request }: RateCall,
  ): RateReservation | Promise<RateReservation> | null {
    const applies = ({ rule }: { readonly rule: LimitRule }) => appliesTo(rule, model);
    const checks = plan.atCall.filter(applies);
    const runningChecks = plan.running.filter(applies);
    if (checks.length === 0 && runningChecks.length === 0) return null;
    const record = this.#recordOf(request);
    for (const check of checks) if (check.rule.model !== null) record.applied.add(check);
    const uncounted = checks.filter(({ kind, counter }) => kind === "tokens" || !record.counted.has(counter));
    const tokens = uncounted.some(({ kind }) => kind === "tokens") ? Math.ceil(estimateTokens()) : 0;
    // An estimate above the limit would never fit, so it is lowered to the limit: then it fits an empty window.
    const amountOf = ({ kind, limit }: RateCheck) => (kind === "tokens" ? Math.min(tokens, limit) : 1);
    const endRunning = this.#beginRunning(runningChecks);
    const finish = (taken: readonly TakenAmount[]) => {
      for (const { check } of taken) if (check.kind !== "tokens") record.counted.add(check.counter);
      return this.#toReservation(taken, endRunning, record);
    };
    const giveUp = (error: unknown): never => {
      endRunning();
      throw error;
    };
    try {
      const taken = this.#takeAll(uncounted, amountOf);
      return needsLease(taken) ? this.#leaseAndTake(uncounted, amountOf, taken).then(finish, giveUp) : finish(taken);
    } catch (error) {
      return giveUp(error);
    }
  }

  /** Takes from all windows or from none. Throws 429 when a limit is reached. */
  #takeAll(checks: readonly RateCheck[], amountOf: AmountOf): readonly TakenAmount[] | LeaseNeed {
    const taken: TakenAmount[] = [];
    for (const check of checks) {
      const amount = amountOf(check);
      const outcome = this.#takeOne(check, amount);
      if (outcome === "shareUsedUp") {
        this.#giveBack(taken);
        return { check, amount };
      }
      if ("waitMs" in outcome) {
        this.#giveBack(taken);
        throw rateExceeded(check, outcome.waitMs);
      }
      taken.push(outcome);
    }
    return taken;
  }

  #takeOne(check: RateCheck, amount: number): TakenAmount | { readonly waitMs: number } | "shareUsedUp" {
    const { counter, kind, limit } = check;
    const shares = this.#shares;
    if (shares?.isLeased(kind)) {
      const outcome = this.counters.take(counter, kind, { limit, amount, isShared: true });
      if (outcome !== "shareUsedUp") return "step" in outcome ? { check, step: outcome.step, amount } : outcome;
      if (!shares.mustDivide) return outcome;
    }
    // Without a lease, this gateway may use an equal part of the limit.
    const ownLimit = shares?.ownPart(limit) ?? limit;
    const ownAmount = Math.min(amount, ownLimit);
    const outcome = this.counters.take(counter, kind, { limit: ownLimit, amount: ownAmount, isShared: false });
    return "step" in outcome ? { check, step: outcome.step, amount: ownAmount } : outcome;
  }

  async #leaseAndTake(
    checks: readonly RateCheck[],
    amountOf: AmountOf,
    firstNeed: LeaseNeed,
  ): Promise<readonly TakenAmount[]> {
    let need = firstNeed;
    for (;;) {
      const waitMs = (await this.#shares?.lease(need.check, need.amount)) ?? 0;
      if (waitMs > 0) throw rateExceeded(need.check, waitMs);
      const taken = this.#takeAll(checks, amountOf);
      if (!needsLease(taken)) return taken;
      need = taken;
    }
  }

  #giveBack(taken: readonly TakenAmount[]): void {
    for (const { check, step, amount } of taken) this.counters.giveBack(check.counter, check.kind, { step, amount });
  }

  /** Counts a running call against all of the limits, or throws 429. Returns the function that ends it. */
  #beginRunning(checks: readonly RunningCheck[]): () => void {
    if (checks.length === 0) return ignore;
    const begun: CounterEntry[] = [];
    const end = () => {
      for (const entry of begun) this.counters.end(entry, running.requests);
    };
    for (const { rule, counter, limit } of checks) {
      const entry = this.counters.entryOf(counter);
      if (!this.counters.begin(entry, running.requests, this.runningLimit(limit))) {
        end();
        throw tooManyRunning(rule, limit);
      }
      begun.push(entry);
    }
    return end;
  }

  /** `record`: may be null when the call has taken tokens only. */
  #toReservation(taken: readonly TakenAmount[], endRunning: () => void, record: RequestRecord | null): RateReservation {
    return {
      settle: (tokens) => {
        endRunning();
        if (tokens === null) return;
        for (const { check, step, amount } of taken) {
          if (check.kind !== "tokens" || tokens === amount) continue;
          if (tokens > amount) this.counters.add(check.counter, check.kind, tokens - amount);
          else this.counters.giveBack(check.counter, check.kind, { step, amount: amount - tokens });
        }
      },
      release: () => {
        endRunning();
        this.#giveBack(taken);
        for (const { check } of taken) if (check.kind !== "tokens") record?.counted.delete(check.counter);
      },
    };
  }

  #addTightest(headers: Record<string, string>, names: HeaderNames, checks: readonly RateCheck[]): void {
    let tightest: RateCheck | null = null;
    let least = Number.POSITIVE_INFINITY;
    let untilResetMs = 0;
    for (const check of checks) {
      const window = this.counters.summarize(check.counter, check.kind);
      const remaining = Math.max(0, check.limit - window.sum);
      if (remaining >= least) continue;
      tightest = check;
      least = remaining;
      untilResetMs = window.resetMs;
    }
    if (tightest === null) return;
    headers[names.limit] = String(tightest.limit);
    headers[names.remaining] = String(least);
    headers[names.reset] = formatDuration(untilResetMs);
  }

  #recordOf(request: object): RequestRecord {
    let record = this.#requests.get(request);
    if (record === undefined) {
      record = { counted: new Set(), applied: new Set() };
      this.#requests.set(request, record);
    }
    return record;
  }

  #planOf(rules: readonly LimitRule[]): Plan {
    let plan = this.#plans.get(rules);
    if (plan === undefined) {
      plan = this.#createPlan(rules);
      this.#plans.set(rules, plan);
    }
    return plan;
  }

  #createPlan(rules: readonly LimitRule[]): Plan {
    const checks = rules.flatMap((rule) => this.#toChecks(rule));
    const isAtStart = ({ rule, kind }: RateCheck) => rule.model === null && kind !== "tokens";
    return {
      atStart: checks.filter(isAtStart),
      atCall: checks.filter((check) => !isAtStart(check)),
      running: rules.filter(({ model }) => model !== null).flatMap((rule) => this.toRunningChecks(rule)),
      hasModelRules: rules.some(({ model, rateLimit }) => model !== null && rateLimit !== null),
      tokensOfAllModels: checks.filter(({ rule, kind }) => rule.model === null && kind === "tokens"),
    };
  }

  #toChecks(rule: LimitRule): RateCheck[] {
    const { rateLimit } = rule;
    if (rateLimit === null) return [];
    const counter = this.counterOf(rule.id);
    return windowKinds.flatMap((kind) => {
      const limit = rateLimit[settingNames[kind]];
      return limit === null ? [] : [{ rule, counter, kind, limit }];
    });
  }
}

const windowKinds: readonly WindowKind[] = ["perSecond", "perMinute", "tokens"];

const settingNames = {
  perSecond: "requests_per_second",
  perMinute: "requests_per_minute",
  tokens: "tokens_per_minute",
} as const satisfies Record<WindowKind, keyof RateLimit>;

type HeaderNames = Readonly<Record<"limit" | "remaining" | "reset", string>>;

// Whole names: the runtime would have to hash a concatenated name again for every answer.
const headerNames = {
  requests: {
    limit: "x-ratelimit-limit-requests",
    remaining: "x-ratelimit-remaining-requests",
    reset: "x-ratelimit-reset-requests",
  },
  tokens: {
    limit: "x-ratelimit-limit-tokens",
    remaining: "x-ratelimit-remaining-tokens",
    reset: "x-ratelimit-reset-tokens",
  },
} as const;

const oneRequest = () => 1;

function ignore(): void {}

function needsLease(taken: readonly TakenAmount[] | LeaseNeed): taken is LeaseNeed {
  return !Array.isArray(taken);
}

export function tooManyRunning(rule: LimitRule, limit: number): GatewayError {
  return new GatewayError(
    "rate_limit_exceeded",
    `${nameOf(rule)} may have ${limit} concurrent requests${modelsOf(rule)}. Wait until some of them have ended.`,
    { retryAfter: 1, isOwnLimit: true },
  );
}

function rateExceeded({ rule, kind, limit }: RateCheck, waitMs: number): GatewayError {
  const retryAfter = Math.max(1, Math.ceil(waitMs / 1_000));
  const verb = kind === "tokens" ? "use" : "send";
  const unit = settingNames[kind].replaceAll("_", " ");
  const message = `${nameOf(rule)} may ${verb} ${limit} ${unit}${modelsOf(rule)}. Retry in ${retryAfter} s.`;
  return new GatewayError("rate_limit_exceeded", message, { retryAfter, isOwnLimit: true });
}

function nameOf({ holder, holderName }: LimitRule): string {
  return `The ${holder} '${holderName}'`;
}

function modelsOf({ model }: LimitRule): string {
  return model === null ? "" : ` for models that match '${model}'`;
}

/** As OpenAI writes durations: `12ms`, `1s`, `6m0s`, `1m30.5s`. */
export function formatDuration(milliseconds: number): string {
  const whole = Math.ceil(milliseconds);
  if (whole < 1_000) return `${whole}ms`;
  const minutes = Math.floor(whole / minuteMs);
  const seconds = (whole - minutes * minuteMs) / 1_000;
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds}s`;
}
