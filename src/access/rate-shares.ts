// Rate limits of several gateways on one database. Each gateway leases parts of a limit from the store before it uses them, so all gateways
// together never use more than the limit. A lease is valid for one step of the window, which takes ten seconds.

import type { Log } from "../log.ts";
import type { Storage } from "../storage/storage.ts";
import { deleteInBatches } from "../storage/sweeper.ts";
import type { Counter } from "./counter-table.ts";
import type { SharedCounters } from "./shared-counters.ts";
import { stepMs, type WindowKind, waitFor } from "./window-cells.ts";

/** One limit of one rule. */
export interface SharedLimit {
  readonly counter: Counter;
  readonly kind: WindowKind;
  readonly limit: number;
}

export interface GatewayIdentity {
  readonly id: string;
  /** It takes requests, and not only jobs. */
  readonly serves: boolean;
}

export interface RateSharesOptions {
  readonly store: Storage["rateShares"];
  readonly counters: SharedCounters;
  readonly gateway: GatewayIdentity;
  readonly log: Log;
  /** A clock that is never set back. */
  readonly now?: () => number;
}

/** How gateways notice each other. */
const presence = {
  noteEveryMs: 2_000,
  /** A gateway that was not noted for this long has ended. */
  liveMs: 8_000,
  /** Other gateways notice a new one within `noteEveryMs`; until then they use whole limits. */
  joinMs: 3_000,
};
const sweepEveryMs = 60_000;
// After a refusal, the store is not asked again for this long.
const refusedMs = 250;

interface Held {
  readonly limit: SharedLimit;
  readonly step: number;
}

export class RateShares {
  readonly #options: RateSharesOptions;
  readonly #leasing = new Map<string, Promise<number>>();
  readonly #held = new Map<string, Held>();
  readonly #refused = new Map<string, { readonly amount: number; readonly until: number; readonly retryAt: number }>();
  readonly #now: () => number;
  readonly #startedAt: number;
  #noting: ReturnType<typeof setInterval> | null = null;
  #gateways = 1;
  #all = 1;
  #isDown = false;
  #sweptAt: number;

  constructor(options: RateSharesOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#startedAt = this.#now();
    this.#sweptAt = this.#startedAt;
  }

  /** Resolves when the other gateways are known. Called again, it notes the gateway before its next turn. */
  async start(): Promise<void> {
    await this.#note();
    this.#noting ??= setInterval(() => void this.#note(), presence.noteEveryMs);
    this.#noting.unref();
  }

  close(): void {
    if (this.#noting !== null) clearInterval(this.#noting);
  }

  /** How many gateways take requests. */
  get gateways(): number {
    return this.#gateways;
  }

  /** Whether only what the store granted may be used of a limit. */
  isLeased(kind: WindowKind): boolean {
    return this.#all > 1 && kind !== "perSecond";
  }

  /**
   * The limit of this gateway without a lease: for seconds, which are too short to lease, and for the other limits while the store does not
   * answer, or the other gateways do not know this one yet.
   */
  ownPart(limit: number): number {
    return Math.max(1, Math.floor(limit / this.#gateways));
  }

  get mustDivide(): boolean {
    return this.#isDown || this.#now() - this.#startedAt < presence.joinMs;
  }

  /** Resolves with 0 when there is more to use now, else with the milliseconds until there is. */
  lease(limit: SharedLimit, amount: number): Promise<number> {
    const key = keyOf(limit);
    const now = this.#now();
    const refused = this.#refused.get(key);
    if (refused !== undefined && now < refused.until && amount >= refused.amount)
      return Promise.resolve(Math.max(1, refused.retryAt - now));
    const running = this.#leasing.get(key);
    // It may have leased enough for this request too; if not, the caller asks again.
    if (running !== undefined) return running.then(() => 0);
    const leasing = this.#ask(limit, amount).finally(() => this.#leasing.delete(key));
    this.#leasing.set(key, leasing);
    return leasing;
  }

  async #ask(limit: SharedLimit, amount: number): Promise<number> {
    const { store, counters, gateway } = this.#options;
    const { counter, kind } = limit;
    const window = counters.read(counter, kind);
    const { step, elapsed, counts } = window;
    const request = {
      limitId: keyOf(limit),
      limit: limit.limit,
      gatewayId: gateway.id,
      gateways: this.#all,
      stepStart: step * stepMs(kind),
      stepMs: stepMs(kind),
      elapsed,
      used: counts,
      wanted: amount,
    };
    try {
      const { granted, counted, isEnough } = await store.lease(request);
      counters.grant(counter, kind, { step, amount: granted });
      this.#held.set(request.limitId, { limit, step });
      if (isEnough) return 0;
      const waitMs = waitFor({ step, elapsed, counts: counted }, { kind, limit: limit.limit, amount });
      const now = this.#now();
      this.#refused.set(request.limitId, { amount, until: now + refusedMs, retryAt: now + waitMs });
      return Math.max(1, waitMs);
    } catch (error) {
      this.#setDown(error);
      return 0;
    }
  }

  async #note(): Promise<void> {
    const { store, gateway } = this.#options;
    try {
      const { all, serving } = await store.noteGateway(gateway.id, gateway.serves, Date.now(), presence.liveMs);
      this.#all = Math.max(1, all);
      this.#gateways = Math.max(1, serving);
      this.#isDown = false;
      await this.#reportUse();
      if (this.#now() - this.#sweptAt < sweepEveryMs) return;
      this.#sweptAt = this.#now();
      this.#refused.clear();
      await deleteInBatches((limit) => store.deleteExpired(Date.now(), limit));
      await store.deleteGateways(Date.now() - 10 * presence.liveMs);
    } catch (error) {
      this.#setDown(error);
    }
  }

  /** What was leased in a step that is over, and not used, is returned. */
  async #reportUse(): Promise<void> {
    const { store, counters, gateway } = this.#options;
    for (const [limitId, { limit, step: leased }] of this.#held) {
      const { counter, kind } = limit;
      const { step, counts: used } = counters.read(counter, kind);
      if (step === leased) continue;
      this.#held.delete(limitId);
      await store.reportUse({
        limitId,
        gatewayId: gateway.id,
        stepStart: step * stepMs(kind),
        stepMs: stepMs(kind),
        used,
      });
    }
  }

  #setDown(error: unknown): void {
    if (!this.#isDown)
      this.#options.log.warn("the store does not answer: each gateway uses its part of the rate limits", { error });
    this.#isDown = true;
  }
}

function keyOf({ counter, kind }: SharedLimit): string {
  return `${counter.id} ${kind}`;
}
