// The state of a budget in answers.

import type { BudgetState } from "../../access/budget-states.ts";
import type { Budget } from "../../contract/limits.ts";
import { toExactNumber } from "../../lib/exact-json.ts";
import { formatUsd } from "../../lib/money.ts";

export function toBudgetJson({ period, time_zone }: Budget, { amountPico, spentPico, endsAt }: BudgetState) {
  const left = amountPico - spentPico;
  return {
    amount: toUsdJson(amountPico),
    period,
    time_zone,
    spent: toUsdJson(spentPico),
    left: toUsdJson(left < 0n ? 0n : left),
    resets_at: endsAt === null ? null : new Date(endsAt).toISOString(),
  };
}

function toUsdJson(pico: bigint): object {
  return toExactNumber(formatUsd(pico));
}
