// The engine process of a real gateway: started on demand, shared by the serving and worker processes, replaced after a crash.

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { descendantsOf, isAlive, listProcesses } from "../support/processes.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

let vendor: Vendor;
let gateway: GatewayProcess | null = null;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.stop());
afterEach(async () => {
  await gateway?.kill();
  gateway = null;
});

async function start({ workers, jobWorkers } = { workers: 1, jobWorkers: 0 }) {
  const started = await startGatewayProcess({ vendor, workers, jobWorkers });
  gateway = started;
  const key = await started.createKey();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" };
  const perform = async (path = "") =>
    await fetch(`${started.url}/v3/universal-ai${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify({ model: "text/keyword_extraction/local", input: { text: "The signal box at dusk." } }),
    });
  const ownProcesses = async () => {
    const ids = new Set(await descendantsOf(started.pid));
    const rows = (await listProcesses()).filter(({ pid }) => ids.has(pid));
    return {
      engine: rows.filter(({ command }) => command.endsWith("engine-process")).map(({ pid }) => pid),
      workers: rows.filter(({ command }) => command.includes("engines/local/worker.ts")).map(({ pid }) => pid),
    };
  };
  return { started, headers, perform, ownProcesses };
}

test("all processes share one engine process, which a request starts and the gateway's end ends", async () => {
  const { started, headers, perform, ownProcesses } = await start({ workers: 2, jobWorkers: 1 });
  expect(await ownProcesses()).toEqual({ engine: [], workers: [] });
  const answers = await Promise.all(Array.from({ length: 12 }, () => perform()));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
  const running = await ownProcesses();
  expect([running.engine.length, running.workers.length]).toEqual([1, 1]);

  const { public_id: id } = (await (await perform("/async")).json()) as { public_id: string };
  await waitFor("the job", async () => {
    const job = await fetch(`${started.url}/v3/universal-ai/async/${id}`, { headers });
    return ((await job.json()) as { status: string }).status === "success";
  });
  expect((await ownProcesses()).engine).toEqual(running.engine);
  await started.stop();
  gateway = null;
  for (const pid of [...running.engine, ...running.workers]) expect(await isAlive(pid)).toBe(false);
});

test("after a crash of the engine process, the next task starts another one, and a reload one for the new configuration", async () => {
  const { started, perform, ownProcesses } = await start();
  expect((await perform()).status).toBe(200);
  const before = await ownProcesses();
  const [crashing = 0] = before.engine;
  process.kill(crashing, "SIGKILL");
  await waitFor("the end of the process", async () => !(await isAlive(crashing)));
  await waitFor("the gateway to notice it", () => started.log().includes("the engine process ended"));
  expect((await perform()).status).toBe(200);
  const after = await ownProcesses();
  expect(after.engine.length).toBe(1);
  expect(after.engine).not.toEqual(before.engine);

  started.signal("SIGHUP");
  const [old = 0] = after.engine;
  await waitFor("the end of the old engine process", async () => !(await isAlive(old)));
  expect((await perform()).status).toBe(200);
  expect((await ownProcesses()).engine).not.toEqual(after.engine);
});
