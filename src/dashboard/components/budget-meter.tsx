// What was spent of a budget, or that the holder has no budget.

import { Text } from "@mantine/core";
import type { Budget } from "../api/types.ts";
import { formatUsd } from "../lib/format.ts";
import { Meter } from "./meter.tsx";

const periodNames: Readonly<Record<string, string>> = { daily: "day", weekly: "week", monthly: "month", none: "total" };

interface BudgetMeterProps {
  readonly name: string;
  /** Of the list of budgets; undefined while it is loading or when there is no budget. */
  readonly budget: Budget | undefined;
}

export function BudgetMeter({ name, budget }: BudgetMeterProps) {
  if (budget === undefined)
    return (
      <Text size="xs" c="dimmed">
        no budget
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
