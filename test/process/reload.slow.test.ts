// SIGHUP: every process takes the new configuration, or all of them keep the present one, whatever goes wrong.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ask } from "../support/chat.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

let vendor: Vendor;
let running: Reloading;
beforeAll(async () => {
  vendor = await startVendor();
  running = await start();
}, 300_000);
afterAll(async () => {
  await running?.gateway.kill();
  await vendor?.stop();
}, 300_000);

interface Reloading {
  readonly gateway: GatewayProcess;
  readonly key: string;
  /** Writes the file: the usual one with these members. */
  write(members: object): void;
  writeRaw(text: string): void;
  /** The providers that answer the alias, each on many new connections. */
  answering(): Promise<string[]>;
  reloadAndWait(message: string): Promise<void>;
}

async function start(): Promise<Reloading> {
  const started = await startGatewayProcess({
    vendor,
    workers: 2,
    jobWorkers: 1,
    config: { aliases: { which: "mock/echo" }, start_timeout_ms: 120_000 },
  });
  const key = await started.createKey();
  const file = join(dirname(started.dataFolder), "switchyard.yaml");
  const usual = JSON.parse(readFileSync(file, "utf8"));
  const call = async () => {
    const body = { model: "which", messages: [{ role: "user", content: "hello" }] };
    const response = await ask(started.url, key, body, { headers: { connection: "close" } });
    const answer = (await response.json()) as { provider?: string; error?: { code: string } };
    return answer.provider ?? answer.error?.code ?? "nothing";
  };
  await waitFor("the key to be known in every process", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, call));
    return answers.every((answer) => answer === "mock");
  });
  return {
    gateway: started,
    key,
    write: (members) => writeFileSync(file, JSON.stringify({ ...usual, ...members }, null, 2)),
    writeRaw: (text) => writeFileSync(file, text),
    async answering() {
      const answers: string[] = [];
      for (let round = 0; round < 8; round += 1) answers.push(...(await Promise.all(Array.from({ length: 5 }, call))));
      return [...new Set(answers)];
    },
    async reloadAndWait(message) {
      const before = started.log().split(message).length;
      started.signal("SIGHUP");
      await waitFor(message, () => started.log().split(message).length > before).catch((error) => {
        throw new Error(`${error instanceof Error ? error.message : error}\n${started.log().slice(-4_000)}`);
      });
    },
  };
}

// Settings that do not exist, in files that are reloaded directly one after the other.
const laterNames = ["one", "two", "three", "four", "five"].map((name) => `unknown_${name}`);
const refused = "the new configuration is invalid; all processes keep the current one";
const notStarted = "the new configuration could not be started; all processes keep the current one";
const reloaded = "the configuration was reloaded";

test("a configuration that only its processes can refuse leaves all of them as they are", async () => {
  const { gateway, write, answering, reloadAndWait } = running;
  const before = await waitFor("all processes", async () => {
    const processes = await gateway.processes();
    return processes.serving.length === 2 && processes.working.length === 1 ? processes : null;
  });
  write({ aliases: { which: "mock2/echo", wrong: "nosuch/x" } });
  await reloadAndWait(notStarted);
  expect(gateway.log()).toContain("names the unknown provider 'nosuch'");
  await waitFor("the successors to end", async () => {
    const { serving, working } = await gateway.processes();
    return serving.length === 2 && working.length === 1;
  });
  expect(await gateway.processes()).toEqual(before);
  expect(await answering()).toEqual(["mock"]);
});

test("a reload that would change the store is refused", async () => {
  const { gateway, write, answering, reloadAndWait } = running;
  write({ aliases: { which: "mock2/echo" }, database_url: "postgres://127.0.0.1:1/x" });
  await reloadAndWait(refused);
  expect(gateway.log()).toContain("database_url cannot change while the gateway runs");
  expect(await answering()).toEqual(["mock"]);
});

test("a file that is repaired after a refused reload is served by no process before the next SIGHUP", async () => {
  const { gateway, write, writeRaw, answering, reloadAndWait } = running;
  writeRaw("aliases: { which: mock2/echo\n");
  await reloadAndWait(refused);
  expect(gateway.log()).toMatch(/switchyard\.yaml:2:\d+: Flow map/);
  expect(await answering()).toEqual(["mock"]);

  // The file is sound again and says something else: a process that is restarted must not read it.
  write({ aliases: { which: "mock2/echo" } });
  const [victim = 0] = (await gateway.processes()).serving;
  process.kill(victim, "SIGKILL");
  await waitFor("two serving processes", async () => {
    const { serving } = await gateway.processes();
    return serving.length === 2 && !serving.includes(victim);
  });
  expect(await answering()).toEqual(["mock"]);

  for (const name of laterNames) {
    write({ aliases: { which: "mock2/echo" }, [name]: 1 });
    await reloadAndWait(refused);
  }
  write({ aliases: { which: "mock2/echo" } });
  await reloadAndWait(reloaded);
  await waitFor("the old processes to leave", async () => (await answering()).join() === "mock2");
  // A replaced process keeps its connections for some seconds.
  await waitFor("two serving processes", async () => (await gateway.processes()).serving.length === 2);
  const records = await waitFor("the records of all reloads", async () => {
    const { items } = (await gateway.manage("GET", "/audit?action=configuration.reload")) as { items: object[] };
    return items.length === 4 + laterNames.length ? items : null;
  });
  // The configuration that could not be started had the number 2.
  expect(records).toMatchObject([
    { outcome: "done", actor: { kind: "command" }, before: { number: 1 }, after: { number: 3 } },
    ...laterNames.toReversed().map((name) => ({ outcome: "failed", code: expect.stringContaining(name) })),
    { outcome: "failed", code: expect.stringContaining("switchyard.yaml:2:"), after: null },
    { outcome: "failed", code: expect.stringContaining("database_url"), after: null },
    { outcome: "failed", code: expect.stringContaining("nosuch"), after: null },
  ]);
});
