// The cost of an answer: the price of its offer, applied to its usage.

import { standardTier } from "../catalogue/price-rates.ts";
import type { Price, PriceBook } from "../catalogue/prices.ts";
import { type Charge, type CostBasis, toKnownCharge, toUnknownCharge, type UsageBasis } from "../lib/charge.ts";
import type { Provider } from "../providers/configure.ts";
import { costOfUsage, readServiceTier } from "../usage/cost.ts";
import { type CostExplanation, explainCost, isEmptyRefusal } from "../usage/explain-cost.ts";
import { type Answered, noFees, readFees } from "../usage/fees.ts";

export { addCharges, type Charge, unknownUsage } from "../lib/charge.ts";

export type Pricing = ReturnType<typeof createPricing>;

/** Prices the answers of one offer. */
export interface Quote {
  chargeFor(usage: unknown, answer?: Answered): Charge;
}

/** The members of a provider that a price depends on. A provider that is no longer configured has no row. */
export interface PricedProvider {
  readonly name: string;
  readonly row?: Pick<Provider["row"], "billsAsStated" | "billsNoEmptyRefusal">;
}

const nothing: Answered = {};
const typicalUsage = { prompt_tokens: 3_000, completion_tokens: 1_000, total_tokens: 4_000 };
// Callers can name any model, so the cache needs a bound.
const mostCached = 10_000;

export function createPricing(book: PriceBook) {
  const found = new Map<string, Price | null>();

  function priceOf(provider: PricedProvider, model: string, named: unknown): Price | null {
    const answered = typeof named === "string" && named !== model ? named : null;
    const key = answered === null ? `${provider.name} ${model}` : `${provider.name} ${model} ${answered}`;
    const known = found.get(key);
    if (known !== undefined) return known;
    const price = findPrice(provider.name, model, answered);
    if (found.size >= mostCached) found.clear();
    found.set(key, price);
    return price;
  }

  /** The model that answered decides, because a deployment or a router may hide it; an operator's own price comes first. */
  function findPrice(provider: string, model: string, answered: string | null): Price | null {
    const requested = book.find(provider, model);
    if (requested?.isOverride === true || answered === null) return requested;
    return book.find(provider, answered) ?? requested;
  }

  /** The price of a model that also ran for the answer. */
  function findOther(provider: PricedProvider, model: string, answered: unknown, other: string): Price | null {
    const isSame = other === model || other === answered;
    return isSame ? priceOf(provider, model, answered) : book.find(provider.name, other);
  }

  function quote(provider: PricedProvider, model: string): Quote {
    return {
      chargeFor(usage, answer = nothing) {
        const price = priceOf(provider, model, answer.model);
        const tier = readServiceTier(answer.service_tier, usage);
        const fees = readFees(usage, answer);
        const basis = toBasis(usage, { model, answered: answer.model, tier, fees });
        if (provider.row?.billsNoEmptyRefusal === true && isEmptyRefusal(usage))
          return toKnownCharge(0, book.version, basis);
        const cost = costOfUsage(usage, price, {
          at: new Date(),
          tier,
          fees,
          believesStatedCost: provider.row?.billsAsStated === true,
          priceOf: (other) => findOther(provider, model, answer.model, other),
        });
        return cost.amount === null
          ? toUnknownCharge(cost.reason, basis)
          : toKnownCharge(cost.amount, cost.version, basis);
      },
    };
  }

  return {
    quote,
    /** The cost of this many tokens of plain text in pico-dollars; null when it is unknown. */
    estimate(provider: PricedProvider, model: string, { input, output, tier }: EstimatedTokens): number | null {
      const price = priceOf(provider, model, null);
      if (price === null || price.fee !== null) return null;
      const at = new Date();
      // A tier that has no price of its own is granted or refused by the provider; the answer names the one that was used.
      const rates = price.ratesAt(at, readServiceTier(tier), input) ?? price.ratesAt(at, standardTier, input);
      const [inputRate, outputRate] = [rates?.input ?? null, rates?.output ?? null];
      if (inputRate === null || (outputRate === null && output > 0)) return null;
      const amount = input * inputRate + output * (outputRate ?? 0);
      return Number.isSafeInteger(amount) ? amount : null;
    },
    /** USD of a typical request, for comparisons; null when the price is unknown. */
    typicalCost: (provider: PricedProvider, model: string) => quote(provider, model).chargeFor(typicalUsage).cost,
    /** For tasks that are billed by tokens: their lines in the ledger do not always name the model. */
    chargeForModel(provider: PricedProvider, model: string, usage: unknown): Charge {
      const charge = quote(provider, model).chargeFor(usage);
      return charge.basis === null ? charge : { ...charge, basis: { ...charge.basis, model } };
    },
    /** How the cost of an earlier call was computed, with the prices of today. Null for a task that is billed by units. */
    explain(provider: PricedProvider, model: string, basis: CostBasis, at: Date): CostExplanation | null {
      if ("units" in basis) return null;
      return explainCost(basis, {
        at,
        priceOf: (answered) => priceOf(provider, model, answered),
        priceOfOther: (other, answered) => findOther(provider, model, answered, other),
        believesStatedCost: provider.row?.billsAsStated === true,
        billsNoEmptyRefusal: provider.row?.billsNoEmptyRefusal === true,
      });
    },
  };
}

interface EstimatedTokens {
  readonly input: number;
  readonly output: number;
  /** As the request names it. */
  readonly tier: unknown;
}

interface Conditions {
  readonly model: string;
  readonly answered: unknown;
  readonly tier: string;
  readonly fees: typeof noFees;
}

/** Most answers come from the requested model, at the standard tier, without tools of the provider. */
function toBasis(usage: unknown, { model, answered, tier, fees }: Conditions): UsageBasis | null {
  if (usage === null || usage === undefined) return null;
  const isOther = typeof answered === "string" && answered !== model;
  if (!isOther && tier === standardTier && fees === noFees) return { usage };
  return {
    usage,
    ...(isOther ? { model: answered } : {}),
    ...(tier === standardTier ? {} : { tier }),
    ...(fees === noFees ? {} : { fees }),
  };
}

/** The members of an answer that state its cost, or why the cost is unknown. */
export function toCostMembers({ cost, reason }: Pick<Charge, "cost" | "reason">): {
  cost: number | null;
  cost_reason?: string;
} {
  return reason === null ? { cost } : { cost, cost_reason: reason };
}
