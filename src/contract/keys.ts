// `/v3/manage/keys` and `/v3/manage/whoami`: requests and answers.

import { z } from "zod";
import { strictComponent } from "./component.ts";
import { pageOf, pageQuery } from "./paging.ts";
import { limitedRecord } from "./problems.ts";
import { booleanText, plainText, uuidText } from "./text-values.ts";

export const keyKinds = ["inference", "management", "sandbox"] as const;
export const keyScopes = ["chat", "responses", "universal", "embeddings"] as const;
const budgetPeriods = ["none", "daily", "weekly", "monthly"] as const;

// A 64-bit column of pico-dollars ends at 9.2 million dollars.
const largestBudgetUsd = 9_000_000;
const largestRate = 1_000_000_000;

const rate = z.int().min(1).max(largestRate).nullable();
/** A limit that the gateway does not enforce is refused: if it were stored, its owner would rely on it. */
const notEnforced = { params: { type: "not_supported" } };

const rateLimit = z.strictObject({
  requests_per_second: rate.default(null),
  requests_per_minute: rate.default(null),
  tokens_per_minute: rate
    .refine((tokens): boolean => tokens === null, {
      ...notEnforced,
      message: "Limits of tokens are not enforced yet: leave it out, or use requests_per_minute",
    })
    .default(null),
});

const budget = z.strictObject({
  amount: z
    .number()
    .min(0)
    .max(largestBudgetUsd)
    .refine((amount) => amount <= 0, {
      ...notEnforced,
      message: "Budgets are not enforced yet, except for 0, which refuses every request: leave it out",
    }),
  period: z.enum(budgetPeriods).default("none"),
});

const modelPattern = z.string().regex(/^[^\s\u0000-\u001f\u007f]{1,256}$/);
const tags = limitedRecord(plainText(64), plainText(256), 10);

const descriptions = {
  name: "What people call the key.",
  kind: "`inference` calls models, `management` manages the gateway, `sandbox` is free and answered by the sandbox.",
  owner: "The person or application that the key belongs to. Keys of one owner share files, jobs and stored responses.",
  scopes: "The groups of endpoints that the key may call.",
  allowed_models: "Patterns such as `sandbox/*`; null allows every model.",
  rate_limit: "Null: no limit.",
  budget:
    "What the key may spend, in USD. Null: no limit. Only an amount of 0, which refuses every request, is enforced yet; other amounts are refused.",
  expires_at: "When the key stops working. Null: never.",
  tags: "Pairs that every call of the key carries in usage reports.",
  enabled: "Whether the key works. A disabled key can be enabled again.",
};

const settings = {
  name: plainText(128).describe(descriptions.name),
  owner: plainText(256).nullable().describe(descriptions.owner),
  scopes: z.array(z.enum(keyScopes)).min(1).max(keyScopes.length).describe(descriptions.scopes),
  allowed_models: z.array(modelPattern).min(1).max(256).nullable().describe(descriptions.allowed_models),
  rate_limit: rateLimit.nullable().describe(descriptions.rate_limit),
  budget: budget.nullable().describe(descriptions.budget),
  expires_at: z.iso.datetime({ offset: true }).nullable().describe(descriptions.expires_at),
  tags: tags.describe(descriptions.tags),
  enabled: z.boolean().describe(descriptions.enabled),
};

export const createKeyRequest = z
  .strictObject({
    name: settings.name,
    kind: z.enum(keyKinds).default("inference").describe(descriptions.kind),
    owner: settings.owner.default(null),
    scopes: settings.scopes
      .optional()
      .describe("The groups of endpoints that the key may call; all when absent. Management keys have none."),
    allowed_models: settings.allowed_models.default(null),
    rate_limit: settings.rate_limit.default(null),
    budget: settings.budget.default(null),
    expires_at: settings.expires_at.default(null),
    tags: settings.tags.default({}),
    enabled: settings.enabled.default(true),
  })
  .refine(({ kind, scopes }) => kind !== "management" || scopes === undefined, {
    path: ["scopes"],
    message: "Scopes belong to inference and sandbox keys; a management key has none",
  })
  .meta({ id: "CreateKeyRequest" });

export const updateKeyRequest = z.strictObject(settings).partial().meta({ id: "UpdateKeyRequest" });

export const rotateKeyRequest = strictComponent("RotateKeyRequest", {
  grace_seconds: z.int().min(0).max(86_400).default(0).describe("How long the old secret keeps working."),
});

/** Unknown parameters are ignored: proxies and browsers add their own. */
export const listKeysQuery = z.object({
  kind: z.enum(keyKinds).optional().describe("Only keys of this kind."),
  enabled: booleanText.optional().describe("Only enabled keys, or only disabled ones."),
  owner: z.string().min(1).max(256).optional().describe("Only keys of this owner."),
  ...pageQuery,
});

export const keyPath = z.object({ key_id: uuidText.describe("The key's id.") });

const storedRateLimit = z.strictObject({
  requests_per_second: z.number().nullable(),
  requests_per_minute: z.number().nullable(),
  tokens_per_minute: z.number().nullable(),
});
const storedBudget = z.strictObject({ amount: z.number(), period: z.enum(budgetPeriods) });

export const keyObject = strictComponent("Key", {
  id: z.uuid(),
  name: z.string().describe(descriptions.name),
  kind: z.enum(keyKinds).describe(descriptions.kind),
  masked: z.string().describe("Enough of the secret to recognise it by."),
  owner: z.string().nullable().describe(descriptions.owner),
  scopes: z.array(z.enum(keyScopes)).describe(descriptions.scopes),
  allowed_models: z.array(z.string()).nullable().describe(descriptions.allowed_models),
  rate_limit: z.nullable(storedRateLimit).describe(descriptions.rate_limit),
  budget: z.nullable(storedBudget).describe(descriptions.budget),
  expires_at: z.iso.datetime().nullable().describe(descriptions.expires_at),
  tags: z.record(z.string(), z.string()).describe(descriptions.tags),
  enabled: z.boolean().describe(descriptions.enabled),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable().describe("Null: not used yet."),
  revoked_at: z.iso.datetime().nullable().describe("Null: not revoked. A revoked key cannot be enabled again."),
});

export const keyWithSecret = keyObject
  .extend({ key: z.string().describe("The secret, shown only in this answer.") })
  .meta({ id: "KeyWithSecret" });

export const keyList = pageOf(keyObject).meta({ id: "KeyList" });

export const deletedKey = strictComponent("DeletedKey", { id: z.uuid(), deleted: z.literal(true) });

export type KeyKind = (typeof keyKinds)[number];
export type KeyScope = (typeof keyScopes)[number];
export type RateLimit = z.output<typeof rateLimit>;
export type Budget = z.output<typeof budget>;
export type CreateKeyRequest = z.output<typeof createKeyRequest>;
export type UpdateKeyRequest = z.output<typeof updateKeyRequest>;
export type KeyObject = z.output<typeof keyObject>;
export type KeyWithSecret = z.output<typeof keyWithSecret>;
