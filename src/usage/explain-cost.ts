// How a cost was computed: its summands, from the usage that the ledger stores. The same functions compute the charge itself, so an explanation
// adds up to it as long as the prices are the same.

import { rateNameOf, standardTier } from "../catalogue/price-rates.ts";
import type { Price, PriceSource } from "../catalogue/prices.ts";
import type { CostBasis, UsageBasis } from "../lib/charge.ts";
import { toUsd } from "../lib/money.ts";
import { type Cost, type CostPart, costOfUsage } from "./cost.ts";
import { type FeeUse, noFees } from "./fees.ts";

/** One summand: `count` × `rate` = `amount`. */
export interface ExplainedPart {
  /** The member of a price by which it is billed, such as `input` or `web_search`; `stated`: the provider stated the cost; or a unit of a task. */
  readonly kind: string;
  /** The model whose price was used, where it is not the one that answered. */
  readonly model: string | null;
  readonly count: number;
  /** USD for one token, call or unit. */
  readonly rate: number;
  /** USD. */
  readonly amount: number;
  /** The exact amount. */
  readonly pico: number;
}

export interface CostExplanation {
  /** With the prices of today, as everything here; null when the cost is not known. */
  readonly pico: number | null;
  readonly reason: string | null;
  /** The kind without a price, the tier or the fee that made the cost unknown. */
  readonly detail: string | null;
  readonly version: string | null;
  /** The page that the price comes from, and the day on which it was read. */
  readonly source: PriceSource | null;
  readonly parts: readonly ExplainedPart[];
}

export interface ExplainOptions {
  /** When the call was made: prices may depend on the time. */
  readonly at: Date;
  /** The price of the model that answered; null is the requested model. */
  readonly priceOf: (answered: string | null) => Price | null;
  /** The price of another model that ran for the answer. */
  readonly priceOfOther: (model: string, answered: string | null) => Price | null;
  /** The provider bills the cost that its answer states. */
  readonly believesStatedCost: boolean;
  /** The provider does not bill a refusal without output. */
  readonly billsNoEmptyRefusal: boolean;
}

/** Explains the cost of one or several calls to a model. */
export function explainCost(basis: Exclude<CostBasis, { units: unknown }>, options: ExplainOptions): CostExplanation {
  if ("calls" in basis) return addExplanations(basis.calls, options);
  const { usage, model = null, tier = standardTier, fees = noFees } = basis;
  if (options.billsNoEmptyRefusal && isEmptyRefusal(usage)) return { ...unpriced, pico: 0, reason: null };
  const price = options.priceOf(model);
  const parts: CostPart[] = [];
  const cost = costOfUsage(usage, price, {
    at: options.at,
    tier,
    // Written by the ledger, which stores what `readFees` returned.
    fees: fees as FeeUse,
    parts,
    believesStatedCost: options.believesStatedCost,
    priceOf: (other) => options.priceOfOther(other, model),
  });
  return toExplanation(cost, parts, price);
}

const unpriced: CostExplanation = {
  pico: null,
  reason: "usage_unknown",
  detail: null,
  version: null,
  source: null,
  parts: [],
};

function toExplanation(cost: Cost, parts: readonly CostPart[], price: Price | null): CostExplanation {
  const explained = parts.map(toExplainedPart);
  if (cost.amount === null)
    return {
      ...unpriced,
      reason: cost.reason,
      detail: toDetail(cost.detail),
      source: price?.source ?? null,
      parts: explained,
    };
  return {
    pico: cost.amount,
    reason: null,
    detail: null,
    version: cost.version,
    source: cost.source === price?.source?.url ? (price?.source ?? null) : null,
    parts: explained,
  };
}

/** Parts are named as in a price. */
function toDetail(detail: string | undefined): string | null {
  if (detail === undefined) return null;
  return Object.hasOwn(rateNameOf, detail) ? rateNameOf[detail as keyof typeof rateNameOf] : detail;
}

function toExplainedPart({ part, model, count, rate }: CostPart): ExplainedPart {
  const pico = count * rate;
  const kind = part === "vendor" ? "stated" : rateNameOf[part];
  return { kind, model, count, rate: toUsd(rate), amount: toUsd(pico), pico };
}

function addExplanations(calls: readonly (CostBasis | null)[], options: ExplainOptions): CostExplanation {
  const explained = calls.map((call) =>
    call === null || "units" in call ? unpriced : explainCost(call as UsageBasis, options),
  );
  const unknown = explained.find(({ pico }) => pico === null);
  const [first = unpriced] = explained;
  return {
    ...(unknown ?? first),
    pico: unknown === undefined ? explained.reduce((sum, { pico }) => sum + (pico ?? 0), 0) : null,
    parts: explained.flatMap(({ parts }) => parts),
  };
}

/** The vendor refused before any output. */
export function isEmptyRefusal(usage: unknown): boolean {
  return typeof usage === "object" && usage !== null && "is_empty_refusal" in usage && usage.is_empty_refusal === true;
}
