// Restarting, stopping and dying: what clients notice of it, which should be nothing.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { chatChunk, event, hang, stream, streamHead } from "../support/answers.ts";
import { ask, chatPath, hello } from "../support/chat.ts";
import { readChatStream } from "../support/events.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { isOverloaded } from "../support/gateway-settings.ts";
import { isAlive } from "../support/processes.ts";
import { openConnection, type RawConnection, requestBytes } from "../support/raw-http.ts";
import { isFullRun } from "../support/test-size.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

let vendor: Vendor;
let gateway: GatewayProcess | null = null;

beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(async () => {
  await vendor?.stop();
});
beforeEach(() => vendor.clear());
afterEach(async () => {
  await gateway?.kill();
  gateway = null;
});

async function start(workers: number, env: Record<string, string> = {}): Promise<[GatewayProcess, string]> {
  gateway = await startGatewayProcess({ vendor, workers, env });
  const key = await gateway.createKey();
  // Every serving process must have heard of the key before failures are counted.
  let inARow = 0;
  await waitFor("the key to be known everywhere", async () => {
    const response = await ask(gateway?.url ?? "", key, hello, { headers: { connection: "close" } });
    await response.arrayBuffer();
    inARow = response.status === 200 ? inARow + 1 : 0;
    return inARow >= 20;
  });
  return [gateway, key];
}

function chatRequest(key: string, body: object = hello): Buffer {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return requestBytes({ path: chatPath, headers, body: JSON.stringify(body) });
}

interface Load {
  readonly served: () => number;
  readonly failures: string[];
  stop(): Promise<void>;
}

const keptLanes = 10;
// New connections are what a restart loses most easily: there are many of them.
const newLanes = 12;

/** Some lanes keep their connection, the others open one for every request. */
function startLoad(url: string, key: string): Load {
  const request = chatRequest(key);
  const failures: string[] = [];
  let served = 0;
  let running = true;

  async function once(connection: RawConnection, kept: boolean): Promise<boolean> {
    connection.send(request);
    const response = await connection.receive();
    if (response.status === 200 && response.complete) served += 1;
    else if (!isOverloaded(response.status, response.body.toString()))
      failures.push(
        `${response.status} on a ${kept ? "kept" : "new"} connection: ${response.body.toString().slice(0, 200)}`,
      );
    return response.status !== 0 && response.headers["connection"]?.toLowerCase() !== "close";
  }

  async function lane(keeps: boolean): Promise<void> {
    let connection: RawConnection | null = null;
    while (running) {
      try {
        // A connection that was closed while idle, or announced to close, is replaced as every client does it.
        const usable: RawConnection = connection?.isClosed() === false ? connection : await openConnection(url);
        const mayStay = await once(usable, usable === connection);
        connection = keeps && mayStay ? usable : null;
        if (connection === null) usable.leave();
      } catch (error) {
        failures.push(String(error));
        connection = null;
      }
      await Bun.sleep(pauseMs);
    }
    connection?.leave();
  }

  const lanes = Array.from({ length: keptLanes + newLanes }, (_none, index) => lane(index < keptLanes));
  const all = Promise.all(lanes);
  return {
    served: () => served,
    failures,
    async stop() {
      running = false;
      await all;
    },
  };
}

// Less load and fewer rounds leave the cores to the other files of a usual run.
const [rounds, pauseMs] = isFullRun ? [3, 1] : [2, 5];

for (const workers of [1, 2]) {
  const processes = workers === 1 ? "one serving process" : `${workers} serving processes`;
  test(`rolling restarts of ${processes} under load fail not one request and cut not one stream`, async () => {
    const [running, key] = await start(workers, { SWITCHYARD_DRAIN_TIMEOUT_MS: "100000" });
    vendor.on(
      "long",
      stream(
        Array.from({ length: 30 }, () => "word "),
        { intervalMs: 100 },
      ),
    );
    const load = startLoad(running.url, key);
    await waitFor("the load to run", () => load.served() > 200);

    const streams = await Promise.all(Array.from({ length: 10 }, () => openConnection(running.url)));
    for (const one of streams) one.send(chatRequest(key, { ...hello, model: "mock/long", stream: true }));
    await waitFor("all streams to run", () => streams.every((one) => one.text().includes("word ")));
    for (let round = 1; round <= rounds; round += 1) {
      await replaceServing(running, workers);
      const servedAtSwap = load.served();
      await waitFor("the new processes to take the load", () => load.served() > servedAtSwap + 100);
    }
    await load.stop();

    expect(load.failures).toEqual([]);
    for (const one of streams) {
      const response = await one.receive();
      const { done, errors } = readChatStream(response.body.toString());
      const outcome = { status: response.status, complete: response.complete, done, errors };
      expect(outcome).toEqual({ status: 200, complete: true, done: true, errors: [] });
      one.leave();
    }
  });
}

async function replaceServing(running: GatewayProcess, workers: number): Promise<void> {
  const before = (await running.processes()).serving;
  running.signal("SIGHUP");
  await waitFor(
    "every serving process to be replaced",
    async () => {
      const { serving } = await running.processes();
      return serving.length === workers && serving.every((pid) => !before.includes(pid));
    },
    { everyMs: 200 },
  );
}

test("a serving process that is killed is replaced, and requests are served again", async () => {
  const [running, key] = await start(1);
  const [victim = 0] = (await running.processes()).serving;
  process.kill(victim, "SIGKILL");
  await waitFor("the victim to be gone", async () => !(await isAlive(victim)));
  await waitFor("the next answer", () =>
    ask(running.url, key, hello).then(
      (response) => response.ok,
      () => false,
    ),
  );
  const { serving } = await running.processes();
  expect(serving).toHaveLength(1);
  expect(serving).not.toContain(victim);
});

test("a serving process that is killed leaves the others at work", async () => {
  const [running, key] = await start(2);
  const [victim = 0] = (await running.processes()).serving;
  process.kill(victim, "SIGKILL");
  await waitFor("two serving processes", async () => {
    const { serving } = await running.processes();
    return serving.length === 2 && !serving.includes(victim);
  });
  for (let count = 0; count < 50; count += 1) {
    const response = await ask(running.url, key, hello, { headers: { connection: "close" } });
    const text = await response.text();
    if (!isOverloaded(response.status, text)) expect(response.status).toBe(200);
  }
});

test("SIGTERM turns readiness off, lets a stream finish and ends with 0", async () => {
  const [running, key] = await start(2, { SWITCHYARD_DRAIN_DELAY_MS: "1000", SWITCHYARD_DRAIN_TIMEOUT_MS: "100000" });
  vendor.on(
    "long",
    stream(
      Array.from({ length: 30 }, () => "word "),
      { intervalMs: 100 },
    ),
  );
  const connection = await openConnection(running.url);
  connection.send(chatRequest(key, { ...hello, model: "mock/long", stream: true }));
  await waitFor("the stream to run", () => connection.text().includes("word "));

  running.signal("SIGTERM");
  const readiness = await waitFor("readiness to end", async () => {
    const response = await fetch(`${running.url}/readyz`, { headers: { connection: "close" } });
    return response.status === 200 ? null : response.status;
  });
  expect(readiness).toBe(503);
  const response = await connection.receive();
  expect(readChatStream(response.body.toString())).toMatchObject({ done: true, errors: [] });
  expect(await running.exited()).toBe(0);
  await expect(fetch(`${running.url}/healthz`)).rejects.toThrow();
});

test("connections that are kept open and idle do not delay the end", async () => {
  // The test would end before this timeout.
  const [running, key] = await start(2, { SWITCHYARD_DRAIN_TIMEOUT_MS: "600000" });
  const idle = await Promise.all(Array.from({ length: 20 }, () => openConnection(running.url)));
  for (const connection of idle) connection.send(chatRequest(key));
  for (const connection of idle) expect((await connection.receive()).status).toBe(200);
  running.signal("SIGTERM");
  expect(await running.exited()).toBe(0);
});

test("a stream that never ends does not keep the gateway alive", async () => {
  const [running, key] = await start(1, { SWITCHYARD_DRAIN_TIMEOUT_MS: "1000" });
  vendor.on("endless", [streamHead(), event(chatChunk({ role: "assistant", content: "word " })), hang]);
  const connection = await openConnection(running.url);
  connection.send(chatRequest(key, { ...hello, model: "mock/endless", stream: true }));
  await waitFor("the stream to run", () => connection.text().includes("word "));
  running.signal("SIGTERM");
  await running.exited();
  const response = await connection.receive();
  const text = response.body.toString();
  expect(text).not.toContain("[DONE]");
  // A stream that we cut ourselves must not look like one that has ended.
  expect(response.complete && !text.includes('"error"')).toBe(false);
});

test("serving processes do not outlive a supervisor that was killed", async () => {
  const [running] = await start(2);
  const { supervisor, serving } = await running.processes();
  expect(serving).toHaveLength(2);
  process.kill(supervisor, "SIGKILL");
  await waitFor(
    "the serving processes to end",
    async () => (await Promise.all(serving.map(isAlive))).every((alive) => !alive),
    { everyMs: 50 },
  );
  expect(await running.exited()).not.toBe(0);
});

test("keys and settings survive a restart", async () => {
  const [running, key] = await start(1);
  await replaceServing(running, 1);
  expect((await ask(running.url, key, hello)).status).toBe(200);
});
