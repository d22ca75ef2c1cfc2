// Limits of keys and teams: rate limits, budgets, and both for the models that a pattern names.

import { z } from "zod";
import { suggest } from "../lib/find-nearest.ts";
import { isExactPrice } from "../lib/money.ts";
import { addProblem, closedObject, refuse } from "./problems.ts";
import { defaultTags } from "./tags.ts";

const budgetPeriods = ["none", "daily", "weekly", "monthly"] as const;

// A 64-bit column of pico-dollars ends at 9.2 million dollars.
const largestBudgetUsd = 9_000_000;
const largestRate = 1_000_000_000;
const maxModelLimits = 20;
const maxPatterns = 256;

/** The characters of model names, and `*` for any text. A pattern with other characters would match no model. */
const patternForm = /^[A-Za-z0-9_.:@+~=*/-]{1,256}$/;
const modelPattern = z.string().regex(patternForm, {
  abort: true,
  message: "String should be the name of a model, where * stands for any text, such as openai/*",
});

const rate = z.int().min(1).max(largestRate).nullable();

const rateLimit = closedObject({
  requests_per_second: rate.default(null),
  requests_per_minute: rate.default(null),
  tokens_per_minute: rate.default(null).describe("Input and output tokens together."),
  concurrent_requests: rate.default(null).describe("Requests that run at the same time, streams included."),
}).meta({ id: "RateLimitSettings" });

const usd = z
  .number()
  .min(0, { abort: true })
  .max(largestBudgetUsd, { abort: true })
  .refine(isExactPrice, {
    params: { type: "decimal_max_places" },
    message: "Input should have at most six decimals: the smallest amount is 0.000001 USD",
  });

const raise = closedObject({
  amount: usd.gt(0).describe("What is added to the budget, in USD."),
  until: z.iso.datetime({ offset: true }).describe("When the raise ends, by itself."),
});

const budgetMembers = {
  amount: usd.describe("USD in one period. 0 refuses every call."),
  period: z
    .enum(budgetPeriods)
    .default("none")
    .describe(
      "When spending is counted from zero again: never, or with each day, week (from Monday) or month. A change of the period of an " +
        "existing budget also starts the count at zero.",
    ),
  time_zone: z
    .string()
    .max(64, { abort: true })
    .superRefine(refuseUnknownTimeZone)
    .default("UTC")
    .describe(
      "The time zone in which days, weeks and months begin, such as `Europe/Berlin`. A change that moves the beginning of the current " +
        "period starts the count of an existing budget at zero.",
    ),
};

const budget = closedObject({
  ...budgetMembers,
  raise: raise.nullable().default(null).describe("A temporary raise."),
})
  .check((payload) => {
    const { amount, raise: raised } = payload.value;
    if (amount + (raised?.amount ?? 0) <= largestBudgetUsd) return;
    addProblem(payload, "less_than_equal", `Amount and raise should be at most ${largestBudgetUsd} together`, [
      "raise",
    ]);
  })
  .meta({ id: "BudgetSettings" });

const descriptions = {
  allowed_models: "Patterns such as `sandbox/*`; null allows every model.",
  rate_limit: "Null: no limit.",
  budget: "What may be spent, in USD. Null: no limit.",
  model_limits:
    "Limits for the models that a pattern names. A call must keep to all limits whose pattern its model fits.",
  tags: "Pairs that every call carries in usage reports.",
};

function modelLimitsWith<Budget extends z.ZodObject>(budgetSchema: Budget) {
  const limit = closedObject({
    model: modelPattern
      .refine((pattern) => /[/*]/.test(pattern), "String should name a provider and a model, such as openai/*")
      .describe("A pattern such as `openai/*`."),
    rate_limit: rateLimit.nullable().default(null),
    budget: budgetSchema.nullable().default(null),
  }).refine((one) => one.rate_limit !== null || one.budget !== null, "Input should have a rate_limit or a budget");
  const list = z.array(limit).max(maxModelLimits).superRefine(refuseRepeatedPatterns);
  return list.nullable().describe(descriptions.model_limits);
}

/** The members that keys and teams have in common. */
export const limitSettings = {
  allowed_models: z.array(modelPattern).min(1).max(maxPatterns).nullable().describe(descriptions.allowed_models),
  rate_limit: rateLimit.nullable().describe(descriptions.rate_limit),
  budget: budget.nullable().describe(descriptions.budget),
  model_limits: modelLimitsWith(budget),
  tags: defaultTags.nullable().describe(descriptions.tags),
};

const storedRateLimit = z.strictObject({
  requests_per_second: z.number().nullable(),
  requests_per_minute: z.number().nullable(),
  tokens_per_minute: z.number().nullable(),
  concurrent_requests: z.number().nullable(),
});

const storedBudget = z.strictObject({
  amount: z.number(),
  period: z.enum(budgetPeriods),
  time_zone: z.string(),
  raise: z
    .strictObject({ amount: z.number(), until: z.iso.datetime({ offset: true }) })
    .nullable()
    .describe("Null: no raise, or one that has ended."),
});

/** The same members in answers. */
export const shownLimits = {
  allowed_models: z.array(z.string()).nullable().describe(descriptions.allowed_models),
  rate_limit: storedRateLimit.nullable().describe(descriptions.rate_limit),
  budget: storedBudget.nullable().describe(descriptions.budget),
  model_limits: z
    .array(
      z.strictObject({ model: z.string(), rate_limit: storedRateLimit.nullable(), budget: storedBudget.nullable() }),
    )
    .describe(descriptions.model_limits),
  tags: z.record(z.string(), z.string()).describe(descriptions.tags),
};

const defaultBudget = closedObject(budgetMembers);

/** What `switchyard.yaml` may set for new keys and teams. A raise has an end, so it cannot be a default. */
export const limitDefaults = closedObject({
  allowed_models: limitSettings.allowed_models,
  rate_limit: limitSettings.rate_limit,
  budget: defaultBudget.nullable().describe(descriptions.budget),
  model_limits: modelLimitsWith(defaultBudget),
  tags: limitSettings.tags,
}).partial();

export type LimitDefaults = z.output<typeof limitDefaults>;
export type RateLimit = z.output<typeof storedRateLimit>;
export type Budget = z.output<typeof storedBudget>;
export interface ModelLimit {
  readonly model: string;
  readonly rate_limit: RateLimit | null;
  readonly budget: Budget | null;
}

function refuseUnknownTimeZone(zone: string, context: z.core.$RefinementCtx<string>): void {
  if (isTimeZone(zone)) return;
  const hint = suggest(zone, ["UTC", ...Intl.supportedValuesOf("timeZone")]);
  refuse(context, "value_error", `Input should be a time zone such as UTC or Europe/Berlin${hint}`);
}

/** Names only: `Intl` also takes offsets such as `+02:00`, which know no summer time. */
function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

function refuseRepeatedPatterns(
  limits: readonly { readonly model: string }[],
  context: z.core.$RefinementCtx<unknown>,
): void {
  const seen = new Set<string>();
  for (const [index, { model }] of limits.entries()) {
    if (seen.has(model))
      context.addIssue({
        code: "custom",
        path: [index, "model"],
        message: `The pattern '${model}' is given twice: merge its limits into one entry`,
      });
    seen.add(model);
  }
}
