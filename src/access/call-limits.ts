// The limits that a call passes right before it is sent to a provider: tokens per minute, limits for certain models, and budgets. What the call
// may use at most is reserved before it is sent, and corrected when its usage is known.

import type { Caller } from "./caller.ts";
import type { RateLimits, RateReservation } from "./rate-limits.ts";

/** What a call may use at most, as far as that is known before it is sent. */
export interface Demand {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Pico-dollars; null when the price is unknown. */
  readonly pico: number | null;
}

/** What a call used; null when it is unknown. */
export interface ActualUse {
  readonly tokens: number | null;
  readonly pico: number | null;
}

/** What was counted against budgets. */
export interface Settled {
  readonly countedPico: number;
  /** The accounts of the budgets that were charged. */
  readonly accounts: readonly string[];
}

/** One of its methods is called exactly once. */
export interface Reservation {
  /** The call has ended: replaces the estimate by what was used. */
  settle(actual: ActualUse): Settled;
  /** The call was not sent. */
  release(): void;
}

export interface CallLimits {
  /**
   * `model`: `<provider>/<model>`, or the name of a task with provider and model. Throws 402 or 429. Returns a promise only when the store has to
   * be asked. `request`: an object that stands for the request, which is counted once, however many calls it makes.
   */
  reserve(caller: Caller, model: string, demand: () => Demand, request: object): Reservation | Promise<Reservation>;
}

const nothing: Settled = { countedPico: 0, accounts: [] };

/** The reservation of a call that no rule limits. */
export const noReservation: Reservation = { settle: () => nothing, release() {} };

/** `rates`: null for tests without rate limits. */
export function createCallLimits(rates: RateLimits | null = null): CallLimits {
  return {
    reserve(caller, model, demand, request) {
      if (caller.rules.length === 0 || rates === null) return noReservation;
      const reserved = rates.reserve(caller, model, () => sumTokens(demand()), request);
      if (reserved === null) return noReservation;
      return reserved instanceof Promise ? reserved.then(toReservation) : toReservation(reserved);
    },
  };
}

function sumTokens({ inputTokens, outputTokens }: Demand): number {
  return inputTokens + outputTokens;
}

function toReservation(rates: RateReservation): Reservation {
  return {
    settle({ tokens }) {
      rates.settle(tokens);
      return nothing;
    },
    release: () => rates.release(),
  };
}
