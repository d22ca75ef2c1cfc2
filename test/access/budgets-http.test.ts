// Budgets as callers meet them: over HTTP, with a vendor whose answers have a price.

import { expect, test } from "bun:test";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { createUsageCommand } from "../../src/cli/usage.ts";
import { answer } from "../support/answers.ts";
import { openTestStorage } from "../support/open-test-storage.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

// Each answer of the vendor has 9 input and 3 output tokens: 0.0012 USD at this price.
const price = { input: 100, output: 100 };
const costOfCall = 0.0012;
const gateway = await sharedGateway({
  config: { prices: { "mock/*": price, "mock2/*": price } },
  env: { SWITCHYARD_BUDGET_WAIT_MS: "1000" },
});

interface Budgeted {
  readonly budget?: object;
  readonly model_limits?: readonly object[];
  readonly team?: string;
}

async function createKey(settings: Budgeted): Promise<string> {
  const created = (await gateway.manage("POST", "/keys", { name: "budgeted", ...settings })) as { key: string };
  return created.key;
}

async function call(key: string, body: object = {}, path = "/v3/chat/completions"): Promise<Response> {
  return await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "mock/echo", max_tokens: 3, messages: [{ role: "user", content: "hi" }], ...body }),
  });
}

/** Sends calls until one is refused, and returns how many were answered and the refusal. */
async function spendAll(
  key: string,
  body: object = {},
): Promise<{ answered: number; refusal: Response; told: number }> {
  let told = 0;
  for (let answered = 0; answered < 100; answered++) {
    const response = await call(key, body);
    if (response.status !== 200) return { answered, refusal: response, told };
    told += ((await response.json()) as { cost: number }).cost;
  }
  throw new Error("No call was refused");
}

test("calls are answered until the budget does not cover the next one", async () => {
  const key = await createKey({ budget: { amount: 0.02, period: "monthly" } });
  const { answered, refusal, told } = await spendAll(key);
  expect(refusal.status).toBe(402);
  const { error, detail } = (await refusal.json()) as { error: { message: string }; detail: string };
  expect(error).toMatchObject({ type: "insufficient_quota", code: "budget_exceeded", param: null });
  expect(detail).toBe(error.message);
  expect(error.message).toMatch(
    /^The monthly budget of the key 'budgeted' is 0\.02 USD\. 0\.00\d+ USD of it are left, and this call may cost up to 0\.00\d+ USD\..* It resets at \d{4}-\d\d-01T00:00:00\.000Z\.$/,
  );
  expect(refusal.headers.get("x-budget-limit")).toBe("0.02");
  expect(refusal.headers.get("x-budget-reset")).toMatch(/-01T00:00:00/);
  expect(told).toBeLessThanOrEqual(0.02);
  // Less is left than the estimate of one call.
  expect(told).toBeGreaterThan(0.02 - 0.006);
  expect(told).toBeCloseTo(answered * costOfCall, 9);
});

test("a stream is refused before its first byte, and a Messages request in its own format", async () => {
  const key = await createKey({ budget: { amount: 0.000001 } });
  const stream = await call(key, { stream: true });
  expect(stream.status).toBe(402);
  expect(await stream.json()).toMatchObject({ error: { code: "budget_exceeded" } });
  const messages = await call(key, {}, "/v3/v1/messages");
  expect(messages.status).toBe(402);
  expect(await messages.json()).toMatchObject({ type: "error", error: { type: "billing_error" } });
  const responses = await call(key, { input: "hi", messages: undefined, max_tokens: undefined }, "/v3/responses");
  expect(responses.status).toBe(402);
});

test("the budgets of a key, its team and a model pattern apply at once", async () => {
  await gateway.manage("POST", "/teams", { name: "red", budget: { amount: 0.05 } });
  const key = await createKey({
    team: "red",
    budget: { amount: 1 },
    model_limits: [{ model: "mock2/*", budget: { amount: 0.01 } }],
  });
  const ofModel = await spendAll(key, { model: "mock2/echo" });
  expect(await ofModel.refusal.text()).toContain("for models that match 'mock2/*'");
  const ofTeam = await spendAll(key);
  expect(await ofTeam.refusal.text()).toContain("of the team 'red'");
  expect(ofModel.told + ofTeam.told).toBeLessThanOrEqual(0.05);
});

test("a change of the period or the time zone starts the count at zero, and a change back continues the earlier count", async () => {
  const settings = { name: "budgeted", budget: { amount: 0.02 } };
  const { id, key } = (await gateway.manage("POST", "/keys", settings)) as { id: string; key: string };
  const spendWith = async (budget: object): Promise<number> => {
    await gateway.manage("PATCH", `/keys/${id}`, { budget });
    return (await spendAll(key)).answered;
  };
  expect(await spendWith({ amount: 0.02, period: "none" })).toBeGreaterThan(8);
  expect(await spendWith({ amount: 0.02, period: "none", time_zone: "Asia/Tokyo" })).toBe(0);
  expect(await spendWith({ amount: 0.02, period: "monthly" })).toBeGreaterThan(8);
  expect(await spendWith({ amount: 0.02, period: "monthly", time_zone: "Asia/Tokyo" })).toBeGreaterThan(8);
  expect(await spendWith({ amount: 0.02, period: "none" })).toBe(0);
});

test("a failed call costs nothing", async () => {
  const key = await createKey({ budget: { amount: 0.02 } });
  gateway.vendor.on("broken", answer(400, { error: { message: "no" } }));
  for (let sent = 0; sent < 20; sent++) expect((await call(key, { model: "mock/broken" })).status).toBe(400);
  const { answered } = await spendAll(key);
  expect(answered).toBeGreaterThan(8);
});

test("a model without a price is refused, and named", async () => {
  const key = await createKey({ budget: { amount: 1 } });
  const response = await call(key, { model: "mockchat/unpriced" });
  expect(response.status).toBe(402);
  const { error } = (await response.json()) as { error: { message: string } };
  expect(error).toMatchObject({ code: "price_unknown", param: "model" });
  expect(error.message).toContain("'mockchat/unpriced'");
});

test("a budget of zero refuses every call, with the code of the specification", async () => {
  const key = await createKey({ budget: { amount: 0 } });
  const response = await call(key);
  expect(response.status).toBe(402);
  expect(await response.json()).toMatchObject({ error: { code: "insufficient_credits" } });
});

test("ledger, budgets and totals agree", async () => {
  const lines: string[] = [];
  const context = {
    print: (line: string) => void lines.push(line),
    printError: console.error,
    openStorage: () => openTestStorage({ dataDir: gateway.dataFolder }),
  };
  // Lines are stored a moment after the answer.
  await waitFor("the lines of the last call", async () => {
    lines.length = 0;
    const exitCode = await runCommandLine(createUsageCommand(context), ["check", "--json"], context);
    expect(exitCode).toBe(0);
    return (JSON.parse(lines.join("\n")) as { lines: number }).lines >= gateway.vendor.requests.length;
  });
});
