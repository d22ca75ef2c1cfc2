// The cost of an answer: the price of its offer, applied to its usage.

import type { Price, PriceBook } from "../catalogue/prices.ts";
import type { ChatUsage } from "../contract/chat-format.ts";
import { picoPerUsd } from "../lib/money.ts";
import type { Provider } from "../providers/configure.ts";
import { costOfUsage, readServiceTier, toUsd } from "../usage/cost.ts";

export type Pricing = ReturnType<typeof createPricing>;

/** Prices the answers of one offer. */
export interface Quote {
  chargeFor(usage: unknown, answer?: Answered): Charge;
}

/** Members of an answer, besides its usage, that affect its price. */
export interface Answered {
  readonly model?: unknown;
  readonly service_tier?: unknown;
  /** The items of a response, and the tools that it repeats: vendors bill some of their tools by the call. */
  readonly output?: unknown;
  readonly tools?: unknown;
}

export interface Charge {
  /** USD; null when it is unknown. An unknown cost is never 0. */
  readonly cost: number | null;
  /** Why the cost is unknown. */
  readonly reason: string | null;
}

/** The charge for an answer whose usage the provider did not report. */
export const unknownUsage: Charge = { cost: null, reason: "usage_unknown" };

const typicalUsage = { prompt_tokens: 3_000, completion_tokens: 1_000, total_tokens: 4_000 };
// Callers can name any model, so the cache needs a bound.
const mostCached = 10_000;

export function createPricing(book: PriceBook) {
  const found = new Map<string, Price | null>();

  function priceOf(provider: Provider, model: string, named: unknown): Price | null {
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

  function quote(provider: Provider, model: string): Quote {
    return {
      chargeFor(usage, answer = {}) {
        const price = priceOf(provider, model, answer.model);
        if (provider.row.billsNoEmptyRefusal === true && isEmptyRefusal(usage)) return { cost: 0, reason: null };
        const cost = costOfUsage(usage, price, {
          at: new Date(),
          tier: readServiceTier(answer.service_tier, usage),
          believesStatedCost: provider.row.billsAsStated === true,
          output: answer.output,
          tools: answer.tools,
          priceOf: (other) => (other === model || other === answer.model ? price : book.find(provider.name, other)),
        });
        return cost.amount === null ? { cost: null, reason: cost.reason } : { cost: toUsd(cost.amount), reason: null };
      },
    };
  }

  return {
    quote,
    /** USD of a typical request, for comparisons; null when the price is unknown. */
    typicalCost: (provider: Provider, model: string) => quote(provider, model).chargeFor(typicalUsage).cost,
  };
}

function isEmptyRefusal(usage: unknown): boolean {
  return typeof usage === "object" && usage !== null && (usage as Partial<ChatUsage>).is_empty_refusal === true;
}

/** The sum for several calls that make up one answer. Each call is priced alone: the length of its prompt may change its price. */
export function addCharges(charges: readonly Charge[]): Charge {
  const unknown = charges.find(({ cost }) => cost === null);
  if (unknown !== undefined) return unknown;
  const amount = charges.reduce((sum, { cost }) => sum + Math.round((cost ?? 0) * picoPerUsd), 0);
  return { cost: toUsd(amount), reason: null };
}

/** The members of an answer that state its cost, or why the cost is unknown. */
export function toCostMembers({ cost, reason }: Charge): { cost: number | null; cost_reason?: string } {
  return reason === null ? { cost } : { cost, cost_reason: reason };
}
