// What an answer costs: the price of its offer, applied to what it used.

import type { Price, PriceBook } from "../catalogue/prices.ts";
import type { ChatUsage } from "../contract/chat-format.ts";
import { picoPerUsd } from "../lib/money.ts";
import type { Provider } from "../providers/configure.ts";
import { costOfUsage, readServiceTier, toUsd } from "../usage/cost.ts";

export interface Pricing {
  /** The account of one offer. */
  quote(provider: Provider, model: string): Quote;
  /** USD of a usual request, for comparisons; null when the price is not known. */
  typicalCost(provider: Provider, model: string): number | null;
}

export interface Quote {
  chargeFor(usage: unknown, answer?: Answered): Charge;
}

/** What an answer says of itself beside its usage. */
export interface Answered {
  readonly model?: unknown;
  readonly service_tier?: unknown;
  /** The items of a response, and the tools that it echoes: some tools of vendors are billed by the call. */
  readonly output?: unknown;
  readonly tools?: unknown;
}

export interface Charge {
  /** USD; null when it is not known, which is never 0. */
  readonly cost: number | null;
  /** Why it is not known. */
  readonly reason: string | null;
  /** Which prices were used. */
  readonly version: string | null;
}

const typicalUsage = { prompt_tokens: 3_000, completion_tokens: 1_000, total_tokens: 4_000 };
// Callers name models freely: what is kept of them has to end somewhere.
const mostKept = 10_000;

export function createPricing(book: PriceBook): Pricing {
  const found = new Map<string, Price | null>();

  function priceOf(provider: Provider, model: string, named: unknown): Price | null {
    const answered = typeof named === "string" && named !== model ? named : null;
    const key = answered === null ? `${provider.name} ${model}` : `${provider.name} ${model} ${answered}`;
    const known = found.get(key);
    if (known !== undefined) return known;
    const price = findPrice(provider.name, model, answered);
    if (found.size >= mostKept) found.clear();
    found.set(key, price);
    return price;
  }

  /** A deployment or a router's name says little: what answered says more, unless the operator set a price himself. */
  function findPrice(provider: string, model: string, answered: string | null): Price | null {
    const asked = book.find(provider, model);
    if (asked?.isOverride === true || answered === null) return asked;
    return book.find(provider, answered) ?? asked;
  }

  function quote(provider: Provider, model: string): Quote {
    return {
      chargeFor(usage, answer = {}) {
        const price = priceOf(provider, model, answer.model);
        if (provider.row.billsNoEmptyRefusal === true && isEmptyRefusal(usage))
          return { cost: 0, reason: null, version: price?.version ?? null };
        const cost = costOfUsage(usage, price, {
          at: new Date(),
          tier: readServiceTier(answer.service_tier, usage),
          believesStatedCost: provider.row.billsAsStated === true,
          output: answer.output,
          tools: answer.tools,
          priceOf: (other) => (other === model || other === answer.model ? price : book.find(provider.name, other)),
        });
        if (cost.amount === null) return { cost: null, reason: cost.reason, version: null };
        return { cost: toUsd(cost.amount), reason: null, version: cost.version };
      },
    };
  }

  return {
    quote,
    typicalCost: (provider, model) => quote(provider, model).chargeFor(typicalUsage).cost,
  };
}

function isEmptyRefusal(usage: unknown): boolean {
  return typeof usage === "object" && usage !== null && (usage as Partial<ChatUsage>).is_empty_refusal === true;
}

/** Of calls that make one answer together. Each is priced by itself: the length of a prompt may change its price. */
export function addCharges(charges: readonly Charge[]): Charge {
  const unknown = charges.find(({ cost }) => cost === null);
  if (unknown !== undefined) return unknown;
  const amount = charges.reduce((sum, { cost }) => sum + Math.round((cost ?? 0) * picoPerUsd), 0);
  return { cost: toUsd(amount), reason: null, version: charges[0]?.version ?? null };
}

/** As members of an answer: a cost that is not known says why. */
export function toCostMembers({ cost, reason }: Charge): { cost: number | null; cost_reason?: string } {
  return reason === null ? { cost } : { cost, cost_reason: reason };
}
