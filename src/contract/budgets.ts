// `GET /v3/manage/budgets`: query and answer.

import { z } from "zod";
import { component } from "./component.ts";
import { wholeNumberText } from "./text-values.ts";

const holders = ["key", "team"] as const;

/** Unknown parameters are ignored: proxies and browsers add their own. */
export const listBudgetsQuery = z.object({
  holder: z.enum(holders).optional().describe("Only budgets of keys, or only budgets of teams."),
  limit: wholeNumberText(1, 10_000).default(1_000).describe("Only the first budgets."),
});

/** The members that describe a budget now. */
export const budgetState = {
  amount: z.number().describe("USD that may be spent in the period, including a raise that applies now."),
  period: z.string().describe("`none`, `daily`, `weekly` or `monthly`."),
  time_zone: z.string(),
  spent: z.number().describe("USD that were spent in this period, exact. Calls that still run are not included."),
  left: z.number().describe("USD, exact."),
  resets_at: z.iso.datetime().nullable().describe("When the next period begins. Null: never."),
};

const budget = component("BudgetOfHolder", {
  holder: z.enum(holders),
  id: z.uuid().describe("The id of the key or team."),
  name: z.string().describe("The name of the key or team."),
  team: z.string().nullable().describe("The name of the team, or of the team of the key."),
  model: z.string().nullable().describe("The pattern of models to which the budget applies; null for all."),
  ...budgetState,
});

export const budgetList = component("BudgetsOfHolders", {
  items: z.array(budget).describe("The budget of which the largest part is spent comes first."),
  total: z.int().describe("Budgets before `limit`."),
});

export type ListBudgetsRequest = z.output<typeof listBudgetsQuery>;
