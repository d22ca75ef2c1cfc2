// Percentiles of latencies over HTTP.

import { expect, test } from "bun:test";
import { sharedGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

const gateway = await sharedGateway();

interface Percentiles {
  readonly count: number;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

interface Report {
  readonly steps: readonly {
    readonly from: string;
    readonly latency: Percentiles;
    readonly first_token: Percentiles;
  }[];
  readonly total: { readonly latency: Percentiles; readonly first_token: Percentiles };
}

const read = async (query = "") => (await gateway.manage("GET", `/latency${query}`)) as Report;

async function call(key: string, body: object): Promise<void> {
  const response = await fetch(`${gateway.url}/v3/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "Hi" }], ...body }),
  });
  await response.text();
}

test("completed calls and streams are counted, refused ones are not", async () => {
  expect((await read()).total).toEqual({
    latency: { count: 0, p50: null, p95: null, p99: null },
    first_token: { count: 0, p50: null, p95: null, p99: null },
  });
  await gateway.manage("POST", "/teams", { name: "measured" });
  const key = await gateway.createKey({ name: "measured", team: "measured" } as object);
  await call(key, { model: "mock/m" });
  await call(key, { model: "mock/m", stream: true });
  await call(key, { model: "unknown/m" });
  const report = await waitFor("both calls", async () => {
    const found = await read("?team=measured&from=24h&step_hours=1");
    return found.total.latency.count >= 2 ? found : null;
  });
  expect(report.total.latency.count).toBe(2);
  expect(report.total.first_token.count).toBe(1);
  const { p50, p95, p99 } = report.total.latency;
  expect(p50).toBeGreaterThan(0);
  expect(p95).toBeGreaterThanOrEqual(p50 ?? 0);
  expect(p99).toBeGreaterThanOrEqual(p95 ?? 0);
  expect(report.steps.length).toBeGreaterThan(0);
  expect((await read("?team=others")).total.latency.count).toBe(0);
  expect((await read("?model=mock/m")).total.latency.count).toBe(2);
  expect((await read("?provider=mock2")).total.latency.count).toBe(0);
});

test("steps are at least an hour long", async () => {
  await expect(gateway.manage("GET", "/latency?step_hours=0")).rejects.toThrow("greater_than_equal");
});
