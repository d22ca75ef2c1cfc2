// A reload that changes the address on which the gateway listens, and keeps its port.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

let vendor: Vendor;
let gateway: GatewayProcess;
beforeAll(async () => {
  vendor = await startVendor();
  const config = { host: "127.0.0.1", start_timeout_ms: 120_000 };
  gateway = await startGatewayProcess({ vendor, workers: 2, config, env: { SWITCHYARD_HOST: "" } });
}, 300_000);
afterAll(async () => {
  await gateway?.kill();
  await vendor?.stop();
}, 300_000);

async function reloadWith(members: object): Promise<string> {
  const file = join(dirname(gateway.dataFolder), "switchyard.yaml");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...members }));
  const start = gateway.log().length;
  gateway.signal("SIGHUP");
  const ends = /the configuration was reloaded|all processes keep the current one.*/;
  const [end] = await waitFor("the end of the reload", () => ends.exec(gateway.log().slice(start)));
  return end;
}

test("a reload changes the host while requests arrive, and none of them fails", async () => {
  let isOver = false;
  const outcomes = new Set<number | string>();
  async function keepCalling(): Promise<void> {
    while (!isOver) {
      const call = fetch(`${gateway.url}/healthz`, { headers: { connection: "close" } });
      outcomes.add(
        await call.then(
          ({ status }) => status,
          (error: Error) => error.message,
        ),
      );
    }
  }
  const requests = Promise.all([keepCalling(), keepCalling(), keepCalling()]);
  for (const host of ["0.0.0.0", "127.0.0.1"])
    expect([host, await reloadWith({ host })]).toEqual([host, "the configuration was reloaded"]);
  await waitFor("the replaced processes to end", async () => (await gateway.processes()).serving.length === 2);
  isOver = true;
  await requests;
  expect([...outcomes]).toEqual([200]);
}, 300_000);

test("a reload to an address that this machine does not have is refused", async () => {
  expect(await reloadWith({ host: "203.0.113.7" })).toContain("cannot listen on '203.0.113.7'");
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
}, 300_000);
