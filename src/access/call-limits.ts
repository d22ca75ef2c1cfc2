// The limits that a call passes right before it is sent to a provider: tokens per minute, limits for certain models, and budgets. What the call
// may use at most is reserved before it is sent, and corrected when its usage is known.

import { GatewayError } from "../errors.ts";
import { once } from "../lib/once.ts";
import type { BudgetReservation, Budgets } from "./budgets.ts";
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
  /** The call began work that continues at the provider. A later call is charged for it. */
  postpone(): void;
}

export interface CallLimits {
  /**
   * `model`: `<provider>/<model>`, or the name of a task with provider and model. Throws 402 or 429. Returns a promise only when the store has to
   * be asked. `request`: an object that stands for the request, which is counted once, however many calls it makes.
   */
  reserve(caller: Caller, model: string, demand: () => Demand, request: object): Reservation | Promise<Reservation>;
  /** For a call that continues work which an earlier call began: its cost is counted, and nothing is refused, because the work is paid for. */
  charge(caller: Caller, model: string): Reservation;
}

/** The part that a job needs when it is submitted. */
export interface BudgetCheck {
  /** Throws 402 if the budgets would refuse such a call now. */
  checkBudgets(caller: Caller, model: string, demand: () => Demand): Promise<void>;
}

const nothing: Settled = { countedPico: 0, accounts: [] };
const nothingWanted: Demand = { inputTokens: 0, outputTokens: 0, pico: 0 };

/** The reservation of a call that no rule limits. */
export const noReservation: Reservation = { settle: () => nothing, release() {}, postpone() {} };

export interface CallLimitsOptions {
  /** Null: rate limits are not enforced, in tests. */
  readonly rates?: RateLimits | null;
  /** Null: budgets are not enforced, in tests. */
  readonly budgets?: Budgets | null;
  /** What a call without a known price counts; null: such a call is refused if it has a budget. */
  readonly fallbackPrice?: FallbackPrice | null;
}

/** Pico-dollars. */
export interface FallbackPrice {
  readonly perToken: number;
  readonly perCall: number;
}

export function createCallLimits(options: CallLimitsOptions = {}): CallLimits & BudgetCheck {
  const { rates = null, budgets = null, fallbackPrice = null } = options;

  function reserveBudgets(
    caller: Caller,
    model: string,
    demand: () => Demand,
  ): BudgetReservation | Promise<BudgetReservation> | null {
    if (budgets === null) return null;
    return budgets.reserve(caller.rules, model, () => {
      const known = demand();
      if (known.pico !== null) return known.pico;
      if (fallbackPrice === null) throw unknownPrice(model);
      return countFallback(fallbackPrice, sumTokens(known));
    });
  }

  function toReservation(
    rate: RateReservation | null,
    budget: BudgetReservation | null,
    demand: () => Demand,
  ): Reservation {
    if (rate === null && budget === null) return noReservation;
    return {
      settle({ tokens, pico }) {
        rate?.settle(tokens);
        if (budget === null) return nothing;
        const countedPico = pico ?? countUnknown(budget, tokens, demand);
        budget.settle(countedPico);
        return { countedPico, accounts: budget.accounts };
      },
      release() {
        rate?.release();
        budget?.release();
      },
      postpone() {
        rate?.settle(0);
        budget?.release();
      },
    };
  }

  /** The cost of a call that ended without one: by the fallback price, or what was reserved. */
  function countUnknown(budget: BudgetReservation, tokens: number | null, demand: () => Demand): number {
    return fallbackPrice === null ? budget.pico : countFallback(fallbackPrice, tokens ?? sumTokens(demand()));
  }

  return {
    async checkBudgets(caller, model, demand) {
      const reserved = await reserveBudgets(caller, model, once(demand));
      reserved?.release();
    },
    charge(caller, model) {
      const budget = budgets?.charge(caller.rules, model) ?? null;
      return toReservation(null, budget, () => nothingWanted);
    },
    reserve(caller, model, computeDemand, request) {
      if (caller.rules.length === 0) return noReservation;
      const demand = once(computeDemand);

      const addBudgets = (rate: RateReservation | null): Reservation | Promise<Reservation> => {
        const giveUp = (error: unknown): never => {
          rate?.release();
          throw error;
        };
        try {
          const budget = reserveBudgets(caller, model, demand);
          if (!(budget instanceof Promise)) return toReservation(rate, budget, demand);
          return budget.then((reserved) => toReservation(rate, reserved, demand), giveUp);
        } catch (error) {
          return giveUp(error);
        }
      };

      const rate =
        rates === null ? null : rates.reserve(caller, { model, estimateTokens: () => sumTokens(demand()), request });
      return rate instanceof Promise ? rate.then(addBudgets) : addBudgets(rate);
    },
  };
}

function sumTokens({ inputTokens, outputTokens }: Demand): number {
  return inputTokens + outputTokens;
}

function countFallback({ perToken, perCall }: FallbackPrice, tokens: number): number {
  return Math.round(perToken * tokens) + perCall;
}

function unknownPrice(model: string): GatewayError {
  return new GatewayError(
    "price_unknown",
    `The price of '${model}' is unknown, so the call cannot be counted against a budget. The operator can state the price in switchyard.yaml (prices), or set budget_unknown_price.`,
    { param: "model" },
  );
}
