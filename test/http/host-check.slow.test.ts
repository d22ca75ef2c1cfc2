// DNS rebinding: a page whose name resolves to 127.0.0.1 must not reach the routes of operators.

import { expect, test } from "bun:test";
import { findFreePort } from "../support/free-port.ts";
import { openConnection, requestBytes } from "../support/raw-http.ts";
import { testGateway } from "../support/test-gateway.ts";

async function statusOf(url: string, path: string, host: string, key: string, method = "GET"): Promise<number> {
  const connection = await openConnection(url);
  const headers = { host, authorization: `Bearer ${key}` };
  connection.send(requestBytes({ method, path, headers }));
  const { status } = await connection.receive();
  connection.leave();
  return status;
}

test("routes of operators are served under names of this machine only, other routes under every name", async () => {
  await using gateway = await testGateway();
  const { url, adminKey } = gateway;
  for (const host of ["localhost", "127.0.0.1:8080", "[::1]:8080", "gateway.localhost"])
    expect(await statusOf(url, "/v3/manage/keys", host, adminKey)).toBe(200);
  for (const path of ["/v3/manage/keys", "/metrics"]) {
    expect(await statusOf(url, path, "evil.example:8080", adminKey)).toBe(403);
    expect(await statusOf(url, path, "evil.example:8080", adminKey, "OPTIONS")).toBe(403);
  }
  expect(gateway.log()).toContain('"code":"host_not_allowed"');
  for (const path of ["/v3/models", "/healthz"])
    expect(await statusOf(url, path, "evil.example:8080", adminKey)).toBe(200);
});

test("the name of SWITCHYARD_PUBLIC_URL is a name of the gateway", async () => {
  await using gateway = await testGateway({ env: { SWITCHYARD_PUBLIC_URL: "https://gateway.example" } });
  const { url, adminKey } = gateway;
  expect(await statusOf(url, "/v3/manage/keys", "gateway.example", adminKey)).toBe(200);
  expect(await statusOf(url, "/v3/manage/keys", "other.example", adminKey)).toBe(403);
});

test("a trusted proxy on this machine may pass on any name", async () => {
  await using gateway = await testGateway({ env: { SWITCHYARD_TRUSTED_PROXIES: "127.0.0.1" } });
  expect(await statusOf(gateway.url, "/v3/manage/keys", "gateway.example", gateway.adminKey)).toBe(200);
});

test("a gateway that other machines reach is served under every name", async () => {
  await using gateway = await testGateway({ env: { SWITCHYARD_HOST: "0.0.0.0" } });
  expect(await statusOf(gateway.url, "/v3/manage/keys", "gateway.example", gateway.adminKey)).toBe(200);
});

test("the metrics on a port of their own need no key, and are protected all the same", async () => {
  const port = await findFreePort();
  await using _gateway = await testGateway({ env: { SWITCHYARD_METRICS_PORT: String(port) } });
  expect(await statusOf(`http://127.0.0.1:${port}`, "/metrics", "127.0.0.1", "none")).toBe(200);
  expect(await statusOf(`http://127.0.0.1:${port}`, "/metrics", "evil.example", "none")).toBe(403);
});

test("with SWITCHYARD_ADMIN_PORT, routes of operators are served there and nowhere else", async () => {
  const port = await findFreePort();
  await using gateway = await testGateway({ env: { SWITCHYARD_ADMIN_PORT: String(port) } });
  const admin = `http://127.0.0.1:${port}`;
  for (const path of ["/v3/manage/keys", "/metrics"]) {
    expect(await statusOf(admin, path, "localhost", gateway.adminKey)).toBe(200);
    expect(await statusOf(gateway.url, path, "localhost", gateway.adminKey)).toBe(404);
  }
  // The dashboard calls models and lists them, from its own origin.
  for (const url of [admin, gateway.url])
    for (const path of ["/readyz", "/v3/models"]) expect(await statusOf(url, path, "localhost", "none")).toBe(200);
});
