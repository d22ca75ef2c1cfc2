// `/v3/me`: what a key may learn about itself, and nothing about others.

import type { Caller } from "../../access/caller.ts";
import type { Keyring } from "../../access/keys.ts";
import type { LimitRule } from "../../access/limit-rules.ts";
import type { BudgetState, LimitStates } from "../../access/limit-states.ts";
import { keyScopes } from "../../contract/keys.ts";
import { meObject } from "../../contract/me.ts";
import { toExactNumber } from "../../lib/exact-json.ts";
import { formatUsd } from "../../lib/money.ts";
import { toSumsJson } from "../../usage/report-formats.ts";
import type { UsageReports } from "../../usage/reports.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";

export interface MeDependencies {
  readonly keyring: Pick<Keyring, "describe">;
  readonly limitStates: LimitStates;
  readonly usageReports: UsageReports;
}

export function meRoutes({ keyring, limitStates, usageReports }: MeDependencies): Route[] {
  async function describe(caller: Caller) {
    const now = Date.now();
    const budgets = await limitStates.readBudgets(caller.rules.filter(({ budget }) => budget !== null));
    const own = caller.rules.find(({ holder, model, budget }) => holder === "key" && model === null && budget !== null);
    const from = budgets.get(own?.id ?? "")?.startsAt || startOfMonth(now);
    const period = { from: new Date(from).toISOString(), to: new Date(now).toISOString() };
    const [key, sums] = await Promise.all([
      keyring.describe(caller),
      usageReports.sumOfKey(caller.keyId, { from, to: now }),
    ]);
    const { id, name, kind, masked, scopes, allowed_models, tags, expires_at } = key;
    return {
      ...{ id, name, kind, masked, team: caller.team, scopes, allowed_models, tags, expires_at },
      limits: caller.rules.map((rule) => toLimit(rule, budgets.get(rule.id))),
      usage: { ...period, ...toSumsJson(sums) },
    };
  }

  function toLimit(rule: LimitRule, state: BudgetState | undefined) {
    const rates = limitStates.readRates(rule);
    return {
      holder: rule.holder,
      model: rule.model,
      rates: rates?.map(({ resetSeconds, ...rate }) => ({ ...rate, reset_seconds: resetSeconds })) ?? null,
      budget: rule.budget === null ? null : toBudget(rule.budget, state),
    };
  }

  return [
    defineRoute({
      id: "describeMe",
      tag: "Usage",
      key: "inference",
      // Every key may call it.
      scope: keyScopes,
      summary: "Describe the calling key",
      description:
        "The key's own limits, what is left of them, and what it used. Other keys of its team do not appear.",
      method: "GET",
      path: "/v3/me",
      answers: [{ status: 200, description: "The key that made the call.", schema: meObject }],
      run: async ({ caller }) => replyJson(await describe(caller)),
    }),
  ];
}

function toBudget(budget: NonNullable<LimitRule["budget"]>, state: BudgetState | undefined) {
  const spent = state?.spentPico ?? null;
  const left = state === undefined || spent === null ? null : state.amountPico - spent;
  return {
    amount: state === undefined ? budget.amount : toUsdJson(state.amountPico),
    period: budget.period,
    time_zone: "time_zone" in budget ? budget.time_zone : "UTC",
    spent: spent === null ? null : toUsdJson(spent),
    left: left === null ? null : toUsdJson(left < 0n ? 0n : left),
    resets_at: typeof state?.endsAt === "number" ? new Date(state.endsAt).toISOString() : null,
  };
}

function toUsdJson(pico: bigint): object {
  return toExactNumber(formatUsd(pico));
}

function startOfMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}
