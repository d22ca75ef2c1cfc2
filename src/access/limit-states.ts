// How much of the limits of a caller is left, for callers that ask.

import type { LimitRule } from "./limit-rules.ts";

/** What a budget allows in the current period, and what has been spent of it. */
export interface BudgetState {
  readonly amountPico: bigint;
  /** Null: not known at the moment. */
  readonly spentPico: bigint | null;
  /** Epoch milliseconds. */
  readonly startsAt: number;
  /** When the next period begins; null: never. */
  readonly endsAt: number | null;
}

export interface RateState {
  /** The limit, such as `requests_per_minute`. */
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

export interface LimitStates {
  /** By the id of the rule. */
  readBudgets(rules: readonly LimitRule[]): Promise<ReadonlyMap<string, BudgetState>>;
  /** Null: the rule has no rate limit, or its state is not known. */
  readRates(rule: LimitRule): readonly RateState[] | null;
}

export const unknownLimitStates: LimitStates = {
  readBudgets: async () => new Map(),
  readRates: () => null,
};
