// Real calls at a real gateway, and what the reports say about them. The vendor's answers are invented, in documented shapes.

import { expect, test } from "bun:test";
import { meObject } from "../../src/contract/me.ts";
import { requestDetail, usageReport } from "../../src/contract/usage.ts";
import { answer, completion } from "../support/answers.ts";
import { ask, hello } from "../support/chat.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const vendor = await startVendor();
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_BREAKER_FAILURES: "0", SWITCHYARD_RETRIES: "0" },
  config: { prices: { "mock/*": { input: 1.5, cache_read: 0.15, output: 7.25 } } },
});
const shop = (await gateway.manage("POST", "/keys", { name: "shop", tags: { app: "shop" } })) as KeyOfTest;
const other = (await gateway.manage("POST", "/keys", { name: "other" })) as KeyOfTest;

interface KeyOfTest {
  readonly id: string;
  readonly key: string;
}

const usage = {
  ...{ prompt_tokens: 1_000, completion_tokens: 37, total_tokens: 1_037 },
  ...{ prompt_tokens_details: { cached_tokens: 200 }, completion_tokens_details: { reasoning_tokens: 12 } },
};

async function call(requestId: string, key: string, body: unknown = hello) {
  const response = await ask(gateway.url, key, body, { headers: { "x-request-id": requestId } });
  return { status: response.status, text: await response.text() };
}

async function report(query: string) {
  return usageReport.parse(await gateway.manage("GET", `/usage?from=24h&${query}`));
}

async function show(requestId: string) {
  return requestDetail.parse(await gateway.manage("GET", `/requests/${requestId}`));
}

test("reports, requests and /v3/me agree with what callers were told", async () => {
  const costs: number[] = [];
  for (const index of [1, 2, 3]) {
    vendor.next(answer(200, completion("hi", { usage })));
    const { status, text } = await call(`answered-${index}`, shop.key);
    expect(status).toBe(200);
    costs.push((JSON.parse(text) as { cost: number }).cost);
  }
  // 800 × 1.5 + 200 × 0.15 + 37 × 7.25 micro-dollars.
  expect(costs).toEqual([0.00149825, 0.00149825, 0.00149825]);
  expect((await call("refused-1", shop.key, { model: "mock/echo" })).status).toBe(422);
  expect((await call("refused-2", "sk-sy-wrong")).status).toBe(401);
  vendor.next(answer(500, '{"error":{"message":"overloaded"}}'));
  expect((await call("failed-1", other.key)).status).toBe(502);

  const byKey = await waitFor("the lines to be stored", async () => {
    const found = await report("group_by=key,outcome");
    return found.totals.lines >= 6 ? found : null;
  });
  const rowOf = (key: string | null, outcome: string) =>
    byKey.rows.find((row) => row.key === key && row.outcome === outcome);
  expect(rowOf(shop.id, "completed")).toMatchObject({
    ...{
      key_name: "shop",
      lines: 3,
      input_tokens: 3_000,
      output_tokens: 111,
      cached_tokens: 600,
      reasoning_tokens: 36,
    },
    ...{ cost: 0.00449475, cost_unknown: 0 },
  });
  expect(rowOf(shop.id, "invalid_request")).toMatchObject({ lines: 1, cost: 0, cost_unknown: 0 });
  expect(rowOf(null, "invalid_api_key")).toMatchObject({ key_name: null, lines: 1, cost: 0 });
  expect(rowOf(other.id, "provider_error")).toMatchObject({ key_name: "other", lines: 1, cost: 0, cost_unknown: 0 });
  expect((await report("group_by=tag:app")).rows.map((row) => [row["tag:app"], row.lines])).toEqual([
    ["shop", 4],
    [null, 2],
  ]);
  const response = await fetch(`${gateway.url}/v3/me`, { headers: { authorization: `Bearer ${shop.key}` } });
  expect(meObject.parse(await response.json()).usage).toMatchObject({ lines: 4, cost: 0.00449475 });
});

test("a request shows its price and the parts that add up to its cost", async () => {
  const { cost, attempts } = await show("answered-1");
  expect(cost).toBe(0.00149825);
  const [attempt] = attempts;
  expect(attempt).toMatchObject({
    ...{
      key: shop.id,
      key_name: "shop",
      provider: "mock",
      model: "echo",
      attempt: 1,
      outcome: "completed",
      status: 200,
    },
    ...{ tokens: { input: 800, cacheRead: 200, output: 25, reasoning: 12 }, cost_note: null },
    price: { version: "operator", source: null },
    usage: { usage },
  });
  expect(attempt?.cost_parts).toEqual([
    { kind: "input", model: null, quantity: 800, unit_price: 0.0000015, amount: 0.0012 },
    { kind: "cache_read", model: null, quantity: 200, unit_price: 0.00000015, amount: 0.00003 },
    { kind: "output", model: null, quantity: 25, unit_price: 0.00000725, amount: 0.00018125 },
    { kind: "reasoning", model: null, quantity: 12, unit_price: 0.00000725, amount: 0.000087 },
  ]);
});

test("refused and failed requests are shown with their reason", async () => {
  expect((await show("refused-1")).attempts).toMatchObject([
    { attempt: 0, key: shop.id, status: 422, outcome: "invalid_request", reason: "body.messages: Field required" },
  ]);
  expect((await show("refused-2")).attempts).toMatchObject([{ attempt: 0, key: null, status: 401, cost_parts: null }]);
  const failed = await show("failed-1");
  expect(failed).toMatchObject({ cost: 0, attempts: [{ attempt: 1, status: 502, cost_reason: "not_answered" }] });
});

test("a task is shown with its units or as free", async () => {
  const body = { model: "text/sentiment_analysis/sandbox", input: { text: "Good." } };
  const response = await ask(gateway.url, shop.key, body, {
    path: "/v3/universal-ai",
    headers: { "x-request-id": "task-1" },
  });
  expect(response.status).toBe(200);
  const found = await waitFor("the line", () => show("task-1").catch(() => null));
  expect(found).toMatchObject({
    cost: 0,
    attempts: [{ task: "text/sentiment_analysis", provider: "sandbox", cost: 0, cost_parts: [] }],
  });
});
