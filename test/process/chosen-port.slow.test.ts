// SWITCHYARD_PORT=0: the system chooses one port, which all serving processes share, now and after a reload.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type PreparedSettings, prepareSettings } from "../support/gateway-settings.ts";
import { childrenOf, listProcesses } from "../support/processes.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const launcher = join(import.meta.dir, "../../bin/switchyard.mjs");
let vendor: Vendor;
let settings: PreparedSettings;
let gateway: Bun.Subprocess<"ignore", "pipe", "inherit">;
let log = "";

beforeAll(async () => {
  vendor = await startVendor();
  settings = await prepareSettings(vendor, { env: { SWITCHYARD_PORT: "0", SWITCHYARD_WORKERS: "2" } });
  gateway = Bun.spawn(["node", launcher, "serve"], {
    ...{ cwd: settings.folder, env: settings.environment, stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  });
  void (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of gateway.stdout) log += decoder.decode(bytes, { stream: true });
  })();
}, 300_000);
afterAll(async () => {
  gateway.kill("SIGTERM");
  await gateway.exited;
  await settings.removeFolder();
  await vendor.stop();
}, 300_000);

async function findServing(): Promise<number[]> {
  const rows = await listProcesses();
  const [supervisor] = childrenOf(rows, gateway.pid);
  return rows
    .filter(({ parent, command }) => parent === supervisor && command.includes("serving-process"))
    .map(({ pid }) => pid);
}

const statusOf = async (address: string) =>
  (await fetch(`${address}/healthz`, { headers: { connection: "close" } })).status;

test("a port that the system chose is announced, and kept by a reload", async () => {
  const [, address = ""] = await waitFor("the announcement", () => /"address":"([^"]+)"/.exec(log));
  expect(new URL(address).port).toMatch(/^[1-9]/);
  expect(await statusOf(address)).toBe(200);

  const before = await findServing();
  gateway.kill("SIGHUP");
  await waitFor("the reload", () => log.includes("the configuration was reloaded"));
  await waitFor("the replaced processes to end", async () => {
    const serving = await findServing();
    return before.every((pid) => !serving.includes(pid));
  });
  expect(await statusOf(address)).toBe(200);
}, 300_000);
