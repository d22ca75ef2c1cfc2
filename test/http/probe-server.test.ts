import { afterEach, expect, test } from "bun:test";
import { startProbeServer } from "../../src/http/probe-server.ts";

let server: ReturnType<typeof startProbeServer> | null = null;
afterEach(() => server?.stop());

function start(): string {
  const readMetrics = async () => [
    [{ name: "jobs_total", help: "Jobs.", type: "counter" as const, samples: [{ labels: {}, value: 3 }] }],
  ];
  server = startProbeServer({ host: "127.0.0.1", port: 0, readMetrics });
  return `http://127.0.0.1:${server.port}`;
}

test("a worker answers probes and shows its metrics, without a key", async () => {
  const url = start();
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  const metrics = await fetch(`${url}/metrics`);
  expect(metrics.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  expect(await metrics.text()).toContain("switchyard_jobs_total 3\n");
});

test("a worker that shuts down is alive and not ready", async () => {
  const url = start();
  server?.beginDrain();
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test("other paths and methods are refused", async () => {
  const url = start();
  for (const path of ["/", "/v3/models", "/v3/manage/keys", "/metrics/x"])
    expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 404]);
  expect((await fetch(`${url}/metrics`, { method: "POST" })).status).toBe(404);
});
