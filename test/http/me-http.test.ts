// `/v3/me`: what a key learns about itself, over real HTTP.

import { expect, test } from "bun:test";
import { meObject } from "../../src/contract/me.ts";
import { quiet, withDatabase, withStorage } from "../contracts/engines.ts";
import { addLines, makeLine, makeRefusal } from "../support/ledger-lines.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

const gateway = await sharedGateway();
const store = { databaseUrl: null, dataDir: gateway.dataFolder, log: quiet };

type CreatedKey = { readonly id: string; readonly key: string };

async function createKey(members: object): Promise<CreatedKey> {
  return (await gateway.manage("POST", "/keys", { name: "a key", ...members })) as CreatedKey;
}

async function me(key: string) {
  const response = await fetch(`${gateway.url}/v3/me`, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, text: await response.text() };
}

test("a key sees its own usage of this month, and nothing about other keys", async () => {
  const owner = "a team";
  const mine = await createKey({ name: "mine", owner, scopes: ["embeddings"], tags: { project: "p" } });
  const other = await createKey({ name: "secret name of another", owner, tags: { project: "secret project" } });
  const now = Date.now();
  const lastMonth = new Date(now).setUTCDate(0) - 24 * 3_600_000;
  await addLines(store, [
    makeLine({ time: now, key_id: mine.id, team: owner, cost_pico: 9_007_199_254_740_993n }),
    makeRefusal({ time: now, key_id: mine.id, team: owner }),
    makeLine({ time: lastMonth, key_id: mine.id, team: owner }),
    makeLine({ time: now, key_id: other.id, team: owner, model: "secret-model" }),
  ]);
  const { status, text } = await me(mine.key);
  expect(status).toBe(200);
  const described = meObject.strict().parse(JSON.parse(text));
  expect(described).toMatchObject({
    ...{ id: mine.id, name: "mine", kind: "inference", team: owner, scopes: ["embeddings"], allowed_models: null },
    ...{ tags: { project: "p" }, limits: [], expires_at: null },
    usage: { lines: 2, input_tokens: 10, output_tokens: 5, cost_unknown: 0 },
  });
  expect(text).toContain('"cost":9007.199254740993');
  expect(text).not.toContain("secret");
  expect(text).not.toContain(other.id);
  expect(text).not.toContain(mine.key);
  expect(JSON.parse((await me(other.key)).text).usage.lines).toBe(1);
});

test("a key sees what is left of its limits and of those of its team", async () => {
  const team = (await gateway.manage("POST", "/teams", { name: "limited" })) as { id: string };
  const { id, key } = await createKey({ team: "limited", rate_limit: { requests_per_minute: 60 } });
  const daily = { amount: 5.5, period: "daily", time_zone: "Asia/Tokyo", raise: null } as const;
  const whole = { amount: 20_000, period: "none", time_zone: "UTC", raise: null } as const;
  const noRates = { requests_per_second: null, requests_per_minute: null, concurrent_requests: null };
  await withStorage(store, async ({ keys, teams }) => {
    await keys.update(id, {
      rateLimit: { ...noRates, requests_per_minute: 60, concurrent_requests: 5, tokens_per_minute: null },
      budget: daily,
      modelLimits: [{ model: "mock/*", rate_limit: { ...noRates, tokens_per_minute: 1_000 }, budget: null }],
    });
    await teams.update(team.id, { budget: whole });
  });
  const day = new Date(Date.now() + 9 * 3_600_000).toISOString().slice(0, 10);
  const startOfDay = Date.parse(`${day}T00:00:00+09:00`);
  await withDatabase(store, async ({ sql }) => {
    const account = { limit_pico: 0n, alerted: 0, wanted_until: 0 };
    await sql`insert into budget_accounts ${sql.columns([
      {
        ...account,
        id: `key:${id} daily ${startOfDay}`,
        rule_id: `key:${id}`,
        period_start: startOfDay,
        period_end: startOfDay,
        spent_pico: 5_000_000_000_001n,
      },
      {
        ...account,
        id: `team:${team.id} none 0`,
        rule_id: `team:${team.id}`,
        period_start: 0,
        period_end: null,
        spent_pico: 30_000_000_000_000_000n,
      },
    ])}`;
  });
  const text = await waitFor("the gateway to notice the limits", async () => {
    const { text } = await me(key);
    return text.includes('"team","model":null') && text.includes("Asia/Tokyo") ? text : null;
  });
  const { limits, usage } = meObject.strict().parse(JSON.parse(text));
  const resets_at = new Date(startOfDay + 24 * 3_600_000).toISOString();
  expect(limits).toEqual([
    {
      ...{ holder: "key", model: null },
      rates: [
        { name: "requests_per_minute", limit: 60, remaining: expect.any(Number), reset_seconds: expect.any(Number) },
        { name: "concurrent_requests", limit: 5, remaining: 4, reset_seconds: 0 },
      ],
      budget: {
        amount: 5.5,
        period: "daily",
        time_zone: "Asia/Tokyo",
        spent: 5.000000000001,
        left: 0.499999999999,
        resets_at,
      },
    },
    {
      ...{ holder: "key", model: "mock/*" },
      rates: [{ name: "tokens_per_minute", limit: 1_000, remaining: 1_000, reset_seconds: 0 }],
      budget: null,
    },
    {
      ...{ holder: "team", model: null, rates: [] },
      budget: { amount: 20_000, period: "none", time_zone: "UTC", spent: 30_000, left: 0, resets_at: null },
    },
  ]);
  // The key is younger than the period of its budget.
  expect(Date.parse(usage.from)).toBeGreaterThan(startOfDay);
});

test("no cache stores an answer that needs a key, nor its refusal", async () => {
  const { key } = await createKey({});
  for (const secret of [key, "wrong"]) {
    const { headers } = await fetch(`${gateway.url}/v3/me`, { headers: { authorization: `Bearer ${secret}` } });
    expect(headers.get("cache-control")).toBe("no-store");
  }
});

test("sandbox keys may ask, management keys and wrong keys may not", async () => {
  const sandbox = await createKey({ kind: "sandbox" });
  expect(JSON.parse((await me(sandbox.key)).text)).toMatchObject({ kind: "sandbox", usage: { lines: 0, cost: 0 } });
  expect((await me(gateway.adminKey)).status).toBe(403);
  expect((await me("sk-sy-unknown")).status).toBe(401);
});
