// `/v3/me`: what a key may learn about itself.

import { z } from "zod";
import { budgetState } from "./budgets.ts";
import { component } from "./component.ts";
import { keyKinds, keyScopes } from "./keys.ts";
import { usageSums } from "./usage.ts";

const rateState = component("RateState", {
  name: z.string().describe("The limit, such as `requests_per_minute`."),
  limit: z.number(),
  remaining: z.number(),
  reset_seconds: z.number().describe("Seconds until the limit has recovered completely, without further requests."),
});

const limit = component("LimitState", {
  holder: z
    .enum(["key", "team"])
    .describe("Whether the limit belongs to the key, or is shared by all keys of its team."),
  model: z.string().nullable().describe("The pattern of models to which the limit applies; null for all."),
  rates: z.array(rateState).describe("Rate limits. With several gateways, what is left at the one that answers."),
  budget: component("BudgetState", budgetState).nullable().describe("Null: no budget."),
});

export const meObject = component("Me", {
  id: z.uuid(),
  name: z.string(),
  kind: z.enum(keyKinds),
  masked: z.string().describe("Enough of the secret to recognise it by."),
  team: z.string().nullable(),
  scopes: z.array(z.enum(keyScopes)),
  allowed_models: z.array(z.string()).nullable().describe("Null: all models."),
  tags: z.record(z.string(), z.string()),
  expires_at: z.iso.datetime().nullable().describe("When the key stops working. Null: never."),
  limits: z.array(limit).describe("A call must pass all of them that apply to its model."),
  usage: usageSums
    .extend({ from: z.iso.datetime(), to: z.iso.datetime() })
    .meta({ id: "UsageOfPeriod" })
    .describe(
      "Of this key alone, in whole hours: since the start of the period of its own budget, otherwise of the month in UTC.",
    ),
});
