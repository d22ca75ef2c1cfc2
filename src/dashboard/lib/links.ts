// Links between pages that keep the chosen period.

import { type Query, toUrl } from "../api/client.ts";
import type { UsageRow } from "../api/types.ts";

interface ChosenPeriod {
  readonly from: string;
  readonly to: string;
}

export function linkWithPeriod(path: string, { from, to }: ChosenPeriod, filters: Query = {}): string {
  return toUrl(path, { ...filters, from, to });
}

/**
 * The requests with these values. Undefined if one of them is missing: an address cannot ask for lines without a value, and without that filter the
 * page would show other requests as well.
 */
export function linkToRequests(
  values: Readonly<Record<string, string | null | undefined>>,
  period: ChosenPeriod,
): string | undefined {
  const isComplete = Object.values(values).every((value) => value !== null && value !== undefined && value !== "");
  return isComplete ? linkWithPeriod("/requests", period, values) : undefined;
}

/** The requests of a row by provider, model and task. A chat has no task, and some tasks have no model. */
export function linkToModelRequests({ provider, model, task }: UsageRow, period: ChosenPeriod): string | undefined {
  if (!model && !task) return undefined;
  return linkToRequests({ provider, ...(model && { model }), ...(task && { task }) }, period);
}
