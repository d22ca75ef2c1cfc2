// Temporary raises of budgets, over HTTP.

import { expect, test } from "bun:test";
import { sharedGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

// Each answer of the vendor costs 0.0012 USD at this price.
const gateway = await sharedGateway({
  config: { prices: { "mock/*": { input: 100, output: 100 } } },
  env: { SWITCHYARD_BUDGET_WAIT_MS: "100" },
});

async function call(key: string): Promise<number> {
  const response = await fetch(`${gateway.url}/v3/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "mock/echo", max_tokens: 3, messages: [{ role: "user", content: "hi" }] }),
  });
  await response.arrayBuffer();
  return response.status;
}

const inMs = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();

test.each([
  ["a team", 0.000001],
  ["a team with nothing else to spend", 0],
])("a raise of %s lets calls pass until it ends, without a restart", async (name, amount) => {
  const budget = { amount, period: "monthly", raise: { amount: 1, until: inMs(86_400_000) } };
  const { id } = (await gateway.manage("POST", "/teams", { name, budget })) as { id: string };
  const { key } = (await gateway.manage("POST", "/keys", { name: "a key", team: id })) as { key: string };
  expect(await call(key)).toBe(200);
  await gateway.manage("PATCH", `/teams/${id}`, { budget: { ...budget, raise: { amount: 1, until: inMs(4_000) } } });
  await waitFor("the end of the raise", async () => (await call(key)) === 402);
  expect(await gateway.manage("GET", `/teams/${id}`)).toMatchObject({ budget: { amount, raise: null } });
  await gateway.manage("PATCH", `/teams/${id}`, { budget });
  expect(await call(key)).toBe(200);
});

test("a key with a budget of zero works while it is raised", async () => {
  const budget = { amount: 0, raise: { amount: 1, until: inMs(86_400_000) } };
  const { id, key } = (await gateway.manage("POST", "/keys", { name: "a key", budget })) as { id: string; key: string };
  expect(await call(key)).toBe(200);
  await gateway.manage("PATCH", `/keys/${id}`, { budget: { amount: 0 } });
  expect(await call(key)).toBe(402);
});
