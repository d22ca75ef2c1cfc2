// GET /v3/manage/budgets: what keys and teams have spent of their budgets.

import { type BudgetState, readBudgetStates } from "../../access/budget-states.ts";
import type { Keyring } from "../../access/keys.ts";
import { asWritten, type LimitRule, toRules } from "../../access/limit-rules.ts";
import type { Teams } from "../../access/teams.ts";
import * as contract from "../../contract/budgets.ts";
import type { Budget, ModelLimit } from "../../contract/limits.ts";
import type { BudgetStore } from "../../storage/stores.ts";
import { replyJson } from "../reply.ts";
import { defineRoute, type Route } from "../route.ts";
import { toBudgetJson } from "./budget-json.ts";

export interface BudgetDependencies {
  readonly keyring: Pick<Keyring, "list">;
  readonly teams: Pick<Teams, "list">;
  readonly budgets: Pick<BudgetStore, "balances">;
}

interface Holder {
  readonly id: string;
  readonly name: string;
  readonly team: string | null;
  readonly budget: Budget | null;
  readonly model_limits: readonly ModelLimit[];
}

interface BudgetOfHolder {
  readonly rule: LimitRule & { readonly budget: Budget };
  readonly holder: Holder;
}

const holdersPerPage = 1_000;
/** Of a gateway with more keys, the budgets of the newest are listed. */
const maxPages = 10;
const budgetsPerRead = 500;

export function budgetRoutes({ keyring, teams, budgets }: BudgetDependencies): Route[] {
  /** `ofTeam`: only keys of this team, and the team itself, exist for the caller; null: all. */
  async function list({ holder, limit }: contract.ListBudgetsRequest, ofTeam: string | null) {
    const found: BudgetOfHolder[] = [];
    if (holder !== "team")
      for (const key of await readPages((page) =>
        keyring.list({ kind: null, enabled: null, team: null, ...page }, ofTeam),
      ))
        if (key.revoked_at === null) found.push(...toBudgets("key", key));
    if (holder !== "key")
      for (const team of await readPages((page) => teams.list({ name: ofTeam, enabled: null, ...page })))
        found.push(...toBudgets("team", { ...team, team: team.name }));
    const states = new Map<string, BudgetState>();
    for (let start = 0; start < found.length; start += budgetsPerRead) {
      const rules = found.slice(start, start + budgetsPerRead).map(({ rule }) => rule);
      for (const [id, state] of await readBudgetStates(budgets, rules)) states.set(id, state);
    }
    const known = found.flatMap(({ rule, holder }) => {
      const state = states.get(rule.id);
      return state === undefined ? [] : [{ rule, holder, state }];
    });
    known.sort((one, other) => shareOf(other.state) - shareOf(one.state));
    const items = known.slice(0, limit).map(({ rule, holder: { id, name, team }, state }) => ({
      ...{ holder: rule.holder, id, name, team, model: rule.model },
      ...toBudgetJson(rule.budget, state),
    }));
    return { items, total: known.length };
  }

  return [
    defineRoute("listBudgets", "List budgets with what is spent of them", {
      tag: "Usage",
      description:
        "The budgets of keys and teams, those for certain models included, and what the ledger has charged to them in the current period.",
      method: "GET",
      path: "/v3/manage/budgets",
      key: "management",
      role: "viewer",
      reach: "team",
      query: contract.listBudgetsQuery,
      answers: [{ status: 200, description: "The budgets.", schema: contract.budgetList }],
      example: { query: "holder=team" },
      run: async ({ query, caller }) => replyJson(await list(query, caller.team)),
    }),
  ];
}

async function readPages<Item>(
  read: (page: { limit: number; offset: number }) => Promise<{ items: readonly Item[]; total: number }>,
): Promise<Item[]> {
  const all: Item[] = [];
  for (let page = 0; page < maxPages; page++) {
    const { items, total } = await read({ limit: holdersPerPage, offset: page * holdersPerPage });
    all.push(...items);
    if (all.length >= total || items.length === 0) break;
  }
  return all;
}

function toBudgets(kind: LimitRule["holder"], holder: Holder): BudgetOfHolder[] {
  const { id, name, budget, model_limits: modelLimits } = holder;
  // The accounts of budgets are named after the patterns as they were given.
  const rules = toRules(kind, { id, name, rateLimit: null, budget, modelLimits }, asWritten);
  return rules.flatMap((rule) => (rule.budget === null ? [] : [{ rule: { ...rule, budget: rule.budget }, holder }]));
}

function shareOf({ amountPico, spentPico }: BudgetState): number {
  return amountPico === 0n ? 1 : Number(spentPico) / Number(amountPico);
}
