// The exact cost of one answer in pico-dollars. Pure: from usage and price to an amount, or to the reason why it is unknown.

import { freeRates, inputParts, outputParts, standardTier, type TokenPart } from "../catalogue/price-rates.ts";
import type { Price } from "../catalogue/prices.ts";
import { picoPerUsd } from "../lib/money.ts";
import { countInput, readBilledParts, readIterations, readToolUse, type TokenParts, type ToolUse } from "./tokens.ts";

export { toUsd } from "../lib/money.ts";

export type Cost = KnownCost | UnknownCost;

interface KnownCost {
  /** Pico-dollars: a safe integer. */
  readonly amount: number;
  /** The version of the prices that were used. */
  readonly version: string;
  /** The page that the price comes from; `vendor` when the vendor stated the cost itself; null when free or set by the operator. */
  readonly source: string | null;
}

interface UnknownCost {
  readonly amount: null;
  /**
   * `usage_unknown`: the vendor reported no usage. `price_unknown`, `tier_unknown`: the catalogue lacks the model, or its price at this service
   * tier. `part_unknown`: one kind of token has no price. `fee_unknown`: the vendor bills something that the usage does not contain.
   * `out_of_range`: more than any answer can cost, so a count is wrong.
   */
  readonly reason: `${"usage" | "price" | "tier" | "part" | "fee"}_unknown` | "out_of_range";
  /** The part that has tokens but no price, or the unknown fee. */
  readonly detail?: string;
}

export interface CostOptions {
  /** The result of `readServiceTier`. */
  readonly tier?: string;
  readonly at: Date;
  /** The use of the vendor's own tools that is billed separately from tokens. */
  readonly tools?: ToolUse;
}

const partNames: readonly TokenPart[] = [...inputParts, ...outputParts];

export function costOf(
  parts: TokenParts,
  price: Price,
  { tier = standardTier, at, tools = noTools }: CostOptions,
): Cost {
  if (price.fee !== null) return { amount: null, reason: "fee_unknown", detail: price.fee };
  const rates = price.ratesAt(at, tier, countInput(parts));
  if (rates === null) return { amount: null, reason: "tier_unknown", detail: tier };
  if (tools.unknownFee !== null && rates !== freeRates)
    return { amount: null, reason: "fee_unknown", detail: tools.unknownFee };

  let amount = 0;
  for (const name of partNames) {
    const tokens = parts[name];
    if (tokens === 0) continue;
    const rate = rates[name];
    if (rate === null) return { amount: null, reason: "part_unknown", detail: name };
    amount += tokens * rate;
  }
  if (tools.webSearches > 0) {
    const rate = tools.isPreview ? rates.webSearchPreview : rates.webSearch;
    if (rate === null) return { amount: null, reason: "part_unknown", detail: "webSearches" };
    amount += tools.webSearches * rate;
  }
  // Sums of integers are exact up to this bound. Nothing is subtracted, so a sum that exceeds it stays above it.
  if (amount > Number.MAX_SAFE_INTEGER) return { amount: null, reason: "out_of_range" };
  return { amount, version: price.version, source: price.source?.url ?? null };
}

export interface UsageCostOptions extends Omit<CostOptions, "tools"> {
  /** The vendor bills the cost that its answer states. */
  readonly believesStatedCost?: boolean;
  /** The items of a response, and the tools that it repeats. */
  readonly output?: unknown;
  readonly tools?: unknown;
  /** The price of another model of the same vendor that also ran for this answer. */
  readonly priceOf?: (model: string) => Price | null;
}

/** The cost of an answer by its usage object. The operator's price comes first, then the cost that the vendor states, then the catalogue. */
export function costOfUsage(usage: unknown, price: Price | null, options: UsageCostOptions): Cost {
  if (options.believesStatedCost === true && price?.isOverride !== true) {
    const amount = readStatedCost(usage);
    if (amount !== null) return { amount, version: statedVersion, source: statedVersion };
  }
  if (price === null) return { amount: null, reason: "price_unknown" };
  const { output, tools, at, tier = standardTier } = options;
  const use = readToolUse(usage, output, tools);
  const iterations = readIterations(usage);
  if (iterations === null) {
    const parts = readBilledParts(usage);
    const cost = parts === null ? unknownUsage : costOf(parts, price, { at, tier, tools: use });
    // Every answer has an input: a usage without one is incomplete, so only a free answer has a known cost.
    const hasInput = parts !== null && countInput(parts) > 0;
    return hasInput || cost.amount === 0 ? cost : unknownUsage;
  }
  // Whether the vendor bills attempts before its own fallback depends on their output, which no usage contains.
  if (iterations.some(({ type }) => type === "fallback_message"))
    return { amount: null, reason: "fee_unknown", detail: "a fallback model of the vendor answered" };
  const costs = iterations.map(({ model, parts }, index) => {
    const modelPrice = model === null || price.isOverride ? price : (options.priceOf?.(model) ?? null);
    if (modelPrice === null) return { amount: null, reason: "price_unknown", detail: model ?? "" } as const;
    // Fees apply to the whole answer, so they are counted once.
    return costOf(parts, modelPrice, { at, tier, tools: index === 0 ? use : noTools });
  });
  return addCosts(costs);
}

/** The sum, which is unknown when one of its parts is. */
function addCosts(costs: readonly Cost[]): Cost {
  const [first] = costs;
  if (first === undefined) return unknownUsage;
  let amount = 0;
  for (const cost of costs) {
    if (cost.amount === null) return cost;
    amount += cost.amount;
  }
  return amount > Number.MAX_SAFE_INTEGER
    ? { amount: null, reason: "out_of_range" }
    : { ...(first as KnownCost), amount };
}

const unknownUsage: UnknownCost = { amount: null, reason: "usage_unknown" };
const noTools: ToolUse = { webSearches: 0, isPreview: false, unknownFee: null };
const statedVersion = "vendor";
const standardNames: ReadonlySet<string> = new Set([
  ...["", "auto", "default", "on_demand", "standard", "standard_only"],
  // The region is not restricted, or the vendor did not state it.
  ...["global", "not_available"],
]);

/**
 * The service tier that an answer or its usage names, in our spelling. A faster mode and a region have their own prices, so each of them is a
 * tier; a combination is a tier named after both.
 */
export function readServiceTier(value: unknown, usage?: unknown): string {
  const { service_tier: tier, speed, inference_geo: region } = (usage ?? {}) as Readonly<Record<string, unknown>>;
  const names = [value ?? tier, speed, region]
    .map((name) => (typeof name === "string" ? name.toLowerCase() : ""))
    .filter((name) => !standardNames.has(name));
  return names.length === 0 ? standardTier : names.join("+");
}

const picoPerTick = 100;

/** The cost that the vendor states, in pico-dollars; null when it states none. */
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
