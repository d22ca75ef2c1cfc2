// `/v3/manage/keys` and `/v3/manage/whoami`: requests and answers.

import { z } from "zod";
import { strictComponent } from "./component.ts";
import { limitSettings, shownLimits } from "./limits.ts";
import { pageOf, pageQuery } from "./paging.ts";
import { addProblem } from "./problems.ts";
import { roles } from "./roles.ts";
import { booleanText, plainText, uuidText } from "./text-values.ts";

export const keyKinds = ["inference", "management", "sandbox"] as const;
export const keyScopes = ["chat", "responses", "universal", "embeddings"] as const;

const descriptions = {
  name: "What people call the key.",
  kind: "`inference` calls models, `management` manages the gateway, `sandbox` is free and answered by the sandbox.",
  team: "The team that the key belongs to. The limits and allowed models of the team apply to all its keys together. Keys of one team share files, jobs and stored responses.",
  owner: "Older name of `team`. A request of an administrator that sets it creates the team if it does not exist.",
  role:
    "What a management key may do: a `viewer` reads, an `operator` also changes keys and jobs, an `administrator` does everything. With a " +
    "team, the role is limited to that team. Null for other keys.",
  scopes: "The groups of endpoints that the key may call.",
  expires_at: "When the key stops working. Null: never.",
  enabled: "Whether the key works. A disabled key can be enabled again.",
};

const settings = {
  name: plainText(128).describe(descriptions.name),
  team: plainText(256).nullable().describe(`${descriptions.team} Name or id of an existing team.`),
  owner: plainText(256).nullable().describe(descriptions.owner),
  role: z.enum(roles).describe(descriptions.role),
  scopes: z.array(z.enum(keyScopes)).min(1).max(keyScopes.length).describe(descriptions.scopes),
  ...limitSettings,
  expires_at: z.iso.datetime({ offset: true }).nullable().describe(descriptions.expires_at),
  enabled: z.boolean().describe(descriptions.enabled),
};

export const createKeyRequest = z
  .strictObject({
    name: settings.name,
    kind: z.enum(keyKinds).default("inference").describe(descriptions.kind),
    team: settings.team.optional(),
    owner: settings.owner.optional(),
    role: settings.role.optional().describe(`${descriptions.role} Default of a management key: \`administrator\`.`),
    scopes: settings.scopes
      .optional()
      .describe("The groups of endpoints that the key may call; all when absent. Management keys have none."),
    allowed_models: settings.allowed_models.optional(),
    rate_limit: settings.rate_limit.optional(),
    budget: settings.budget.optional(),
    model_limits: settings.model_limits.optional(),
    expires_at: settings.expires_at.default(null),
    tags: settings.tags.optional(),
    enabled: settings.enabled.default(true),
  })
  .refine(({ kind, scopes }) => kind !== "management" || scopes === undefined, {
    path: ["scopes"],
    message: "Scopes belong to inference and sandbox keys; a management key has none",
  })
  .refine(({ kind, role }) => kind === "management" || role === undefined, {
    path: ["role"],
    message: "Roles belong to management keys; inference and sandbox keys have scopes",
  })
  .check(refuseTwoTeams)
  .meta({ id: "CreateKeyRequest" });

export const updateKeyRequest = z
  .strictObject(settings)
  .partial()
  .check(refuseTwoTeams)
  .meta({ id: "UpdateKeyRequest" });

function refuseTwoTeams(
  payload: z.core.ParsePayload<{ team?: string | null | undefined; owner?: string | null | undefined }>,
): void {
  const { team, owner } = payload.value;
  if (team === undefined || owner === undefined || team === owner) return;
  addProblem(payload, "value_error", "This is the older spelling of `team`: send one of the two", ["owner"]);
}

export const rotateKeyRequest = strictComponent("RotateKeyRequest", {
  grace_seconds: z.int().min(0).max(86_400).default(0).describe("How long the old secret keeps working."),
});

/** Unknown parameters are ignored: proxies and browsers add their own. */
const keyStates = ["active", "expired", "revoked"] as const;

export const listKeysQuery = z.object({
  kind: z.enum(keyKinds).optional().describe("Only keys of this kind."),
  enabled: booleanText.optional().describe("Only enabled keys, or only disabled ones."),
  state: z
    .enum(keyStates)
    .optional()
    .describe("`active`: neither expired nor revoked; `expired`: and not revoked; `revoked`. Default: all keys."),
  team: plainText(256).optional().describe("Only keys of this team: its name or id."),
  owner: plainText(256).optional().describe("Older name of `team`."),
  search: plainText(256)
    .optional()
    .describe(
      "Only keys whose name or team contains this text, whose secret ends with it as `masked` shows it, or that have it as their id. The case of the " +
        "letters A to Z does not matter.",
    ),
  ...pageQuery,
});

export const keyPath = z.object({ key_id: uuidText.describe("The key's id.") });

export const keyObject = strictComponent("Key", {
  id: z.uuid(),
  name: z.string().describe(descriptions.name),
  kind: z.enum(keyKinds).describe(descriptions.kind),
  masked: z.string().describe("Enough of the secret to recognise it by."),
  team: z.string().nullable().describe(`${descriptions.team} Its name.`),
  owner: z.string().nullable().describe("Older name of `team`."),
  role: z.enum(roles).nullable().describe(descriptions.role),
  scopes: z.array(z.enum(keyScopes)).describe(descriptions.scopes),
  ...shownLimits,
  expires_at: z.iso.datetime().nullable().describe(descriptions.expires_at),
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

export type KeyState = (typeof keyStates)[number];
export type KeyKind = (typeof keyKinds)[number];
export type KeyScope = (typeof keyScopes)[number];
export type CreateKeyRequest = z.output<typeof createKeyRequest>;
export type UpdateKeyRequest = z.output<typeof updateKeyRequest>;
export type KeyObject = z.output<typeof keyObject>;
export type KeyWithSecret = z.output<typeof keyWithSecret>;
