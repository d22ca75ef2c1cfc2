// What a proxy that keeps connections to the gateway sees while the gateway shuts down.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { chatChunk, doneText, event, httpChunk, lastHttpChunk, streamHead, until } from "../support/answers.ts";
import { chatPath, hello } from "../support/chat.ts";
import { readChatStream } from "../support/events.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { openConnection, type RawConnection, requestBytes } from "../support/raw-http.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

// Long enough for a busy machine, which needs it between the end of a stream and the next request.
const drainDelayMs = 4_000;
let vendor: Vendor;
let gateway: GatewayProcess;
let key: string;

beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(() => vendor.stop());
beforeEach(async () => {
  vendor.clear();
  const env = { SWITCHYARD_DRAIN_DELAY_MS: String(drainDelayMs), SWITCHYARD_DRAIN_TIMEOUT_MS: "100000" };
  gateway = await startGatewayProcess({ vendor, workers: 1, env });
  key = await gateway.createKey();
});
afterEach(() => gateway.kill());

function chatRequest(body: object = hello): Buffer {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return requestBytes({ path: chatPath, headers, body: JSON.stringify(body) });
}

async function startStream(connection: RawConnection): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const begin = [streamHead(), event(chatChunk({ role: "assistant", content: "word " }))];
  const end = [event(chatChunk({}, "stop")), httpChunk(doneText), lastHttpChunk];
  vendor.on("held", [...begin, until(promise), ...end]);
  connection.send(chatRequest({ ...hello, model: "mock/held", stream: true }));
  await waitFor("the stream to run", () => connection.text().includes("word "));
  return resolve;
}

async function refusesConnections(): Promise<boolean> {
  return await fetch(`${gateway.url}/healthz`, { headers: { connection: "close" } }).then(
    () => false,
    () => true,
  );
}

test("a connection whose stream began before the drain serves one more request, and is closed by its answer", async () => {
  const connection = await openConnection(gateway.url);
  const endStream = await startStream(connection);
  gateway.signal("SIGTERM");
  await waitFor("new connections to be refused", refusesConnections);
  endStream();
  const stream = await connection.receive();
  expect(readChatStream(stream.body.toString())).toMatchObject({ done: true, errors: [] });
  expect(stream.headers["connection"]).not.toBe("close");

  connection.send(chatRequest());
  const next = await connection.receive();
  expect([next.status, next.complete, next.headers["connection"]]).toEqual([200, true, "close"]);
  await connection.waitForClose();
  expect(await gateway.exited()).toBe(0);
});

test("idle connections stay open for the drain delay, and do not delay the end beyond it", async () => {
  const [idle, used] = await Promise.all([openConnection(gateway.url), openConnection(gateway.url)]);
  for (const connection of [idle, used]) {
    connection.send(chatRequest());
    expect((await connection.receive()).status).toBe(200);
  }
  gateway.signal("SIGTERM");
  await waitFor("the drain to begin", async () => (await fetch(`${gateway.url}/readyz`)).status === 503);
  expect(idle.isClosed()).toBe(false);
  used.send(chatRequest());
  const last = await used.receive();
  expect([last.status, last.headers["connection"]]).toEqual([200, "close"]);
  await idle.waitForClose();
  expect(await gateway.exited()).toBe(0);
});
