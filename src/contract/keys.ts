// What we promise about keys: `/v3/manage/keys` and `/v3/manage/whoami`, requests and answers.

import { z } from "zod";
import { limitedRecord } from "./problems.ts";

export const keyKinds = ["inference", "management", "sandbox"] as const;
export const keyScopes = ["chat", "responses", "universal", "embeddings"] as const;
const budgetPeriods = ["none", "daily", "weekly", "monthly"] as const;

// A 64-bit column of pico-dollars ends at 9.2 million dollars.
const largestBudgetUsd = 9_000_000;
const largestRate = 1_000_000_000;

/** Text for people: no control characters, which have no place in a name and of which NUL cannot be stored everywhere. */
function line(maxLength: number) {
  return z
    .string()
    .min(1)
    .max(maxLength)
    .superRefine((text, context) => {
      if (!/[\u0000-\u001f\u007f]/.test(text)) return;
      context.addIssue({
        code: "custom",
        message: "Text must not contain control characters",
        params: { type: "value_error" },
      });
    });
}

const rate = z.int().min(1).max(largestRate).nullable();
/** A limit that the gateway does not enforce is refused: stored and ignored, it would be taken for one that holds. */
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
const tags = limitedRecord(line(64), line(256), 10);

const settings = {
  name: line(128),
  owner: line(256).nullable(),
  scopes: z.array(z.enum(keyScopes)).min(1).max(keyScopes.length),
  allowed_models: z.array(modelPattern).min(1).max(256).nullable(),
  rate_limit: rateLimit.nullable(),
  budget: budget.nullable(),
  expires_at: z.iso.datetime({ offset: true }).nullable(),
  tags,
  enabled: z.boolean(),
};

export const createKeyRequest = z
  .strictObject({
    name: settings.name,
    kind: z.enum(keyKinds).default("inference"),
    owner: settings.owner.default(null),
    scopes: settings.scopes.optional(),
    allowed_models: settings.allowed_models.default(null),
    rate_limit: settings.rate_limit.default(null),
    budget: settings.budget.default(null),
    expires_at: settings.expires_at.default(null),
    tags: settings.tags.default({}),
    enabled: settings.enabled.default(true),
  })
  .superRefine((request, context) => {
    if (request.kind !== "management" || request.scopes === undefined) return;
    context.addIssue({
      code: "custom",
      path: ["scopes"],
      message: "Scopes belong to inference and sandbox keys; a management key has none",
      params: { type: "value_error" },
    });
  });

export const updateKeyRequest = z.strictObject(settings).partial();

export const rotateKeyRequest = z.strictObject({
  /** How long the old secret keeps working. */
  grace_seconds: z.int().min(0).max(86_400).default(0),
});

/** Query values arrive as text. Parameters that we do not know are somebody else's. */
export const listKeysQuery = z.object({
  kind: z.enum(keyKinds).optional(),
  enabled: z.enum(["true", "false"]).optional(),
  owner: z.string().min(1).max(256).optional(),
  page: wholeNumber(1, 1_000_000).default(1),
  limit: wholeNumber(1, 1000).default(100),
});

/** With the same words as a number in a body has. */
function wholeNumber(min: number, max: number) {
  return z.string().transform((text, context) => {
    const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : null;
    const refuse = (type: string, message: string) => {
      context.addIssue({ code: "custom", message, params: { type } });
      return z.NEVER;
    };
    if (value === null) return refuse("int_parsing", "Input should be a valid integer");
    if (value < min) return refuse("greater_than_equal", `Input should be greater than or equal to ${min}`);
    if (value > max) return refuse("less_than_equal", `Input should be less than or equal to ${max}`);
    return value;
  });
}

/** Any UUID by its form: which versions we make is not the caller's business. */
export const keyPath = z.strictObject({
  key_id: z.string().superRefine((text, context) => {
    if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return;
    context.addIssue({ code: "custom", message: "Input should be a valid UUID", params: { type: "uuid_parsing" } });
  }),
});

export const keyObject = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  kind: z.enum(keyKinds),
  masked: z.string(),
  owner: z.string().nullable(),
  scopes: z.array(z.enum(keyScopes)),
  allowed_models: z.array(z.string()).nullable(),
  rate_limit: z
    .strictObject({
      requests_per_second: z.number().nullable(),
      requests_per_minute: z.number().nullable(),
      tokens_per_minute: z.number().nullable(),
    })
    .nullable(),
  budget: z.strictObject({ amount: z.number(), period: z.enum(budgetPeriods) }).nullable(),
  expires_at: z.iso.datetime().nullable(),
  tags: z.record(z.string(), z.string()),
  enabled: z.boolean(),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable(),
  /** Set once and for ever: a revoked key cannot be enabled again. */
  revoked_at: z.iso.datetime().nullable(),
});

/** The answer to create and rotate: `key` is the secret, shown this once. */
export const keyWithSecret = keyObject.extend({ key: z.string() });

export const keyList = z.strictObject({
  items: z.array(keyObject),
  total: z.int(),
  page: z.int(),
  limit: z.int(),
  total_pages: z.int(),
});

export const deletedKey = z.strictObject({ id: z.uuid(), deleted: z.literal(true) });

export type KeyKind = (typeof keyKinds)[number];
export type KeyScope = (typeof keyScopes)[number];
export type RateLimit = z.output<typeof rateLimit>;
export type Budget = z.output<typeof budget>;
export type CreateKeyRequest = z.output<typeof createKeyRequest>;
export type UpdateKeyRequest = z.output<typeof updateKeyRequest>;
export type KeyObject = z.output<typeof keyObject>;
export type KeyWithSecret = z.output<typeof keyWithSecret>;
export type KeyList = z.output<typeof keyList>;
