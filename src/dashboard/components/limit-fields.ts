// The limits that keys and teams have in common, as texts of a form and as members of a request.

import type { CreateTeam, Team } from "../api/types.ts";
import { viewerTimeZone } from "../lib/format.ts";
import { withoutNull } from "../lib/without-null.ts";

export type Limits = Pick<Team, "allowed_models" | "rate_limit" | "budget" | "tags">;
type LimitsRequest = Pick<CreateTeam, "allowed_models" | "rate_limit" | "budget" | "tags">;

/** Empty texts: no limit, or in something new the default. */
export interface LimitFields {
  readonly amount: number | string;
  readonly period: "none" | "daily" | "weekly" | "monthly";
  readonly requestsPerMinute: number | string;
  readonly tokensPerMinute: number | string;
  readonly concurrentRequests: number | string;
  readonly models: readonly string[];
  /** `name=value`. */
  readonly tags: readonly string[];
}

export function toFields(limits: Limits | null): LimitFields {
  const { budget = null, rate_limit = null, allowed_models = null, tags = {} } = limits ?? {};
  return {
    amount: budget?.amount ?? "",
    period: budget?.period ?? "monthly",
    requestsPerMinute: rate_limit?.requests_per_minute ?? "",
    tokensPerMinute: rate_limit?.tokens_per_minute ?? "",
    concurrentRequests: rate_limit?.concurrent_requests ?? "",
    models: allowed_models ?? [],
    tags: Object.entries(tags).map(([name, value]) => `${name}=${value}`),
  };
}

/**
 * `before`: what the form does not show stays as it is. Null: the limits of something new, for which the gateway has defaults, so empty fields
 * are left out.
 */
export function toLimits(fields: LimitFields, before: Limits | null): LimitsRequest {
  const rates = {
    requests_per_second: before?.rate_limit?.requests_per_second ?? null,
    requests_per_minute: toNumber(fields.requestsPerMinute),
    tokens_per_minute: toNumber(fields.tokensPerMinute),
    concurrent_requests: toNumber(fields.concurrentRequests),
  };
  const amount = toNumber(fields.amount);
  const { time_zone = viewerTimeZone, raise = null } = before?.budget ?? {};
  const limits = {
    rate_limit: Object.values(rates).every((rate) => rate === null) ? null : rates,
    budget: amount === null ? null : { amount, period: fields.period, time_zone, raise },
    allowed_models: fields.models.length === 0 ? null : [...fields.models],
    tags: fields.tags.length === 0 ? null : Object.fromEntries(fields.tags.map(toPair)),
  };
  return before === null ? withoutNull(limits) : limits;
}

/** What was spent in a period of one kind does not count in a period of another kind. */
export function startsAtZero(fields: LimitFields, before: Limits | null): boolean {
  const period = before?.budget?.period;
  return period !== undefined && fields.amount !== "" && fields.period !== period;
}

function toNumber(value: number | string): number | null {
  return value === "" ? null : Number(value);
}

function toPair(text: string): [string, string] {
  const end = text.indexOf("=");
  return end < 0 ? [text, "true"] : [text.slice(0, end).trim(), text.slice(end + 1).trim()];
}
