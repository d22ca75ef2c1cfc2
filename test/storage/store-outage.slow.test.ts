// A gateway whose PostgreSQL went away: what it still serves, what it says of itself, and what its log looks like meanwhile.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ask, hello } from "../support/chat.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { type OwnPostgres, startOwnPostgres, whyNoOwnPostgres } from "../support/postgres.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

interface Readiness {
  readonly status: string;
  readonly degraded?: readonly { readonly component: string }[];
}

describe.skipIf(whyNoOwnPostgres() !== null)("without its store", () => {
  let vendor: Vendor;
  let server: OwnPostgres;
  let gateway: GatewayProcess;
  let key: string;

  beforeAll(async () => {
    [vendor, server] = await Promise.all([startVendor(), startOwnPostgres()]);
    const env = { DATABASE_URL: await server.createStore(), SWITCHYARD_KEYS_STALE_AFTER_MS: "12000" };
    gateway = await startGatewayProcess({ vendor, jobWorkers: 1, env });
    key = await gateway.createKey();
  });
  afterAll(async () => {
    await gateway?.kill();
    await Promise.all([vendor?.stop(), server?.stop()]);
  });

  async function readyz(query = ""): Promise<{ status: number; body: Readiness }> {
    const response = await fetch(`${gateway.url}/readyz${query}`);
    return { status: response.status, body: (await response.json()) as Readiness };
  }

  test("readiness is 200 while requests are served from memory, says what is degraded, and ends with the keys", async () => {
    expect(await readyz("?verbose")).toEqual({ status: 200, body: { status: "ok", degraded: [] } });
    await server.kill();
    const degraded = await waitFor("the outage to be noticed", async () => {
      const { status, body } = await readyz("?verbose");
      return status === 200 && body.status === "degraded" ? body : null;
    });
    expect(degraded.degraded).toContainEqual({ component: "store" });
    const headers = { authorization: `Bearer ${gateway.adminKey}` };
    const detailed = await fetch(`${gateway.url}/readyz?verbose`, { headers });
    expect(await detailed.json()).toMatchObject({
      configuration: { number: 1, serving_processes: 1, worker_processes: 1 },
      degraded: expect.arrayContaining([
        { component: "store", name: "store", reason: expect.stringContaining("served from memory") },
      ]),
    });
    expect(await readyz()).toEqual({ status: 200, body: { status: "ok" } });
    expect((await ask(gateway.url, key, hello)).status).toBe(200);

    await waitFor("the keys to be too old", async () => (await readyz()).status === 503);
    expect((await ask(gateway.url, key, hello)).status).toBe(503);
  });

  test("every line of its log is JSON, also what the driver writes by itself", async () => {
    await waitFor("a line of the driver", () => gateway.log().includes("bun:sql"));
    const lines = gateway.log().split("\n").slice(0, -1);
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  });

  test("a value of verbose that has no meaning is refused", async () => {
    expect((await readyz("?verbose=maybe")).status).toBe(422);
  });
});
