// The models and tasks that this gateway offers. The listings are built on first use, so that they do not delay the start.

import { createFeatureListing, type FeatureListing, type TaskOffer } from "./feature-listing.ts";
import { createModelListing, type ModelListing, type Offered } from "./model-listing.ts";
import type { PriceBook } from "./prices.ts";

export type { Included, TaskOffer } from "./feature-listing.ts";
export type { Offered } from "./model-listing.ts";

export interface Catalogue {
  readonly models: ModelListing;
  readonly features: FeatureListing;
}

export function createCatalogue(
  providers: readonly Offered[],
  taskOffers: readonly TaskOffer[] = [],
  prices: PriceBook | null = null,
): Catalogue {
  return { models: createModelListing(providers, prices), features: createFeatureListing(taskOffers) };
}
