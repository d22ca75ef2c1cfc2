// The limits that a call passes right before it is sent to a provider: tokens per minute, limits for certain models, and budgets. What the call
// may use at most is reserved before it is sent, and corrected when its usage is known.

import type { Caller } from "./caller.ts";

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
   * be asked.
   */
  reserve(caller: Caller, model: string, demand: () => Demand): Reservation | Promise<Reservation>;
}

const nothing: Settled = { countedPico: 0, accounts: [] };

/** The reservation of a call that no rule limits. */
export const noReservation: Reservation = { settle: () => nothing, release() {} };

export function createCallLimits(): CallLimits {
  return { reserve: () => noReservation };
}
