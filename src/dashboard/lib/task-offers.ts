// The offers for a task: which one to try first, and their prices.

import type { Subfeature, TaskModel } from "../api/types.ts";
import { formatCompact, formatUsd } from "./format.ts";

type Pricing = TaskModel["pricing"];

/** An engine of the gateway itself, which needs no account. */
export function isLocal({ provider }: Pick<TaskModel, "provider">): boolean {
  return provider === "local";
}

export function isSandbox({ provider }: Pick<TaskModel, "provider">): boolean {
  return provider === "sandbox";
}

/** The offer that the address names; without one, the first that can be called, engines of the gateway before others, and the sandbox last. */
export function pickOffer(offers: readonly TaskModel[], task: string, named: string): string {
  if (named.startsWith(`${task}/`)) return named;
  const ready = offers.filter(({ configured }) => configured);
  const picked = ready.find(isLocal) ?? ready.find((one) => !isSandbox(one)) ?? ready[0];
  return picked?.model ?? `${task}/sandbox`;
}

/** `$1.50 / 1,000 pages`. */
export function formatTaskPrice(pricing: Pricing): string {
  if (pricing === null) return "price not known";
  const { price, output_price, price_unit_quantity: quantity, price_unit_type: unit } = pricing;
  if (price === 0 && (output_price ?? 0) === 0) return "free";
  const per = quantity === 1 ? unit : `${formatCompact(quantity)} ${unit}s`;
  if (output_price === undefined) return `${formatUsd(price)} / ${per}`;
  return `${formatUsd(price)} in, ${formatUsd(output_price)} out / ${per}`;
}

/** The lowest price of those that can be called now, or of all. */
export function formatLowestPrice({ models }: Pick<Subfeature, "models">): string {
  const real = models.filter((one) => !isSandbox(one));
  const ready = real.filter(({ configured }) => configured);
  const priced = (ready.length > 0 ? ready : real)
    .flatMap(({ pricing }) => (pricing === null ? [] : [pricing]))
    // What is free after an account was set up is not the price that one wants to know.
    .filter(({ price }) => ready.length > 0 || price > 0);
  const [lowest, ...others] = priced.toSorted((one, other) => unitPrice(one) - unitPrice(other));
  if (lowest === undefined) return "not known";
  return others.length > 0 && unitPrice(lowest) > 0 ? `from ${formatTaskPrice(lowest)}` : formatTaskPrice(lowest);
}

function unitPrice({ price, price_unit_quantity }: NonNullable<Pricing>): number {
  return price / (price_unit_quantity || 1);
}
