// `/v3/me`: what a key may learn about itself, and nothing about others.

import { type BudgetState, readBudgetStates } from "../../access/budget-states.ts";
import type { Caller } from "../../access/caller.ts";
import type { Keyring } from "../../access/keys.ts";
import type { LimitRule } from "../../access/limit-rules.ts";
import type { RateLimits } from "../../access/rate-limits.ts";
import { keyScopes } from "../../contract/keys.ts";
import { meObject } from "../../contract/me.ts";
import type { BudgetStore } from "../../storage/stores.ts";
import { toSumsJson } from "../../usage/report-formats.ts";
import type { UsageReports } from "../../usage/reports.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import { toBudgetJson } from "./budget-json.ts";

export interface MeDependencies {
  readonly keyring: Pick<Keyring, "describe">;
  readonly budgets: Pick<BudgetStore, "balances">;
  readonly rates: Pick<RateLimits, "describe">;
  readonly usageReports: UsageReports;
}

export function meRoutes({ keyring, budgets, rates, usageReports }: MeDependencies): Route[] {
  async function describe(caller: Caller) {
    const now = Date.now();
    const [key, states] = await Promise.all([keyring.describe(caller), readBudgetStates(budgets, caller.rules)]);
    const own = caller.rules.find(({ holder, model, budget }) => holder === "key" && model === null && budget !== null);
    const budget = states.get(own?.id ?? "");
    // The period of a budget that never resets began with the key.
    const from = budget === undefined ? startOfMonth(now) : Math.max(budget.startsAt, Date.parse(key.created_at));
    const period = { from: new Date(from).toISOString(), to: new Date(now).toISOString() };
    const sums = await usageReports.sumOfKey(caller.keyId, { from, to: now });
    const { id, name, kind, masked, scopes, allowed_models, tags, expires_at } = key;
    return {
      ...{ id, name, kind, masked, team: caller.team, scopes, allowed_models, tags, expires_at },
      limits: caller.rules.map((rule) => toLimit(rule, states.get(rule.id))),
      usage: { ...period, ...toSumsJson(sums) },
    };
  }

  function toLimit(rule: LimitRule, state: BudgetState | undefined) {
    return {
      holder: rule.holder,
      model: rule.model,
      rates: rates
        .describe(rule)
        .map(({ resetMs, ...rate }) => ({ ...rate, reset_seconds: Math.ceil(resetMs) / 1_000 })),
      budget: rule.budget === null || state === undefined ? null : toBudgetJson(rule.budget, state),
    };
  }

  return [
    defineRoute("describeMe", "Describe the calling key", {
      tag: "Usage",
      key: "inference",
      // Every key may call it.
      scope: keyScopes,
      description:
        "The key's own limits, what is left of them, and what it used. Other keys of its team do not appear.",
      method: "GET",
      path: "/v3/me",
      answers: [{ status: 200, description: "The key that made the call.", schema: meObject }],
      run: async ({ caller }) => replyJson(await describe(caller)),
    }),
  ];
}

function startOfMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}
