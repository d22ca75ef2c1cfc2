// The exact cost of one answer in pico-dollars. Pure: from usage and price to an amount, or to the reason why it is unknown.

import {
  type FeePart,
  freeRates,
  inputParts,
  outputParts,
  standardTier,
  type TokenPart,
} from "../catalogue/price-rates.ts";
import type { Price } from "../catalogue/prices.ts";
import { picoPerUsd } from "../lib/money.ts";
import { type FeeUse, noFees, readFees } from "./fees.ts";
import {
  countInput,
  countOutput,
  type Iteration,
  readBilledParts,
  readIterations,
  readTokenParts,
  type TokenParts,
} from "./tokens.ts";

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
   * tier. `part_unknown`: one kind of token or call has no price. `fee_unknown`: the vendor bills something that the answer does not contain.
   * `out_of_range`: more than any answer can cost, so a count is wrong.
   */
  readonly reason: `${"usage" | "price" | "tier" | "part" | "fee"}_unknown` | "out_of_range";
  /** The part that has tokens but no price, or the unknown fee. */
  readonly detail?: string;
}

/** One summand of a cost. */
export interface CostPart {
  readonly part: TokenPart | FeePart | typeof statedVersion;
  /** The model whose price was used, where it is not the one that answered. */
  readonly model: string | null;
  readonly count: number;
  /** Pico-dollars for one token or call. */
  readonly rate: number;
}

interface CostOptions {
  /** The result of `readServiceTier`. */
  readonly tier?: string;
  readonly at: Date;
  /** Default: read from the usage. */
  readonly fees?: FeeUse;
  /** Receives the summands. Only an explanation needs them. */
  readonly parts?: CostPart[] | undefined;
  /** The model's name in `parts`. */
  readonly model?: string;
}

const partNames: readonly TokenPart[] = [...inputParts, ...outputParts];

export function costOf(tokens: TokenParts, price: Price, options: CostOptions): Cost {
  const { tier = standardTier, at, fees = noFees, parts } = options;
  if (price.fee !== null) return { amount: null, reason: "fee_unknown", detail: price.fee };
  const rates = price.ratesAt(at, tier, countInput(tokens));
  if (rates === null) return { amount: null, reason: "tier_unknown", detail: tier };
  if (fees.unknown !== undefined && rates !== freeRates)
    return { amount: null, reason: "fee_unknown", detail: fees.unknown };

  let amount = 0;
  for (const part of partNames) {
    const count = tokens[part];
    if (count === 0) continue;
    const rate = rates[part];
    if (rate === null) return { amount: null, reason: "part_unknown", detail: part };
    amount += count * rate;
    parts?.push({ part, model: options.model ?? null, count, rate });
  }
  for (const name in fees.counts) {
    const called = fees.counts[name as FeePart] ?? 0;
    // Some models are billed once for a prompt that needed searches, and not for each search.
    const isPerPrompt: boolean = name === "webSearch" && rates.webSearch === null && rates.groundedPrompt !== null;
    const part: FeePart = isPerPrompt ? "groundedPrompt" : (name as FeePart);
    const count = isPerPrompt ? 1 : called;
    const rate = rates[part];
    if (rate === null) return { amount: null, reason: "part_unknown", detail: part };
    amount += count * rate;
    parts?.push({ part, model: options.model ?? null, count, rate });
  }
  // Sums of integers are exact up to this bound. Nothing is subtracted, so a sum that exceeds it stays above it.
  if (amount > Number.MAX_SAFE_INTEGER) return { amount: null, reason: "out_of_range" };
  return { amount, version: price.version, source: price.source?.url ?? null };
}

export interface UsageCostOptions extends Omit<CostOptions, "model"> {
  /** The vendor bills the cost that its answer states. */
  readonly believesStatedCost?: boolean;
  /** The price of another model of the same vendor that also ran for this answer. */
  readonly priceOf?: (model: string) => Price | null;
}

/**
 * The cost of an answer by its usage object. The operator's price of tokens comes first, then the cost that the vendor states, then the
 * catalogue, with what the operator added to it.
 */
export function costOfUsage(usage: unknown, price: Price | null, options: UsageCostOptions): Cost {
  if (options.believesStatedCost === true && price?.replacesStatedCost !== true) {
    const amount = readStatedCost(usage);
    if (amount !== null) {
      options.parts?.push({ part: statedVersion, model: null, count: 1, rate: amount });
      return { amount, version: statedVersion, source: statedVersion };
    }
  }
  if (price === null) return { amount: null, reason: "price_unknown" };
  const { fees = readFees(usage) } = options;
  const own = costOfRuns(usage, price, fees, options);
  return fees.runs === undefined || own.amount === null ? own : addCosts([own, ...costsOfTools(fees.runs, options)]);
}

/** The runs of the model that answered, and of the models that it consulted. */
function costOfRuns(usage: unknown, price: Price, fees: FeeUse, options: UsageCostOptions): Cost {
  const iterations = readIterations(usage);
  if (iterations === null) {
    const tokens = readBilledParts(usage);
    const { at, tier = standardTier, parts } = options;
    const cost = tokens === null ? unknownUsage : costOf(tokens, price, { at, tier, fees, parts });
    // Every answer has an input: a usage without one is incomplete, so only a free answer has a known cost.
    const hasInput = tokens !== null && countInput(tokens) > 0;
    return hasInput || cost.amount === 0 ? cost : unknownUsage;
  }
  const billed = findBilled(iterations);
  if (billed === null)
    return { amount: null, reason: "fee_unknown", detail: "a fallback model of the vendor continued a refused answer" };
  const costs = billed.map(({ model, parts: tokens }, index) => {
    const modelPrice = model === null ? price : (options.priceOf?.(model) ?? null);
    if (modelPrice === null) return { amount: null, reason: "price_unknown", detail: model ?? "" } as const;
    // Fees apply to the whole answer, so they are counted once.
    return costOf(tokens, modelPrice, {
      ...options,
      fees: index === 0 ? fees : noFees,
      ...(model === null ? {} : { model }),
    });
  });
  return addCosts(costs);
}

/**
 * The runs that are billed. An answer of the vendor's own fallback lists the refused attempts too: those without output are free. Null when the
 * bill depends on more than the usage: the cache that a fallback writes is billed as if it had existed, and an answer that was refused midway is
 * continued (https://platform.claude.com/cookbook/fable-5-fallback-billing-guide).
 */
function findBilled(iterations: readonly Iteration[]): readonly Iteration[] | null {
  const first = iterations.findIndex(({ type }) => type === "fallback_message");
  if (first < 0) return iterations;
  const hasOutput = ({ parts }: Iteration) => countOutput(parts) > 0;
  const billed = iterations.slice(first).filter(hasOutput);
  const isCertain =
    billed.length > 0 &&
    !iterations.slice(0, first).some(hasOutput) &&
    billed.every(({ model, parts }) => model === billed[0]?.model && parts.cacheWrite5m + parts.cacheWrite1h === 0);
  return isCertain ? billed : null;
}

/** Models that ran as a tool, at their own price. Only tokens have a service tier there. */
function costsOfTools(runs: NonNullable<FeeUse["runs"]>, options: UsageCostOptions): Cost[] {
  return runs.map(({ model, usage }) => {
    const modelPrice = options.priceOf?.(model) ?? null;
    const tokens = readTokenParts(usage);
    if (modelPrice === null) return { amount: null, reason: "price_unknown", detail: model };
    return tokens === null
      ? unknownUsage
      : costOf(tokens, modelPrice, { ...options, tier: standardTier, fees: noFees, model });
  });
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
  // Most answers name none of them.
  if (value == null && tier == null && speed == null && region == null) return standardTier;
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
  if (isAmount(cost)) return toSafe((cost + readUpstreamCost(usage)) * picoPerUsd);
  if (typeof cost === "object" && cost !== null) {
    const { total_cost } = cost as Record<string, unknown>;
    if (isAmount(total_cost)) return toSafe(total_cost * picoPerUsd);
  }
  return isAmount(estimated_cost) ? toSafe(estimated_cost * picoPerUsd) : null;
}

/** With the operator's own key at another provider, a router states its fee only; that provider bills the rest. */
function readUpstreamCost(usage: object): number {
  const { is_byok, cost_details } = usage as Record<string, unknown>;
  if (is_byok !== true || typeof cost_details !== "object" || cost_details === null) return 0;
  const { upstream_inference_cost: upstream } = cost_details as Record<string, unknown>;
  return isAmount(upstream) ? upstream : 0;
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

function toSafe(amount: number): number | null {
  const rounded = Math.round(amount);
  return Number.isSafeInteger(rounded) ? rounded : null;
}
