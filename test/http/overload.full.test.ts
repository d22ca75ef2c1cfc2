// Overload over real HTTP: who is refused, how, and who is still served.

import { describe, expect, test } from "bun:test";
import { chatChunk, event, hang, type Script, streamHead } from "../support/answers.ts";
import { ask, chatPath, hello } from "../support/chat.ts";
import { openConnection, type RawConnection, requestBytes } from "../support/raw-http.ts";
import { type TestGateway, testGateway } from "../support/test-gateway.ts";
import { awayFromMinuteEnd, waitFor } from "../support/wait.ts";

const maxRunning = 10;
const env = { SWITCHYARD_MAX_RUNNING_REQUESTS: String(maxRunning), SWITCHYARD_FIRST_BYTE_TIMEOUT_MS: "60000" };
const begunStream: Script = [streamHead(), event(chatChunk({ content: "begun" })), hang];

async function send(gateway: TestGateway, key: string, model: string, isStream = false): Promise<RawConnection> {
  const connection = await openConnection(gateway.url);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ ...hello, model: `mock/${model}`, stream: isStream });
  connection.send(requestBytes({ path: chatPath, headers, body }));
  return connection;
}

/** As many requests of the key as may run wait for their answers. */
async function fill(gateway: TestGateway, key: string): Promise<RawConnection[]> {
  gateway.vendor.on("hang", [hang]);
  const connections: RawConnection[] = [];
  for (let count = 0; count < maxRunning; count++) connections.push(await send(gateway, key, "hang"));
  await gateway.vendor.waitFor("the running requests", (requests) => requests.length === maxRunning);
  return connections;
}

describe("when as many requests run as may run", () => {
  test("one more of the same key is refused in both error forms, and another key is served", async () => {
    await using gateway = await testGateway({ env });
    const [key, other] = [await gateway.createKey(), await gateway.createKey()];
    const running = await fill(gateway, key);
    const refused = await ask(gateway.url, key, hello);
    const message = "The gateway is overloaded; try again.";
    expect(refused.status).toBe(503);
    expect(await refused.json()).toEqual({
      error: { message, type: "service_unavailable", param: null, code: "overloaded" },
      detail: message,
    });
    expect(refused.headers.get("retry-after")).toMatch(/^[123]$/);
    expect((await ask(gateway.url, other, hello)).status).toBe(200);
    expect(gateway.vendor.requests).toHaveLength(maxRunning + 1);
    for (const connection of running) connection.leave();
    await waitFor("the key to be served again", async () => (await ask(gateway.url, key, hello)).status === 200);
  });

  test("clients of the Messages format get its error, with the id of the request", async () => {
    await using gateway = await testGateway({ env });
    const key = await gateway.createKey();
    const running = await fill(gateway, key);
    for (let count = 0; count < 30; count++) {
      const refused = await fetch(`${gateway.url}/v3/messages`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify({ model: "mock/echo", max_tokens: 10, messages: [{ role: "user", content: "hi" }] }),
      });
      expect(refused.status).toBe(503);
      const body = (await refused.json()) as { type: string; error: { type: string }; request_id: string };
      expect([body.type, body.error.type]).toEqual(["error", "overloaded_error"]);
      expect(body.request_id).toBe(refused.headers.get("request-id") ?? "");
      expect(refused.headers.get("x-request-id")).toBe(body.request_id);
    }
    for (const connection of running) connection.leave();
  });

  test("the many refusals of a flood look like the first ones, and are counted once, and not by the rate limit", async () => {
    await using gateway = await testGateway({ env });
    const key = await gateway.createKey({ rate_limit: { requests_per_minute: maxRunning + 1 } });
    await awayFromMinuteEnd();
    const running = await fill(gateway, key);
    const answers = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const refused = await ask(gateway.url, key, hello);
        const names = [...refused.headers.keys()].filter((name) => name !== "date").sort();
        return { status: refused.status, names, text: await refused.text() };
      }),
    );
    for (const answer of answers) expect(answer).toEqual(answers[0] ?? answer);
    expect(answers[0]).toMatchObject({ status: 503 });
    await waitFor("the report of all refusals", () => countReported(gateway.log()) === 100);
    for (const connection of running) connection.leave();
    const served = await waitFor("the key to be served", async () => {
      const answered = await ask(gateway.url, key, hello);
      return answered.status === 503 ? null : answered;
    });
    expect(served.status).toBe(200);
    expect((await ask(gateway.url, key, hello)).status).toBe(429);
  });

  test("health checks and management go on, even when no key may send any more requests", async () => {
    await using gateway = await testGateway({ env });
    const running = await fill(gateway, await gateway.createKey());
    // The shares of the second, third and fourth key.
    for (const share of [5, 3, 2]) {
      const key = await gateway.createKey();
      for (let count = 0; count < share; count++) running.push(await send(gateway, key, "hang"));
    }
    await gateway.vendor.waitFor("the running requests", (requests) => requests.length === 2 * maxRunning);
    const key = await gateway.createKey();
    expect((await ask(gateway.url, key, hello)).status).toBe(503);
    for (const path of ["/healthz", "/readyz"]) expect((await fetch(`${gateway.url}${path}`)).status).toBe(200);
    expect(await gateway.manage("GET", "/keys")).toMatchObject({ total: 5 });
    for (const connection of running) connection.leave();
  });

  test("streams that have begun do not count, and are not ended", async () => {
    await using gateway = await testGateway({ env });
    const key = await gateway.createKey();
    gateway.vendor.on("begun", begunStream);
    const streams: RawConnection[] = [];
    for (let count = 0; count < 3 * maxRunning; count++) {
      const stream = await send(gateway, key, "begun", true);
      await waitFor("the begin of the stream", () => stream.text().includes("begun"));
      streams.push(stream);
    }
    gateway.vendor.clear();
    const running = await fill(gateway, key);
    expect((await ask(gateway.url, key, hello)).status).toBe(503);
    expect(streams.filter((stream) => stream.isClosed())).toEqual([]);
    for (const connection of [...streams, ...running]) connection.leave();
  });
});

function countReported(log: string): number {
  const reports = log.split("\n").filter((line) => line.includes("refused because this process is overloaded"));
  return reports.reduce((sum, line) => sum + (JSON.parse(line) as { refused: number }).refused, 0);
}

describe("while the event loop is overloaded", () => {
  test("the key that asks for most is refused, another key is served, and all are served when the load ends", async () => {
    await using gateway = await testGateway({ loadLimits: { delayLimitMs: 300, pauseLimitMs: 60_000 } });
    const [heavy, light] = [await gateway.createKey(), await gateway.createKey()];
    gateway.vendor.on("begun", begunStream);
    // With less at once, nothing is refused.
    const streams = await Promise.all(Array.from({ length: 150 }, () => send(gateway, heavy, "begun", true)));
    await waitFor("the streams", () => streams.every((stream) => stream.text().includes("begun")));
    const load = occupyEventLoop();
    const statuses: Record<"heavy" | "light", number[]> = { heavy: [], light: [] };
    const send50AtOnce = Array.from({ length: 50 }, async () => {
      do statuses.heavy.push((await ask(gateway.url, heavy, hello)).status);
      while (statuses.light.length < 5);
    });
    // Before the first refusal, the heavy key may not have asked for more than the light one.
    const sendLight = async () => {
      await waitFor("a refusal", () => statuses.heavy.includes(503));
      while (statuses.light.length < 5) statuses.light.push((await ask(gateway.url, light, hello)).status);
    };
    await Promise.all([...send50AtOnce, sendLight()]).finally(load.end);
    expect(new Set(statuses.light)).toEqual(new Set([200]));
    expect(streams.filter((stream) => stream.isClosed())).toEqual([]);
    await waitFor("the end of the overload", async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => ask(gateway.url, heavy, hello)));
      return answers.every(({ status }) => status === 200);
    });
    for (const stream of streams) stream.leave();
  });
});

/** The gateway shares the event loop of the test: each of its turns takes 350 ms longer. */
function occupyEventLoop(): { end(): void } {
  let isOccupied = true;
  const occupy = () => {
    const until = performance.now() + 350;
    while (performance.now() < until);
    if (isOccupied) setImmediate(occupy);
  };
  occupy();
  return {
    end() {
      isOccupied = false;
    },
  };
}
