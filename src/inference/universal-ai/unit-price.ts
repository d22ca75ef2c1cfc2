// The cost of a task by units: the list price of the offer, applied to the units that the engine reports.

import type { Task } from "../../contract/tasks.ts";
import type { TaskResult } from "../../engines/engine.ts";
import { picoPerUsd, toUsd } from "../../lib/money.ts";

export interface TaskCharge {
  readonly cost: number | null;
  readonly reason: string | null;
}

export function chargeForTask(task: Task, provider: string, model: string | null, answer: TaskResult): TaskCharge {
  if (answer.charge !== undefined) return answer.charge;
  const price = findListPrice(task, provider, model);
  if (price === null) return { cost: null, reason: "price_unknown" };
  const count = countOf(answer.units, price.unit);
  if (count === null) return { cost: null, reason: "usage_unknown" };
  const amount = Math.round((Math.round(price.price * picoPerUsd) * count) / price.quantity);
  return Number.isSafeInteger(amount) ? { cost: toUsd(amount), reason: null } : { cost: null, reason: "out_of_range" };
}

/** The price of the model, or else of the provider. The listing shows the same price. */
export function findListPrice({ name: task, knownOffers }: Task, provider: string, model: string | null) {
  const bare = `${task}/${provider}`;
  const priceOf = (offer: string) => knownOffers.find((known) => known.model === offer)?.listPrice ?? null;
  return (model === null ? null : priceOf(`${bare}/${model}`)) ?? priceOf(bare);
}

function countOf(units: TaskResult["units"], unit: string): number | null {
  const counts: Readonly<Record<string, number | undefined>> = units;
  const reported = counts[unit];
  if (reported !== undefined) return reported;
  if (unit === "minute" && counts["second"] !== undefined) return counts["second"] / 60;
  return unit === "request" || unit === "file" ? 1 : null;
}
