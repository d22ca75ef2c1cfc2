// How much of budgets is spent, for `/v3/me` and `/v3/manage/budgets`.

import type { BudgetStore } from "../storage/stores.ts";
import { toAccountId } from "./budget-account.ts";
import { findLimit, findPeriod } from "./budget-periods.ts";
import type { LimitRule } from "./limit-rules.ts";

/** What a budget allows in the current period, and what the ledger has charged to it. */
export interface BudgetState {
  readonly amountPico: bigint;
  readonly spentPico: bigint;
  /** Epoch milliseconds. */
  readonly startsAt: number;
  /** When the next period begins; null: never. */
  readonly endsAt: number | null;
}

/** By the id of the rule. Rules without a budget are left out. */
export async function readBudgetStates(
  store: Pick<BudgetStore, "balances">,
  rules: readonly LimitRule[],
): Promise<ReadonlyMap<string, BudgetState>> {
  const now = Date.now();
  const accounts = rules.flatMap((rule) => {
    if (rule.budget === null) return [];
    const { start, end } = findPeriod(rule.budget, now);
    const { pico } = findLimit(rule.budget, now);
    return [{ rule, id: toAccountId(rule, { periodStart: start }), start, end, pico }];
  });
  if (accounts.length === 0) return new Map();
  const balances = await store.balances(accounts.map(({ id }) => id));
  const spent = new Map(balances.map(({ id, spentPico }) => [id, spentPico]));
  return new Map(
    accounts.map(({ rule, id, start, end, pico }) => [
      rule.id,
      {
        amountPico: pico,
        spentPico: spent.get(id) ?? 0n,
        startsAt: start,
        endsAt: Number.isFinite(end) ? end : null,
      },
    ]),
  );
}
