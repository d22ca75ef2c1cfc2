// What several gateways on one database may use of a rate limit.

import type { Counter } from "./counter-table.ts";
import type { WindowKind } from "./window-cells.ts";

/** One limit of one rule. */
export interface SharedLimit {
  readonly counter: Counter;
  readonly kind: WindowKind;
  readonly limit: number;
}

export interface RateShares {
  /** Whether other gateways serve too, so that only what the store granted may be used. */
  readonly isShared: boolean;
  /** How many gateways serve. */
  readonly gateways: number;
  /** Asks the store for a part of the window. Resolves with 0 when there is one now, else with the milliseconds until there may be. */
  lease(limit: SharedLimit, amount: number): Promise<number>;
}
