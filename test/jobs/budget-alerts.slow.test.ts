// Webhooks that announce a budget that runs low, and budgets of jobs.

import { afterAll, expect, test } from "bun:test";
import { startGatewayProcess } from "../support/gateway-process.ts";
import { startHooks } from "../support/hooks.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

interface Alert {
  readonly event: string;
  readonly id: string;
  readonly threshold_percent: number;
  readonly budget: { readonly holder: string; readonly id: string; readonly model: string | null };
}

const received: { alert: Alert; headers: Headers }[] = [];
const vendor = await startVendor();
const hooks = await startHooks(async (request) => {
  received.push({ alert: (await request.json()) as Alert, headers: request.headers });
  return new Response(null, { status: 204 });
});
// Each answer of the vendor costs 0.0012 USD at this price.
const price = { input: 100, output: 100 };
const gateway = await startGatewayProcess({
  vendor,
  jobWorkers: 1,
  workers: 2,
  config: { prices: { "mock/*": price, "mockchat/*": price } },
  env: {
    ...hooks.env,
    SWITCHYARD_BUDGET_ALERT_WEBHOOK: hooks.urlOf("/budgets"),
    SWITCHYARD_BUDGET_ALERT_THRESHOLDS: "80,50",
  },
});
afterAll(async () => {
  await gateway.stop();
  await hooks.stop();
  await vendor.stop();
});

async function createKey(settings: object): Promise<{ id: string; key: string }> {
  return (await gateway.manage("POST", "/keys", { name: "budgeted", ...settings })) as { id: string; key: string };
}

async function post(key: string, path: string, body: object): Promise<Response> {
  return await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

test("each threshold is announced once, with the signature of all webhooks", async () => {
  const { id, key } = await createKey({ budget: { amount: 0.02, period: "monthly" } });
  const body = { model: "mock/echo", max_tokens: 3, messages: [{ role: "user", content: "hi" }] };
  for (let status = 200; status === 200; ) status = (await post(key, "/v3/chat/completions", body)).status;
  await waitFor("both alerts", async () => received.length >= 2);
  const alerts = received.map(({ alert }) => alert).toSorted((a, b) => a.threshold_percent - b.threshold_percent);
  expect(alerts).toMatchObject([
    {
      event: "budget_threshold_reached",
      threshold_percent: 50,
      limit: 0.02,
      budget: { holder: "key", id, model: null },
    },
    {
      event: "budget_threshold_reached",
      threshold_percent: 80,
      limit: 0.02,
      budget: { holder: "key", id, model: null },
    },
  ]);
  for (const { alert, headers } of received) {
    expect(headers.get("webhook-id")).toBe(alert.id);
    expect(headers.get("webhook-signature")).toStartWith("v1a,");
    expect(headers.get("x-service-signature")).not.toBeNull();
  }
  expect(gateway.log()).toContain("80 % of a budget are spent");
  expect(received).toHaveLength(2);
});

const job = {
  model: "text/summarize/mockchat/priced",
  input: { text: "A long text about nothing.", output_sentences: 1 },
};

test("a job is refused when it is submitted, if its budget is spent then", async () => {
  const { key } = await createKey({ model_limits: [{ model: "text/*", budget: { amount: 0 } }] });
  const response = await post(key, "/v3/universal-ai/async", job);
  expect(response.status).toBe(402);
  expect(await response.json()).toMatchObject({ error: { code: "budget_exceeded" } });
});

test("a job fails with the reason, if its budget does not cover its run", async () => {
  const { key } = await createKey({ budget: { amount: 0.000001 } });
  const response = await post(key, "/v3/universal-ai/async", job);
  const { job_id } = (await response.json()) as { job_id: string };
  const ended = await waitFor("the job to end", async () => {
    const found = await fetch(`${gateway.url}/v3/universal-ai/async/${job_id}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const object = (await found.json()) as { status: string; error: { message: string } | null };
    return object.status === "processing" ? null : object;
  });
  expect(ended).toMatchObject({ status: "fail" });
  expect(ended.error?.message).toContain("budget of the key 'budgeted'");
});
