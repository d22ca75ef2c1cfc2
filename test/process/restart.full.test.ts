// Restarting, stopping and dying: what clients notice of it, which should be nothing.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chatChunk, event, hang, stream, streamHead } from "../support/answers.ts";
import { ask, chatPath, hello } from "../support/chat.ts";
import { runLane } from "../support/connection-lane.ts";
import { readChatStream } from "../support/events.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { isOverloaded } from "../support/gateway-settings.ts";
import { isAlive } from "../support/processes.ts";
import { openConnection, type RawConnection, requestBytes } from "../support/raw-http.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

let vendor: Vendor;

beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(async () => {
  await vendor?.stop();
});
beforeEach(() => vendor.clear());

async function startWithKey(workers: number, env: Record<string, string>): Promise<[GatewayProcess, string]> {
  const gateway = await startGatewayProcess({ vendor, workers, env });
  const key = await gateway.createKey();
  // Every serving process must have heard of the key before failures are counted.
  let inARow = 0;
  await waitFor("the key to be known everywhere", async () => {
    const response = await ask(gateway.url, key, hello, { headers: { connection: "close" } });
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

const longStream = stream(
  Array.from({ length: 30 }, () => "word "),
  { intervalMs: 100 },
);

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

  const lane = (keeps: boolean) =>
    runLane({ url, keeps, pauseMs, once, isRunning: () => running, onError: (message) => failures.push(message) });

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

// Some hundred requests a second. reload-load.full.test.ts has forty reloads.
const [rounds, pauseMs] = [2, 40];

function testRollingRestarts(workers: number, shared: Shared): void {
  const processes = workers === 1 ? "one serving process" : `${workers} serving processes`;
  test(`rolling restarts of ${processes} under load fail not one request and cut not one stream`, async () => {
    const [running, key] = shared();
    vendor.on("long", longStream);
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

/** One gateway for all tests of the block. The last of them ends it. */
function describeOn(workers: number, env: Record<string, string>, addTests: (shared: Shared) => void): void {
  describe(`a gateway with ${workers} serving processes`, () => {
    let gateway: GatewayProcess;
    let key: string;
    beforeAll(async () => {
      [gateway, key] = await startWithKey(workers, env);
    });
    afterAll(async () => {
      await gateway?.kill();
    });
    addTests(() => [gateway, key]);
  });
}

type Shared = () => [GatewayProcess, string];

describeOn(1, { SWITCHYARD_DRAIN_TIMEOUT_MS: "1000" }, (shared) => {
  test("a serving process that is killed is replaced, and requests are served again", async () => {
    const [running, key] = shared();
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

  test("keys and settings survive a restart", async () => {
    const [running, key] = shared();
    await replaceServing(running, 1);
    expect((await ask(running.url, key, hello)).status).toBe(200);
  });

  test("a stream that never ends does not keep the gateway alive", async () => {
    const [running, key] = shared();
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
});

describeOn(1, { SWITCHYARD_DRAIN_TIMEOUT_MS: "600000" }, (shared) => testRollingRestarts(1, shared));

// The test would end before this timeout.
describeOn(2, { SWITCHYARD_DRAIN_DELAY_MS: "1000", SWITCHYARD_DRAIN_TIMEOUT_MS: "600000" }, (shared) => {
  testRollingRestarts(2, shared);

  test("a serving process that is killed leaves the others at work", async () => {
    const [running, key] = shared();
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

  test("SIGTERM turns readiness off, lets a stream finish and ends with 0, whatever connections are open and idle", async () => {
    const [running, key] = shared();
    const idle = await Promise.all(Array.from({ length: 20 }, () => openConnection(running.url)));
    for (const connection of idle) connection.send(chatRequest(key));
    for (const connection of idle) expect((await connection.receive()).status).toBe(200);
    vendor.on("long", longStream);
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
});

test("serving processes do not outlive a supervisor that was killed", async () => {
  const running = await startGatewayProcess({ vendor, workers: 2 });
  try {
    const { supervisor, serving } = await running.processes();
    expect(serving).toHaveLength(2);
    process.kill(supervisor, "SIGKILL");
    await waitFor("the serving processes to end", async () =>
      (await Promise.all(serving.map(isAlive))).every((alive) => !alive),
    );
    expect(await running.exited()).not.toBe(0);
  } finally {
    await running.kill();
  }
});
