// The rate limits of keys and teams: requests per second and per minute, and tokens per minute, in sliding windows that all processes of the
// gateway share. A request that one limit refuses is counted against none.

import { GatewayError } from "../errors.ts";
import type { Caller } from "./caller.ts";
import { Counter } from "./counter-table.ts";
import { appliesTo, type LimitRule } from "./limit-rules.ts";
import type { RateShares, SharedLimit } from "./rate-shares.ts";
import type { SharedCounters } from "./shared-counters.ts";
import { resetMs, sumOf, type WindowKind } from "./window-cells.ts";

/** One limit of one rule. */
interface RateCheck extends SharedLimit {
  readonly rule: LimitRule;
}

/** What the limits of a caller are, prepared once. */
interface Plan {
  /** Checked when a request arrives: requests of rules for every model. */
  readonly atStart: readonly RateCheck[];
  /** Checked before a call is sent: tokens, and all limits of rules for certain models. */
  readonly atCall: readonly RateCheck[];
  /** Running calls of rules for certain models. */
  readonly running: readonly RunningCheck[];
  /** Whether some of these rules are for certain models. */
  readonly hasModels: boolean;
  /** What the headers of every answer are about. */
  readonly shownRequests: readonly RateCheck[];
  readonly shownTokens: readonly RateCheck[];
}

/** How many requests of a rule may run at the same time. */
export interface RunningCheck {
  readonly rule: LimitRule;
  readonly counter: Counter;
  readonly limit: number;
}

/** What a call has taken from the windows. One of its methods is called exactly once. */
export interface RateReservation {
  /** `tokens`: null when they are unknown; then the estimate stays. */
  settle(tokens: number | null): void;
  /** The call was not sent. */
  release(): void;
}

/** The calls of one request. A request is counted once, however many calls it makes. */
interface RequestRecord {
  readonly counted: Set<Counter>;
  /** The limits for certain models that applied to the request. */
  readonly applied: Set<RateCheck>;
}

interface Taken {
  readonly check: RateCheck;
  readonly step: number;
  readonly amount: number;
}

/** A limit whose share of this gateway is used up. */
interface Missing {
  readonly check: RateCheck;
  readonly amount: number;
}

/** What is left of a limit. */
export interface RateState {
  /** As in the settings of a key. */
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the limit has recovered completely, without further requests. */
  readonly resetMs: number;
}

export interface RateLimitsOptions {
  readonly counters: SharedCounters;
  /** Null: there is no other gateway. */
  readonly shares?: RateShares | null;
}

export class RateLimits {
  readonly counters: SharedCounters;
  readonly #shares: RateShares | null;
  readonly #counterOf = new Map<string, Counter>();
  readonly #plans = new WeakMap<readonly LimitRule[], Plan>();
  /** By an object that stands for the request. */
  readonly #requests = new WeakMap<object, RequestRecord>();

  constructor({ counters, shares = null }: RateLimitsOptions) {
    this.counters = counters;
    this.#shares = shares;
  }

  counterOf(id: string): Counter {
    let counter = this.#counterOf.get(id);
    if (counter === undefined) {
      counter = new Counter(id);
      this.#counterOf.set(id, counter);
    }
    return counter;
  }

  /** Concurrent requests are divided evenly between gateways; every gateway may run one. */
  runningLimit(limit: number): number {
    return this.#shares?.ownPart(limit) ?? limit;
  }

  /** Counts a request against the rules for every model, or throws 429. A promise only when the store has to be asked. */
  takeRequest({ rules }: Caller): Promise<void> | undefined {
    if (rules.length === 0) return undefined;
    const { atStart } = this.#planOf(rules);
    if (atStart.length === 0) return undefined;
    const taken = this.#take(atStart, oneRequest);
    return isMissing(taken) ? this.#takeWithShares(atStart, oneRequest, taken).then(() => {}) : undefined;
  }

  /**
   * Reserves what a call may use, or throws 429. Null when no limit applies. `request` stands for the request: its later calls count it no
   * second time.
   */
  reserve(
    { rules }: Caller,
    model: string,
    estimateTokens: () => number,
    request: object,
  ): RateReservation | Promise<RateReservation> | null {
    if (rules.length === 0) return null;
    const plan = this.#planOf(rules);
    if (plan.atCall.length === 0 && plan.running.length === 0) return null;
    const applies = ({ rule }: { readonly rule: LimitRule }) => appliesTo(rule, model);
    const checks = plan.hasModels ? plan.atCall.filter(applies) : plan.atCall;
    const running = plan.hasModels ? plan.running.filter(applies) : plan.running;
    if (checks.length === 0 && running.length === 0) return null;
    const record = plan.hasModels ? this.#recordOf(request) : null;
    for (const check of checks) if (check.rule.model !== null) record?.applied.add(check);
    const isCounted = ({ kind, counter }: RateCheck) => kind !== "tokens" && record?.counted.has(counter) === true;
    const uncounted = plan.hasModels ? checks.filter((check) => !isCounted(check)) : checks;
    const tokens = uncounted.some(({ kind }) => kind === "tokens") ? Math.ceil(estimateTokens()) : 0;
    // An amount above the limit could never be used; it waits for an empty window.
    const amountOf = ({ kind, limit }: RateCheck) => (kind === "tokens" ? Math.min(tokens, limit) : 1);
    const endRunning = this.#beginCalls(running);
    const finish = (taken: readonly Taken[]) => {
      for (const { check } of taken) if (check.kind !== "tokens") record?.counted.add(check.counter);
      return this.#toReservation(taken, endRunning, record);
    };
    try {
      const taken = this.#take(uncounted, amountOf);
      if (!isMissing(taken)) return finish(taken);
      return this.#takeWithShares(uncounted, amountOf, taken).then(finish, (error) => {
        endRunning();
        throw error;
      });
    } catch (error) {
      endRunning();
      throw error;
    }
  }

  /** Adds `x-ratelimit-*` for the tightest limit of the request. */
  addHeaders(headers: Record<string, string>, { rules }: Caller, request: object): void {
    if (rules.length === 0) return;
    const { shownRequests, shownTokens, hasModels } = this.#planOf(rules);
    const applied = hasModels ? [...(this.#requests.get(request)?.applied ?? [])] : [];
    if (applied.length === 0) {
      this.#addHeadersOf(headers, "requests", shownRequests);
      this.#addHeadersOf(headers, "tokens", shownTokens);
      return;
    }
    const isTokens = ({ kind }: RateCheck) => kind === "tokens";
    this.#addHeadersOf(headers, "requests", [...shownRequests, ...applied.filter((check) => !isTokens(check))]);
    this.#addHeadersOf(headers, "tokens", [...shownTokens, ...applied.filter(isTokens)]);
  }

  #addHeadersOf(headers: Record<string, string>, what: "requests" | "tokens", checks: readonly RateCheck[]): void {
    let tightest: RateCheck | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const check of checks) {
      const remaining = Math.max(0, check.limit - this.counters.sum(check.counter, check.kind));
      if (remaining >= least) continue;
      tightest = check;
      least = remaining;
    }
    if (tightest === null) return;
    const window = this.counters.read(tightest.counter, tightest.kind);
    headers[`x-ratelimit-limit-${what}`] = String(tightest.limit);
    headers[`x-ratelimit-remaining-${what}`] = String(least);
    headers[`x-ratelimit-reset-${what}`] = formatDuration(resetMs(window, tightest.kind));
  }

  /** The limits of a rule, and what this gateway has left of them. */
  describe(rule: LimitRule): RateState[] {
    const windows = this.#toChecks(rule).map(({ counter, kind, limit }) => {
      const state = this.counters.read(counter, kind);
      const remaining = Math.max(0, limit - sumOf(state));
      return { name: units[kind].replaceAll(" ", "_"), limit, remaining, resetMs: resetMs(state, kind) };
    });
    const running = toRunningChecks(rule, this).map(({ counter, limit }) => {
      const remaining = Math.max(0, limit - this.counters.countRunning(counter, 0));
      return { name: "concurrent_requests", limit, remaining, resetMs: 0 };
    });
    return [...windows, ...running];
  }

  /** Takes from all windows or from none. Throws 429, or says which share is used up. */
  #take(checks: readonly RateCheck[], amountOf: (check: RateCheck) => number): readonly Taken[] | Missing {
    const taken: Taken[] = [];
    for (const check of checks) {
      const amount = amountOf(check);
      const outcome = this.#takeOne(check, amount);
      if (outcome === "share") {
        this.#giveBack(taken);
        return { check, amount };
      }
      if ("waitMs" in outcome) {
        this.#giveBack(taken);
        throw exceeded(check, outcome.waitMs);
      }
      taken.push(outcome);
    }
    return taken;
  }

  #takeOne(check: RateCheck, amount: number): Taken | { readonly waitMs: number } | "share" {
    const { counter, kind, limit } = check;
    const shares = this.#shares;
    if (shares?.isLeased(kind)) {
      const outcome = this.counters.take(counter, kind, { limit, amount, isShared: true });
      if (outcome === "share" && !shares.mustDivide) return "share";
      if (outcome !== "share") return "step" in outcome ? { check, step: outcome.step, amount } : outcome;
    }
    const part = shares?.ownPart(limit) ?? limit;
    const own = Math.min(amount, part);
    const outcome = this.counters.take(counter, kind, { limit: part, amount: own, isShared: false });
    if (outcome === "share") throw new TypeError("a part that is not shared needs no lease");
    return "step" in outcome ? { check, step: outcome.step, amount: own } : outcome;
  }

  async #takeWithShares(
    checks: readonly RateCheck[],
    amountOf: (check: RateCheck) => number,
    first: Missing,
  ): Promise<readonly Taken[]> {
    let missing = first;
    for (;;) {
      const { check, amount } = missing;
      const waitMs = (await this.#shares?.lease(check, amount)) ?? 0;
      if (waitMs > 0) throw exceeded(check, waitMs);
      const taken = this.#take(checks, amountOf);
      if (!isMissing(taken)) return taken;
      missing = taken;
    }
  }

  #giveBack(taken: readonly Taken[]): void {
    for (const { check, step, amount } of taken) this.counters.giveBack(check.counter, check.kind, { step, amount });
  }

  #beginCalls(checks: readonly RunningCheck[]): () => void {
    if (checks.length === 0) return () => {};
    const places = checks.map(({ counter }) => this.counters.placeOf(counter));
    for (const [index, check] of checks.entries()) {
      const place = places[index];
      if (place === undefined || this.counters.begin(place, 0, this.runningLimit(check.limit))) continue;
      for (const begun of places.slice(0, index)) this.counters.end(begun, 0);
      throw tooManyRunning(check.rule, check.limit);
    }
    return () => {
      for (const place of places) this.counters.end(place, 0);
    };
  }

  #toReservation(taken: readonly Taken[], endRunning: () => void, record: RequestRecord | null): RateReservation {
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
        for (const { check } of taken) record?.counted.delete(check.counter);
      },
    };
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
      running: rules.filter(({ model }) => model !== null).flatMap((rule) => toRunningChecks(rule, this)),
      hasModels: rules.some(({ model, rateLimit }) => model !== null && rateLimit !== null),
      shownRequests: checks.filter(isAtStart),
      shownTokens: checks.filter(({ rule, kind }) => rule.model === null && kind === "tokens"),
    };
  }

  #toChecks(rule: LimitRule): RateCheck[] {
    const { rateLimit } = rule;
    if (rateLimit === null) return [];
    const counter = this.counterOf(rule.id);
    const limits: readonly (readonly [WindowKind, number | null])[] = [
      ["perSecond", rateLimit.requests_per_second],
      ["perMinute", rateLimit.requests_per_minute],
      ["tokens", rateLimit.tokens_per_minute],
    ];
    return limits.flatMap(([kind, limit]) => (limit === null ? [] : [{ rule, counter, kind, limit }]));
  }
}

/** The limit of a rule for running requests, if it has one. */
export function toRunningChecks(rule: LimitRule, rates: Pick<RateLimits, "counterOf">): RunningCheck[] {
  const limit = rule.rateLimit?.concurrent_requests ?? null;
  return limit === null ? [] : [{ rule, counter: rates.counterOf(rule.id), limit }];
}

export function tooManyRunning(rule: LimitRule, limit: number): GatewayError {
  return new GatewayError(
    "rate_limit_exceeded",
    `${nameOf(rule)} may have ${limit} concurrent requests${modelsOf(rule)}. Wait until some of them have ended.`,
    { retryAfter: 1, isOwnLimit: true },
  );
}

const oneRequest = () => 1;

function isMissing(taken: readonly Taken[] | Missing): taken is Missing {
  return !Array.isArray(taken);
}

const units: Readonly<Record<WindowKind, string>> = {
  perSecond: "requests per second",
  perMinute: "requests per minute",
  tokens: "tokens per minute",
};

function exceeded({ rule, kind, limit }: RateCheck, waitMs: number): GatewayError {
  const retryAfter = Math.max(1, Math.ceil(waitMs / 1_000));
  const verb = kind === "tokens" ? "use" : "send";
  const message = `${nameOf(rule)} may ${verb} ${limit} ${units[kind]}${modelsOf(rule)}. Retry in ${retryAfter} s.`;
  return new GatewayError("rate_limit_exceeded", message, { retryAfter, isOwnLimit: true });
}

function nameOf({ holder, holderName }: LimitRule): string {
  return `The ${holder} '${holderName}'`;
}

function modelsOf({ model }: LimitRule): string {
  return model === null ? "" : ` for models that match '${model}'`;
}

/** As OpenAI writes it: `12ms`, `1s`, `6m0s`, `1m30.5s`. */
export function formatDuration(milliseconds: number): string {
  const whole = Math.ceil(milliseconds);
  if (whole < 1_000) return `${whole}ms`;
  const minutes = Math.floor(whole / 60_000);
  const seconds = (whole - minutes * 60_000) / 1_000;
  return minutes === 0 ? `${seconds}s` : `${minutes}m${seconds}s`;
}
