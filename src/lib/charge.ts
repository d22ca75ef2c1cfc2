// What one answer costs: the exact amount, the version of the prices, and what the amount was computed from.

import { picoPerUsd, toUsd } from "./money.ts";

export interface Charge {
  /** USD; null when it is unknown. An unknown cost is never 0. */
  readonly cost: number | null;
  /** Why the cost is unknown. */
  readonly reason: string | null;
  /** The same cost in pico-dollars: a safe integer. */
  readonly pico: number | null;
  /** The version of the prices; `vendor` for a cost that the provider stated, `operator` for the operator's price. Null without a cost. */
  readonly version: string | null;
  /** Enough to compute the cost again. Null when there is nothing to compute it from. */
  readonly basis: CostBasis | null;
}

/** What a cost is computed from, as JSON. */
export type CostBasis = UsageBasis | UnitsBasis | CallsBasis;

export interface UsageBasis {
  /** As the provider reported it, in the members of the chat format. */
  readonly usage: unknown;
  /** The model that answered, where it is not the requested one. */
  readonly model?: string;
  /** Where it is not the standard service tier. */
  readonly tier?: string;
  /** How often the provider's own tools were used, where they are billed by the call. */
  readonly fees?: unknown;
}

/** A task that is billed by units, such as pages or seconds. */
export interface UnitsBasis {
  readonly units: Readonly<Partial<Record<string, number>>>;
}

/** Several calls that make up one answer, each with its own price. */
export interface CallsBasis {
  readonly calls: readonly (CostBasis | null)[];
}

const freeVersion = "free";
const statedVersion = "vendor";

/** The charge for an answer whose usage the provider did not report. */
export const unknownUsage: Charge = toUnknownCharge("usage_unknown");

/** The charge of what has no price because it costs nothing, such as an engine on this machine. */
export const freeCharge: Charge = { cost: 0, reason: null, pico: 0, version: freeVersion, basis: null };

export function toUnknownCharge(reason: string, basis: CostBasis | null = null): Charge {
  return { cost: null, reason, pico: null, version: null, basis };
}

export function toKnownCharge(pico: number, version: string, basis: CostBasis | null): Charge {
  return { cost: toUsd(pico), reason: null, pico, version, basis };
}

/** A cost in USD that a provider or an engine stated, with what it knows beyond that. */
export type StatedCharge = Pick<Charge, "cost" | "reason"> & Partial<Charge>;

export function completeCharge({ cost, reason, ...exact }: StatedCharge): Charge {
  if (cost === null) return toUnknownCharge(reason ?? "price_unknown", exact.basis ?? null);
  if (cost === 0 && exact.version === undefined) return freeCharge;
  const pico = exact.pico ?? Math.round(cost * picoPerUsd);
  if (pico < 0 || !Number.isSafeInteger(pico)) return toUnknownCharge("out_of_range", exact.basis ?? null);
  return toKnownCharge(pico, exact.version ?? statedVersion, exact.basis ?? null);
}

/** The sum for several calls that make up one answer. Each call is priced alone: the length of its prompt may change its price. */
export function addCharges(charges: readonly Charge[]): Charge {
  const [first] = charges;
  if (first === undefined) return unknownUsage;
  if (charges.length === 1) return first;
  const basis: CallsBasis = { calls: charges.map((charge) => charge.basis) };
  let pico = 0;
  for (const charge of charges) {
    if (charge.pico === null) return { ...charge, basis };
    pico += charge.pico;
  }
  if (!Number.isSafeInteger(pico)) return toUnknownCharge("out_of_range", basis);
  return toKnownCharge(pico, first.version ?? freeVersion, basis);
}
