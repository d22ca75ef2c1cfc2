// One scrape shows what all processes of a gateway did, whichever process answers it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ask } from "../support/chat.ts";
import { findFreePort } from "../support/free-port.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

let vendor: Vendor;
let gateway: GatewayProcess;
let key: string;
let metricsUrl: string;

beforeAll(async () => {
  vendor = await startVendor();
  const port = await findFreePort();
  metricsUrl = `http://127.0.0.1:${port}/metrics`;
  gateway = await startGatewayProcess({
    vendor,
    workers: 2,
    jobWorkers: 1,
    env: { SWITCHYARD_METRICS_PORT: String(port) },
  });
  key = await gateway.createKey();
});
afterAll(async () => {
  await gateway.kill();
  await vendor.stop();
});

function readValue(text: string, series: string): number | null {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

async function scrape(): Promise<string> {
  const response = await fetch(metricsUrl, { headers: { connection: "close" } });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  return await response.text();
}

describe("/metrics", () => {
  test("counts the requests, attempts and tokens of all processes", async () => {
    const question = { messages: [{ role: "user", content: "hello" }] };
    // A new connection for each request, so that both processes serve some.
    const send = async (model: string, stream: boolean) => {
      const answer = await ask(gateway.url, key, { ...question, model, stream }, { headers: { connection: "close" } });
      await answer.text();
      return answer.status;
    };
    const statuses = await Promise.all([
      ...Array.from({ length: 20 }, () => send("mock/echo", false)),
      ...Array.from({ length: 5 }, () => send("mock/echo", true)),
      ...Array.from({ length: 3 }, () => send("nobody/echo", false)),
    ]);
    expect(statuses.filter((status) => status === 200)).toHaveLength(25);
    const text = await scrape();
    const route = 'route="/v3/chat/completions"';
    expect(readValue(text, `switchyard_http_requests_total{${route},status="200"}`)).toBe(25);
    expect(readValue(text, `switchyard_errors_total{${route},code="provider_not_found"}`)).toBe(3);
    expect(readValue(text, `switchyard_http_request_duration_seconds_count{${route}}`)).toBe(28);
    const labels = 'provider="mock",model="echo"';
    expect(readValue(text, `switchyard_attempts_total{${labels},outcome="completed"}`)).toBe(25);
    expect(readValue(text, `switchyard_tokens_total{${labels},kind="input"}`)).toBeGreaterThan(0);
    expect(text).not.toContain("nobody");
    expect(readValue(text, "switchyard_store_up")).toBe(1);
  });

  test("names every process", async () => {
    // The worker process starts after the serving processes.
    await waitFor("all processes", async () => {
      const processes = new Set((await scrape()).match(/process="(?:serving|worker)-\d+"/g));
      return processes.size === 3;
    });
  });

  test("needs a management key on the port of the gateway", async () => {
    const get = (authorization?: string) =>
      fetch(`${gateway.url}/metrics`, { headers: authorization === undefined ? {} : { authorization } });
    expect((await get()).status).toBe(401);
    expect((await get(`Bearer ${key}`)).status).toBe(403);
    const allowed = await get(`Bearer ${gateway.adminKey}`);
    expect(allowed.status).toBe(200);
    expect(await allowed.text()).toContain("# TYPE switchyard_http_requests_total counter");
  });
});
