// What the forms of keys and teams send: an empty field of something new is left out, and an emptied field of something that exists is null.

import { expect, test } from "bun:test";
import type { Key, KeyWithSecret, Team } from "../../src/dashboard/api/types.ts";
import { startsAtZero, toFields } from "../../src/dashboard/components/limit-fields.ts";
import { toChangedKey, toNewKey } from "../../src/dashboard/pages/keys/key-request.ts";
import { toChangedTeam, toNewTeam } from "../../src/dashboard/pages/teams/team-request.ts";
import { createManagementClient } from "../support/gateway-settings.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const defaults = {
  key: {
    rate_limit: { requests_per_minute: 600 },
    budget: { amount: 25, period: "monthly" },
    tags: { environment: "production" },
  },
  team: { allowed_models: ["sandbox/*"], budget: { amount: 100, period: "monthly" } },
};
const gateway = await sharedGateway({ config: { defaults } });

/** A form in which only the name was filled in. */
const emptyKey = {
  ...({ name: "program", kind: "inference", role: "viewer", team: null, expiry: "never" } as const),
  ...{ scopes: ["chat", "responses", "universal", "embeddings"], limits: toFields(null) },
};
const emptyTeam = { name: "newcomers", displayName: "", limits: toFields(null) };

test("a key and a team whose limits were left empty get the defaults of the configuration", async () => {
  const key = (await gateway.manage("POST", "/keys", toNewKey(emptyKey))) as Key;
  expect(key).toMatchObject({ ...defaults.key, team: null, expires_at: null });
  const team = (await gateway.manage("POST", "/teams", toNewTeam(emptyTeam))) as Team;
  expect(team).toMatchObject({ ...defaults.team, name: "newcomers", display_name: null });
});

test("a limit that was filled in replaces its default, and the others stay", async () => {
  const limits = { ...toFields(null), amount: 5, period: "daily", tags: ["department=research"] } as const;
  const key = (await gateway.manage("POST", "/keys", toNewKey({ ...emptyKey, limits }))) as Key;
  expect(key.budget).toMatchObject({ amount: 5, period: "daily" });
  expect(key.tags).toEqual({ department: "research" });
  expect(key.rate_limit).toMatchObject(defaults.key.rate_limit);
});

test("an operator of a team who chooses no team creates a key of that team", async () => {
  await gateway.manage("POST", "/teams", { name: "platform" });
  const operator = { name: "operator", kind: "management", role: "operator", team: "platform" };
  const { key } = (await gateway.manage("POST", "/keys", operator)) as KeyWithSecret;
  const { manage } = createManagementClient(gateway.url, key);
  expect((await manage("POST", "/keys", toNewKey(emptyKey))) as Key).toMatchObject({ team: "platform" });
});

test("a management key has the role that was chosen, and the role can be changed", async () => {
  const management = { ...emptyKey, kind: "management" } as const;
  const created = (await gateway.manage("POST", "/keys", toNewKey(management))) as Key;
  expect(created).toMatchObject({ kind: "management", role: "viewer" });
  const changed = toChangedKey({ ...management, role: "operator" }, created);
  expect(await gateway.manage("PATCH", `/keys/${created.id}`, changed)).toMatchObject({ role: "operator" });
  expect(toNewKey(emptyKey)).not.toHaveProperty("role");
});

test("fields that were emptied remove what a key and a team had", async () => {
  const limited = {
    ...{ allowed_models: ["sandbox/*"], tags: { a: "b" } },
    ...{ rate_limit: { requests_per_minute: 5 }, budget: { amount: 1, period: "daily" } },
  };
  const unlimited = { allowed_models: null, rate_limit: null, budget: null, tags: {} };
  const team = (await gateway.manage("POST", "/teams", { name: "a", display_name: "A", ...limited })) as Team;
  const key = (await gateway.manage("POST", "/keys", { name: "a", team: "a", ...limited })) as Key;
  const changedKey = await gateway.manage("PATCH", `/keys/${key.id}`, toChangedKey(emptyKey, key));
  expect(changedKey).toMatchObject({ ...unlimited, team: null });
  const changedTeam = await gateway.manage("PATCH", `/teams/${team.id}`, toChangedTeam(emptyTeam, team));
  expect(changedTeam).toMatchObject({ ...unlimited, display_name: null });
});

test("a form says that the count starts at zero only if the period of an existing budget is changed", async () => {
  const budget = { amount: 1, period: "daily" };
  const limited = (await gateway.manage("POST", "/teams", { name: "limited", budget })) as Team;
  const unlimited = (await gateway.manage("POST", "/teams", { name: "unlimited", budget: null })) as Team;
  const monthly = { amount: 5, period: "monthly" } as const;
  expect(startsAtZero({ ...toFields(limited), ...monthly }, limited)).toBe(true);
  expect(startsAtZero({ ...toFields(limited), amount: 5 }, limited)).toBe(false);
  expect(startsAtZero({ ...toFields(limited), ...monthly, amount: "" }, limited)).toBe(false);
  expect(startsAtZero({ ...toFields(unlimited), ...monthly }, unlimited)).toBe(false);
  expect(startsAtZero({ ...toFields(null), ...monthly }, null)).toBe(false);
});

test("a key expires after the days that were chosen, never, or as before", () => {
  const expiryOf = (expiry: string) => toChangedKey({ ...emptyKey, expiry }, {} as Key).expires_at;
  const days = (Date.parse(expiryOf("30") ?? "") - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(30);
  expect(expiryOf("never")).toBeNull();
  expect(toChangedKey({ ...emptyKey, expiry: "same" }, {} as Key)).not.toHaveProperty("expires_at");
});

test("one rate is a limit without the others, and a tag without a value is true", () => {
  const limits = { ...toFields(null), tokensPerMinute: 900, tags: ["urgent", " a = b=c "] };
  expect(toNewTeam({ ...emptyTeam, limits })).toMatchObject({
    rate_limit: { requests_per_minute: null, tokens_per_minute: 900, concurrent_requests: null },
    tags: { urgent: "true", a: "b=c" },
  });
});
