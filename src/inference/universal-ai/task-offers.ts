// The engines of this gateway as the listing shows them.

import type { TaskOffer } from "../../catalogue/catalogue.ts";
import { findTask, type ListPrice } from "../../contract/tasks.ts";
import type { Engine } from "../../engines/engine.ts";

export function toTaskOffers(engines: readonly Engine[]): TaskOffer[] {
  // Two engines of one provider may do the same task; what they are called by is one name, and the one that can be run counts.
  const offers = engines.flatMap(toOffers).toSorted((one, other) => Number(one.configured) - Number(other.configured));
  return [...new Map(offers.map((offer) => [offer.model, offer])).values()];
}

function toOffers({ task, provider, models, needsModel, missing }: Engine): TaskOffer[] {
  const [feature = "", subfeature = ""] = task.split("/");
  const bare = `${task}/${provider}`;
  const names = [...(needsModel === true ? [] : [bare]), ...models.map((model) => `${bare}/${model}`)];
  const prices = new Map(
    (findTask(feature, subfeature)?.knownOffers ?? []).map(({ model, listPrice }) => [model, listPrice]),
  );
  return names.map((model) => ({
    feature,
    subfeature,
    provider,
    model,
    pricing: toPricing(prices.get(model) ?? null),
    configured: missing === null,
  }));
}

function toPricing(price: ListPrice | null) {
  if (price === null) return null;
  return { price: price.price, price_unit_quantity: price.quantity, price_unit_type: price.unit };
}
