// The cost of a task by units: the list price of the offer, applied to the units that the engine reports.

import type { Task } from "../../contract/tasks.ts";
import type { TaskResult } from "../../engines/engine.ts";
import { type Charge, completeCharge, toKnownCharge, toUnknownCharge, type UnitsBasis } from "../../lib/charge.ts";
import { picoPerUsd, toUsd } from "../../lib/money.ts";
import { rows } from "../../providers/index.ts";
import type { CostExplanation } from "../../usage/explain-cost.ts";

/** When the list prices of tasks.json were read. */
const listVersion = "tasks-2026-09";

export function chargeForTask(task: Task, provider: string, model: string | null, answer: TaskResult): Charge {
  if (answer.charge !== undefined) return completeCharge(answer.charge);
  const basis: UnitsBasis = { units: answer.units };
  const { pico, reason } = explainUnits(task, provider, model, basis);
  return pico === null ? toUnknownCharge(reason ?? "price_unknown", basis) : toKnownCharge(pico, listVersion, basis);
}

/** How the cost of a task by units is computed. */
export function explainUnits(
  task: Task,
  provider: string,
  model: string | null,
  { units }: UnitsBasis,
): CostExplanation {
  const unknown = { pico: null, detail: null, version: null, source: null, parts: [] };
  const price = findListPrice(task, provider, model);
  if (price === null) return { ...unknown, reason: "price_unknown" };
  const count = countOf(units, price.unit);
  if (count === null) return { ...unknown, reason: "usage_unknown", detail: price.unit };
  const pico = Math.round((Math.round(price.price * picoPerUsd) * count) / price.quantity);
  if (!Number.isSafeInteger(pico)) return { ...unknown, reason: "out_of_range" };
  const rate = price.price / price.quantity;
  const part = { kind: price.unit, model: null, count, rate, amount: toUsd(pico), pico };
  return { pico, reason: null, detail: null, version: listVersion, source: null, parts: [part] };
}

/**
 * The price of the model, or else of the provider. A model that the provider does not list may cost anything, so it is not charged at the
 * price of another one. The listing shows the same price.
 */
export function findListPrice({ name: task, knownOffers }: Task, provider: string, model: string | null) {
  const bare = `${task}/${provider}`;
  const priceOf = (offer: string) => knownOffers.find((known) => known.model === offer)?.listPrice ?? null;
  if (model === null) return priceOf(bare);
  return priceOf(`${bare}/${model}`) ?? (isListed(task, provider, model) ? priceOf(bare) : null);
}

function isListed(task: string, provider: string, model: string): boolean {
  const offered = rows.find(({ name }) => name === provider)?.tasks?.find((one) => one.task === task);
  return offered?.models?.includes(model) ?? false;
}

function countOf(units: UnitsBasis["units"], unit: string): number | null {
  const counts: Readonly<Record<string, number | undefined>> = units;
  const reported = counts[unit];
  if (reported !== undefined) return reported;
  if (unit === "minute" && counts["second"] !== undefined) return counts["second"] / 60;
  return unit === "request" || unit === "file" ? 1 : null;
}
