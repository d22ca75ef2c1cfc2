// Where the format is spoken differently by the two services of the vendor that have it.

import type { ModelTraits } from "./model-traits.ts";

export interface Platform {
  /** Whether calls and their results carry ids; results are matched by name and order otherwise. */
  hasCallIds(traits: ModelTraits): boolean;
  /** Whether a request that holds both functions and tools of the vendor has to say that it wants to see the latter's calls. */
  readonly asksForServerTools: boolean;
  readonly hasServiceTier: boolean;
  readonly hasLabels: boolean;
  /** Counting tokens takes the request in a wrapper. */
  readonly wrapsCountRequest: boolean;
}

export const developerApi: Platform = {
  hasCallIds: () => true,
  asksForServerTools: true,
  hasServiceTier: true,
  hasLabels: false,
  wrapsCountRequest: true,
};

export const cloudPlatform: Platform = {
  // Before generation 3 the cloud platform does not know them.
  hasCallIds: (traits) => traits.isGeneration3,
  asksForServerTools: false,
  hasServiceTier: false,
  hasLabels: true,
  wrapsCountRequest: false,
};
