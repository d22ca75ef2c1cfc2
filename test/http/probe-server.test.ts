import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startProbeServer } from "../../src/http/probe-server.ts";

let server: ReturnType<typeof startProbeServer> | null = null;
afterEach(() => server?.stop());

function start(tls: Parameters<typeof startProbeServer>[0]["tls"] = null): string {
  const readMetrics = async () => [
    [{ name: "jobs_total", help: "Jobs.", type: "counter" as const, samples: [{ labels: {}, value: 3 }] }],
  ];
  server = startProbeServer({ host: "127.0.0.1", port: 0, tls, readMetrics });
  return `${tls === null ? "http" : "https"}://localhost:${server.port}`;
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

test("with a certificate, the port of a worker serves HTTPS and nothing else", async () => {
  const read = (name: string) => readFileSync(join(import.meta.dir, "../support/tls", name), "utf8");
  const cert = read("certificate.pem");
  const url = start({ cert, key: read("key.pem") });
  expect((await fetch(`${url}/metrics`, { tls: { ca: cert } })).status).toBe(200);
  await expect(fetch(`${url.replace("https", "http")}/metrics`)).rejects.toThrow();
});
