// The port on which `switchyard work` answers probes and shows its metrics.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { findFreePort } from "../support/free-port.ts";
import { type PreparedSettings, prepareSettings } from "../support/gateway-settings.ts";
import { startPostgres, type TestPostgres, whyNoPostgres } from "../support/postgres.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const launcher = join(import.meta.dir, "../../bin/switchyard.mjs");
const why = whyNoPostgres();

describe.skipIf(why !== null)("a worker beside gateways", () => {
  let postgres: TestPostgres;
  let vendor: Vendor;
  let settings: PreparedSettings | null = null;
  let worker: Bun.Subprocess<"ignore", "pipe", "pipe"> | null = null;
  let log = "";

  beforeAll(async () => {
    [postgres, vendor] = await Promise.all([startPostgres(), startVendor()]);
  });
  afterAll(async () => {
    await vendor?.stop();
    await postgres?.stop();
  });
  afterEach(async () => {
    worker?.kill("SIGTERM");
    await worker?.exited;
    await settings?.removeFolder();
  });

  async function startWorker(metricsPort: number): Promise<void> {
    const env = { DATABASE_URL: await postgres.createStore(), SWITCHYARD_METRICS_PORT: String(metricsPort) };
    settings = await prepareSettings(vendor, { env, jobWorkers: 2 });
    const options = { cwd: settings.folder, env: settings.environment, stdin: "ignore" } as const;
    const started = Bun.spawn(["node", launcher, "work"], { ...options, stdout: "pipe", stderr: "pipe" });
    worker = started;
    log = "";
    void (async () => {
      for await (const bytes of started.stdout) log += Buffer.from(bytes).toString();
    })();
    await waitFor("the worker to run jobs", () => log.includes("runs jobs"));
  }

  test("answers probes and shows the metrics of all its processes", async () => {
    const port = await findFreePort();
    await startWorker(port);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(text).toMatch(/^switchyard_process_resident_memory_bytes\{/m);
  });

  test("works without the port if a gateway on the same machine has it", async () => {
    const gateway = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("the gateway's") });
    try {
      await startWorker(gateway.port ?? 0);
      expect(log).toContain("the metrics of this worker are not served");
      for (let count = 0; count < 10; count += 1)
        expect(await (await fetch(gateway.url, { headers: { connection: "close" } })).text()).toBe("the gateway's");
    } finally {
      await gateway.stop(true);
    }
  });
});
