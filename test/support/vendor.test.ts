// The mock vendor by itself: every way in which it breaks an answer is seen by a plain client, or the suites that lean
// on it would prove nothing.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { answer, event, fin, hang, httpChunk, lastHttpChunk, rst, streamHead, until, wait, write } from "./answers.ts";
import { readChatStream } from "./events.ts";
import { openConnection, requestBytes } from "./raw-http.ts";
import { startVendor, type Vendor } from "./vendor.ts";
import { inParallel, waitFor } from "./wait.ts";

let vendor: Vendor;
beforeAll(async () => {
  vendor = await startVendor();
});
afterAll(async () => {
  await vendor.stop();
});

const path = "/v1/chat/completions";
const question = JSON.stringify({ model: "echo", messages: [{ role: "user", content: "hello there" }] });

function ask(body = question): Promise<Response> {
  return fetch(`${vendor.url}/chat/completions`, { method: "POST", body });
}

test("the vendor answers, keeps the bytes it got, and keeps the connection", async () => {
  vendor.clear();
  const connection = await openConnection(vendor.url);
  for (const round of [1, 2]) {
    connection.send(requestBytes({ path, body: question }));
    const response = await connection.receive();
    expect(response.status).toBe(200);
    expect(response.body.toString()).toContain("hello there");
    expect(vendor.requests).toHaveLength(round);
    expect(vendor.last().body.toString()).toBe(question);
  }
  connection.leave();
});

test("the vendor streams with and without usage", async () => {
  const asked = { model: "echo", stream: true, messages: [{ role: "user", content: "one two three" }] };
  const plain = readChatStream(await (await ask(JSON.stringify(asked))).text());
  expect(plain).toMatchObject({ content: "one two three", done: true });
  expect(plain.chunks.some((chunk) => chunk.usage)).toBe(false);
  const usage = { ...asked, stream_options: { include_usage: true } };
  const counted = readChatStream(await (await ask(JSON.stringify(usage))).text());
  expect(counted.chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 9 } });
});

const cuts = {
  "a close between events": [streamHead(), event({ choices: [] }), fin],
  "a reset between events": [streamHead(), event({ choices: [] }), wait(20), rst],
  "a close inside a chunk": [streamHead(), write("40\r\ndata: {"), fin],
  "a length that is not reached": [write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"), fin],
} as const;
for (const [name, script] of Object.entries(cuts)) {
  test(`the vendor can end an answer with ${name}`, async () => {
    vendor.next(script);
    const response = await ask();
    expect(response.status).toBe(200);
    expect(await response.text().catch(() => "cut")).toBe("cut");
  });
}

test("the vendor notices that a client left", async () => {
  for (const script of [[hang], [streamHead(), hang], [streamHead(), event({}), wait(60_000)]]) {
    vendor.clear();
    vendor.next(script);
    const connection = await openConnection(vendor.url);
    connection.send(requestBytes({ path, body: question }));
    await vendor.waitFor("the request", (requests) => requests.length === 1);
    expect(vendor.last().leftAt).toBeNull();
    connection.leave();
    await waitFor("the vendor to notice", () => vendor.last().leftAt);
  }
});

test("the vendor floods no faster than it is read", async () => {
  vendor.next([streamHead(), write("fffffff\r\n"), { do: "flood", unit: Buffer.alloc(65_536, 120), times: 4_000 }]);
  const response = await ask();
  const reader = response.body?.getReader();
  let bytes = 0;
  while (bytes < 3_000_000) bytes += (await reader?.read())?.value?.length ?? Number.POSITIVE_INFINITY;
  await reader?.cancel().catch(() => {});
  await waitFor("the flood to stop", () => vendor.last().leftAt);
});

test("the vendor refuses connections while asked to, and listens again on the same port", async () => {
  await vendor.whileRefusing(async () => {
    expect(await ask().then(String, (error: Error & { code?: string }) => error.code)).toBe("ECONNREFUSED");
  });
  expect((await ask()).status).toBe(200);
});

test("the vendor holds two thousand streams open at once", async () => {
  vendor.clear();
  const count = 2_000;
  const allOpen = Promise.withResolvers<void>();
  const ending = [until(allOpen.promise), httpChunk("data: [DONE]\n\n"), lastHttpChunk];
  vendor.on("echo", [streamHead(), event({ choices: [] }), ...ending]);
  let ended = 0;
  const reading = inParallel(count, count, async () => {
    const connection = await openConnection(vendor.url);
    connection.send(requestBytes({ path, body: question }));
    const response = await connection.receive();
    if (response.complete && response.body.toString().endsWith("[DONE]\n\n")) ended += 1;
    connection.leave();
  });
  await waitFor("all requests", () => vendor.requests.length === count);
  expect(vendor.openConnections()).toBeGreaterThanOrEqual(count);
  allOpen.resolve();
  await reading;
  expect(ended).toBe(count);
});

test("a body of nineteen megabytes arrives whole", async () => {
  vendor.clear();
  vendor.next(answer(200, {}));
  expect((await ask(JSON.stringify({ model: "m", pad: "x".repeat(19_000_000) }))).status).toBe(200);
  expect(vendor.last().body.length).toBeGreaterThan(19_000_000);
  expect(vendor.last().model).toBe("m");
});
