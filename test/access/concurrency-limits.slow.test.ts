// How many requests and streams of one key run at the same time, and that each of them is counted until its end, however it ends.

import { describe, expect, test } from "bun:test";
import {
  answer,
  chatChunk,
  completion,
  event,
  fin,
  hang,
  headOf,
  rst,
  type Script,
  stream,
  streamHead,
  write,
} from "../support/answers.ts";
import { ask, chatPath, hello, readError } from "../support/chat.ts";
import { openConnection, type RawConnection, requestBytes } from "../support/raw-http.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { inParallel, waitFor } from "../support/wait.ts";

const maxRequests = 12;
const maxStreams = 5;

const gateway = await sharedGateway({
  env: {
    SWITCHYARD_MAX_CONCURRENT_REQUESTS_PER_KEY: String(maxRequests),
    SWITCHYARD_MAX_CONCURRENT_STREAMS_PER_KEY: String(maxStreams),
    SWITCHYARD_FIRST_BYTE_TIMEOUT_MS: "60000",
    SWITCHYARD_RETRIES: "0",
    SWITCHYARD_BREAKER_FAILURES: "0",
  },
});
const { vendor } = gateway;
const key = await gateway.createKey({ name: "one" });
const otherKey = await gateway.createKey({ name: "another" });

/** A raw request that is on its way. */
async function send(model: string, isStream: boolean, by = key): Promise<RawConnection> {
  const connection = await openConnection(gateway.url);
  const headers = { authorization: `Bearer ${by}`, "content-type": "application/json" };
  const body = JSON.stringify({ ...hello, model: `mock/${model}`, stream: isStream });
  connection.send(requestBytes({ path: chatPath, headers, body }));
  return connection;
}

/** A request that makes the given call at the vendor. It may be refused as long as the gateway has not noticed that an earlier client has left. */
function sendUntilCalled(isStream: boolean, calls: number): Promise<RawConnection> {
  return waitFor(`call ${calls} at the vendor`, async () => {
    const connection = await send("room", isStream);
    await until(connection, "the call or its refusal", () => vendor.requests.length === calls);
    if (vendor.requests.length === calls) return connection;
    connection.leave();
    return null;
  });
}

/** Exactly the limit runs at the vendor at the same time, so every request that was counted before has been released. */
async function expectRoomFor(count: number, isStream: boolean): Promise<void> {
  vendor.clear();
  vendor.on("room", [hang]);
  const connections: RawConnection[] = [];
  for (let calls = 1; calls <= count; calls++) connections.push(await sendUntilCalled(isStream, calls));
  const tooMany = await ask(gateway.url, key, { ...hello, model: "mock/room", stream: isStream });
  const { status, code, headers, message } = await readError(tooMany);
  expect([status, code]).toEqual([429, "rate_limit_exceeded"]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  expect(message).toContain(String(count));
  expect(vendor.requests).toHaveLength(count);
  for (const connection of connections) connection.leave();
  await vendor.waitFor("the calls to end", (requests) => requests.every(({ leftAt }) => leftAt !== null));
}

describe("one key", () => {
  test("has so many requests running at the same time, and one more is refused", () =>
    expectRoomFor(maxRequests, false));

  test("has so many streams running at the same time, and one more is refused before a provider is called", () =>
    expectRoomFor(maxStreams, true));

  test("does not take the place of another key, nor do its streams take that of whole answers", async () => {
    vendor.clear();
    vendor.on("room", [hang]);
    const connections = await Promise.all(Array.from({ length: maxStreams }, () => send("room", true)));
    await vendor.waitFor("the calls", (requests) => requests.length === maxStreams);
    expect((await ask(gateway.url, key, hello)).status).toBe(200);
    expect((await ask(gateway.url, otherKey, { ...hello, stream: true })).status).toBe(200);
    for (const connection of connections) connection.reset();
    await vendor.waitFor("the calls to end", (requests) =>
      requests.every(({ model, leftAt }) => model !== "room" || leftAt !== null),
    );
  });

  test("is told in the Messages format as well", async () => {
    vendor.clear();
    vendor.on("room", [hang]);
    const connections = await Promise.all(Array.from({ length: maxRequests }, () => send("room", false)));
    await vendor.waitFor("the calls", (requests) => requests.length === maxRequests);
    const body = { model: "mock/echo", max_tokens: 5, messages: hello.messages };
    const refused = await ask(gateway.url, key, body, { path: "/v3/v1/messages" });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ type: "error", error: { type: "rate_limit_error" } });
    for (const connection of connections) connection.leave();
    await vendor.waitFor("the calls to end", (requests) => requests.every(({ leftAt }) => leftAt !== null));
  });
});

const begun: Script = [
  streamHead(),
  event(chatChunk({ role: "assistant", content: "" })),
  event(chatChunk({ content: "a" })),
];
const half = headOf(200, { "content-type": "application/json", "content-length": "5000" });

/** What the vendor does, and how the client ends it: by reading to the end, or by leaving at a moment. */
interface Way {
  readonly script: Script;
  readonly isStream: boolean;
  readonly end: (connection: RawConnection, model: string) => Promise<unknown>;
}

const read = (connection: RawConnection) => connection.receive();
// A client that has left is noticed a moment later: meanwhile the next one may be refused, which is one more way to end.
const until = (connection: RawConnection, what: string, condition: () => boolean) =>
  waitFor(what, () => condition() || connection.text().startsWith("HTTP/1.1 429"));
const untilCalled = (connection: RawConnection, model: string) =>
  until(connection, "the call", () => vendor.requests.some((request) => request.model === model));
const leaveWhenCalled = async (connection: RawConnection, model: string) => {
  await untilCalled(connection, model);
  connection.leave();
};
const resetWhenCalled = async (connection: RawConnection, model: string) => {
  await untilCalled(connection, model);
  connection.reset();
};
const leaveAfterContent = async (connection: RawConnection) => {
  await until(connection, "content", () => connection.text().includes('"a"'));
  connection.leave();
};

const ways: readonly Way[] = [
  { script: answer(200, completion("whole")), isStream: false, end: read },
  { script: stream(["a", "b"]), isStream: true, end: read },
  { script: answer(500, {}), isStream: false, end: read },
  { script: answer(500, {}), isStream: true, end: read },
  { script: answer(200, { error: "no" }), isStream: false, end: read },
  { script: [rst], isStream: false, end: read },
  { script: [fin], isStream: true, end: read },
  { script: [...begun, rst], isStream: true, end: read },
  { script: [...begun, fin], isStream: true, end: read },
  { script: [write(`${half}{`), rst], isStream: false, end: read },
  { script: [hang], isStream: false, end: leaveWhenCalled },
  { script: [hang], isStream: true, end: resetWhenCalled },
  { script: [streamHead(), hang], isStream: true, end: leaveWhenCalled },
  { script: [write(`${half}{`), hang], isStream: false, end: resetWhenCalled },
  { script: [...begun, hang], isStream: true, end: leaveAfterContent },
  { script: [...begun, ...begun.slice(1), hang], isStream: true, end: leaveAfterContent },
  // Without waiting for anything.
  { script: stream(["a"]), isStream: true, end: async (connection) => connection.leave() },
  { script: answer(200, completion("late")), isStream: false, end: async (connection) => connection.reset() },
];

/** Ends that the gateway finds by itself, before a provider is called. */
const refusals: readonly ((index: number) => Promise<unknown>)[] = [
  () => ask(gateway.url, key, "{"),
  () => ask(gateway.url, key, { ...hello, temperature: 9, stream: true }),
  () => ask(gateway.url, key, { ...hello, model: "nobody/x", stream: true }),
  () => fetch(`${gateway.url}/v3/universal-ai/async`, { headers: { authorization: `Bearer ${key}` } }),
  () => fetch(`${gateway.url}/v3/universal-ai/async`, { method: "HEAD", headers: { authorization: `Bearer ${key}` } }),
  async () => {
    // Half a body.
    const connection = await openConnection(gateway.url);
    const head = `POST ${chatPath} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`;
    connection.send(`${head}content-length: 500\r\n\r\n{"model":`);
    await Bun.sleep(5);
    connection.leave();
  },
];

test("every request gives its place back, in whatever way it ends", async () => {
  vendor.clear();
  await inParallel(540, maxStreams, async (index) => {
    const way = ways[index % ways.length] as Way;
    const model = `way-${index}`;
    vendor.on(model, way.script);
    const connection = await send(model, way.isStream);
    await way.end(connection, model);
    connection.leave();
    await refusals[index % refusals.length]?.(index);
  });
  await waitFor("all calls to end", () =>
    vendor.requests.every(({ leftAt, finishedAt }) => leftAt !== null || finishedAt !== null),
  );
  await expectRoomFor(maxRequests, false);
  await expectRoomFor(maxStreams, true);
}, 300_000);
