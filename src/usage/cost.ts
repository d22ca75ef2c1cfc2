// What one answer cost: exact, in pico-dollars. Pure: usage and price in, amount or the reason why there is none out.

import type { Price, Rates } from "../catalogue/prices.ts";
import { picoPerUsd } from "../lib/money.ts";
import { countInput, readBilledParts, readWebSearches, type TokenParts } from "./tokens.ts";

export { toUsd } from "../lib/money.ts";

export type Cost = KnownCost | UnknownCost;

export interface KnownCost {
  /** Pico-dollars: a safe integer. */
  readonly amount: number;
  /** Which prices were used. */
  readonly version: string;
  /** The page that the price comes from; `vendor` when the vendor stated the cost itself; null when free or set by the operator. */
  readonly source: string | null;
}

export interface UnknownCost {
  readonly amount: null;
  readonly reason: UnknownReason;
  /** The part that has tokens and no price, or the fee that is not known. */
  readonly detail?: string;
}

/**
 * `usage_unknown`: the vendor told no usage. `price_unknown`: the model is not in the catalogue. `tier_unknown`: it is, but
 * not at this tier of service. `part_unknown`: one kind of token has no price. `fee_unknown`: the vendor bills something that
 * usage does not tell. `out_of_range`: more than any answer can cost, so somebody miscounted.
 */
export type UnknownReason =
  | "usage_unknown"
  | "price_unknown"
  | "tier_unknown"
  | "part_unknown"
  | "fee_unknown"
  | "out_of_range";

export interface CostOptions {
  /** As `readServiceTier` gives it. */
  readonly tier?: string;
  readonly at: Date;
  readonly webSearches?: number;
}

const partNames: readonly (keyof TokenParts & keyof Rates)[] = [
  "input",
  "cacheRead",
  "output",
  "reasoning",
  "cacheWrite5m",
  "cacheWrite1h",
  "imageInput",
  "audioInput",
  "videoInput",
  "cacheReadAudio",
  "cacheReadImage",
  "audioOutput",
  "imageOutput",
];

export function costOf(
  parts: TokenParts,
  price: Price,
  { tier = standardTier, at, webSearches = 0 }: CostOptions,
): Cost {
  if (price.fee !== null) return { amount: null, reason: "fee_unknown", detail: price.fee };
  const rates = price.ratesAt(at, tier, countInput(parts));
  if (rates === null) return { amount: null, reason: "tier_unknown", detail: tier };

  let amount = 0;
  for (const name of partNames) {
    const tokens = parts[name];
    if (tokens === 0) continue;
    const rate = rates[name];
    if (rate === null) return { amount: null, reason: "part_unknown", detail: name };
    amount += tokens * rate;
  }
  if (webSearches > 0) {
    if (rates.webSearch === null) return { amount: null, reason: "part_unknown", detail: "webSearches" };
    amount += webSearches * rates.webSearch;
  }
  // Sums of exact integers are exact up to here, and one that passed it cannot come back below: nothing is ever subtracted.
  if (amount > Number.MAX_SAFE_INTEGER) return { amount: null, reason: "out_of_range" };
  return { amount, version: price.version, source: price.source?.url ?? null };
}

export interface UsageCostOptions extends Omit<CostOptions, "webSearches"> {
  /** Whether this vendor's own statement of the cost is what it bills, as its row says. */
  readonly believesStatedCost?: boolean;
}

/** The cost of an answer from its usage object. The operator's price wins, then what the vendor states, then the catalogue. */
export function costOfUsage(usage: unknown, price: Price | null, options: UsageCostOptions): Cost {
  if (options.believesStatedCost === true && price?.isOverride !== true) {
    const amount = readStatedCost(usage);
    if (amount !== null) return { amount, version: statedVersion, source: statedVersion };
  }
  if (price === null) return { amount: null, reason: "price_unknown" };
  const parts = readBilledParts(usage);
  if (parts === null) return { amount: null, reason: "usage_unknown" };
  return costOf(parts, price, { ...options, webSearches: readWebSearches(usage) });
}

const standardTier = "standard";
const statedVersion = "vendor";
const standardNames: ReadonlySet<string> = new Set(["", "auto", "default", "on_demand", "standard"]);

/** The tier of service that an answer names, in our words. */
export function readServiceTier(value: unknown): string {
  if (typeof value !== "string") return standardTier;
  const name = value.toLowerCase();
  return standardNames.has(name) ? standardTier : name;
}

const picoPerTick = 100;

/** What the vendor says that the answer cost, in pico-dollars; null when it says nothing. */
export function readStatedCost(usage: unknown): number | null {
  if (typeof usage !== "object" || usage === null) return null;
  const { cost, cost_in_usd_ticks, estimated_cost } = usage as Record<string, unknown>;
  // A tick is 10⁻¹⁰ USD.
  if (isAmount(cost_in_usd_ticks)) return toSafe(cost_in_usd_ticks * picoPerTick);
  if (isAmount(cost)) return toSafe(cost * picoPerUsd);
  if (typeof cost === "object" && cost !== null) {
    const { total_cost } = cost as Record<string, unknown>;
    if (isAmount(total_cost)) return toSafe(total_cost * picoPerUsd);
  }
  return isAmount(estimated_cost) ? toSafe(estimated_cost * picoPerUsd) : null;
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

function toSafe(amount: number): number | null {
  const rounded = Math.round(amount);
  return Number.isSafeInteger(rounded) ? rounded : null;
}
