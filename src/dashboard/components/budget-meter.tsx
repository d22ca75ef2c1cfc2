// What was spent of a budget, or that the holder has no budget.

import { Text } from "@mantine/core";
import type { Budget } from "../api/types.ts";
import { formatUsd, noValue } from "../lib/format.ts";
import { Meter } from "./meter.tsx";

const periodNames: Readonly<Record<string, string>> = { daily: "day", weekly: "week", monthly: "month", none: "total" };

interface BudgetMeterProps {
  readonly name: string;
  readonly hasBudget: boolean;
  /** Of the list of budgets. Undefined if it was not read, or does not have this one: it has no revoked keys, and its length is limited. */
  readonly state: Budget | undefined;
}

export function BudgetMeter({ name, hasBudget, state: budget }: BudgetMeterProps) {
  if (budget === undefined || !hasBudget)
    return (
      <Text size="xs" c="dimmed">
        {hasBudget ? noValue : "no budget"}
      </Text>
    );
  return (
    <Meter
      label={`Budget of ${name}`}
      used={budget.spent}
      of={budget.amount}
      left={formatUsd(budget.spent)}
      right={`${formatUsd(budget.amount)} / ${periodNames[budget.period] ?? budget.period}`}
    />
  );
}
