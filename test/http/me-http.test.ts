// `/v3/me`: what a key learns about itself, over real HTTP.

import { expect, test } from "bun:test";
import { meObject } from "../../src/contract/me.ts";
import { quiet } from "../contracts/engines.ts";
import { addLines, makeLine, makeRefusal } from "../support/ledger-lines.ts";
import { sharedGateway } from "../support/test-gateway.ts";

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

test("sandbox keys may ask, management keys and wrong keys may not", async () => {
  const sandbox = await createKey({ kind: "sandbox" });
  expect(JSON.parse((await me(sandbox.key)).text)).toMatchObject({ kind: "sandbox", usage: { lines: 0, cost: 0 } });
  expect((await me(gateway.adminKey)).status).toBe(403);
  expect((await me("sk-sy-unknown")).status).toBe(401);
});
