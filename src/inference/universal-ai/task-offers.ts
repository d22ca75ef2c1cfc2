// The engines of this gateway as the listing shows them.

import type { TaskOffer } from "../../catalogue/catalogue.ts";
import { findTask, type ListPrice } from "../../contract/tasks.ts";
import type { Engine } from "../../engines/engine.ts";

export function toTaskOffers(engines: readonly Engine[]): TaskOffer[] {
  return engines.filter(({ missing }) => missing === null).flatMap(toOffers);
}

function toOffers({ task, provider, models, takesOtherModels }: Engine): TaskOffer[] {
  const [feature = "", subfeature = ""] = task.split("/");
  const bare = `${task}/${provider}`;
  const names = [
    ...(models.length === 0 || !takesOtherModels ? [bare] : []),
    ...models.map((model) => `${bare}/${model}`),
  ];
  const prices = new Map(
    (findTask(feature, subfeature)?.knownOffers ?? []).map(({ model, listPrice }) => [model, listPrice]),
  );
  return names.map((model) => ({
    feature,
    subfeature,
    provider,
    model,
    pricing: toPricing(prices.get(model) ?? null),
  }));
}

function toPricing(price: ListPrice | null) {
  if (price === null) return null;
  return { price: price.price, price_unit_quantity: price.quantity, price_unit_type: price.unit };
}
