// The models and tasks that this gateway offers. The listings are built on first use, so that they do not delay the start, and once a day,
// because a price may change on a certain day.

import { daily } from "../lib/daily.ts";
import { createFeatureListing, type FeatureListing, type TaskOffer } from "./feature-listing.ts";
import { createModelListing, type ModelListing, type Offered } from "./model-listing.ts";
import type { PriceBook } from "./prices.ts";

export type { Included, TaskOffer } from "./feature-listing.ts";
export type { Offered } from "./model-listing.ts";

export interface Catalogue {
  readonly models: ModelListing;
  readonly features: FeatureListing;
  /** Call it after the credentials of a provider have changed: the listings show which providers are configured. */
  forget(): void;
}

export function createCatalogue(
  providers: readonly Offered[],
  listTaskOffers: () => readonly TaskOffer[] = () => [],
  prices: PriceBook | null = null,
  now: () => number = Date.now,
): Catalogue {
  const models = daily(() => createModelListing(providers, prices, now), now);
  const features = daily(() => createFeatureListing(listTaskOffers()), now);
  return {
    get models() {
      return models.get();
    },
    get features() {
      return features.get();
    },
    forget() {
      models.forget();
      features.forget();
    },
  };
}
