// /v3/responses over a WebSocket: the same events as messages, one response at a time, and a memory of the last one.

import { beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { answer } from "../support/answers.ts";
import { type GatewayProcess, sharedGatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { residentMegabytes } from "../support/processes.ts";
import { openConnection, requestBytes } from "../support/raw-http.ts";
import { createClient, responsesPath } from "../support/responses.ts";
import { type Message, SocketClient } from "../support/responses-socket.ts";
import { startResponsesVendor, vendorIds } from "../support/responses-vendor.ts";
import { awayFromMinuteEnd, waitFor } from "../support/wait.ts";

const maxBodyBytes = 100_000;

const vendor = await startResponsesVendor();
const gateway = await sharedGatewayProcess({ vendor, env: { SWITCHYARD_MAX_BODY_BYTES: String(maxBodyBytes) } });
const key = await gateway.createKey();
beforeEach(() => vendor.clear());

const open = (withKey = key, of = gateway) => new SocketClient(of, withKey).opened();

function textOf({ response }: Message): string {
  const items = (response?.output ?? []).filter(({ type }) => type === "message");
  return items.flatMap(({ content }) => (content as { text: string }[]).map(({ text }) => text)).join("");
}

describe("talking", () => {
  for (const model of ["mock/echo", "mockchat/echo", "sandbox/echo"]) {
    test(`a message is a response, and its events are messages (${model})`, async () => {
      const talk = await open();
      talk.send({ model, input: "hello there" });
      const messages = await talk.next();
      expect(messages.map(({ sequence_number }) => sequence_number)).toEqual(messages.map((_, index) => index));
      expect(messages[0]?.type).toBe("response.created");
      expect(messages.at(-1)?.type).toBe("response.completed");
      expect(textOf(messages.at(-1) as Message)).toContain("hello there");
      expect(JSON.stringify(messages)).not.toMatch(vendorIds);
      expect(messages.at(-1)?.response?.provider).toBe(model.split("/")[0] ?? "");
      // No mark of the end: a response's last event is it.
      await talk.ask({ model, input: "again" });
      expect(JSON.stringify(talk.messages)).not.toContain("[DONE]");
      talk.socket.close();
    });
  }

  test("what is kept can be gone on from, here and over HTTP", async () => {
    const talk = await open();
    const first = await talk.ask({ model: "mock/echo", input: "one" });
    const second = await talk.ask({ model: "mock/echo", input: "two", previous_response_id: first.response?.id });
    expect(textOf(second)).toBe("heard: one | two");
    const client = createClient(gateway, key);
    const third = await client.create({ input: "three", previous_response_id: second.response?.id });
    const fourth = await talk.ask({ model: "mock/echo", input: "four", previous_response_id: third.id });
    expect(textOf(fourth)).toBe("heard: one | two | three | four");
    talk.socket.close();
  });

  for (const model of ["mock/echo", "mockchat/echo"]) {
    test(`a response that is not stored is known to its connection only, and only the last one (${model})`, async () => {
      const talk = await open();
      const body = { model, store: false };
      const first = await talk.ask({ ...body, input: "one" });
      expect(first.response?.store).toBe(false);
      const second = await talk.ask({ ...body, input: "two", previous_response_id: first.response?.id });
      const third = await talk.ask({ ...body, input: "three", previous_response_id: second.response?.id });
      expect(third.response?.previous_response_id).toBe(second.response?.id ?? "");
      const told = JSON.parse(vendor.last().body.toString());
      const said = JSON.stringify(told.input ?? told.messages);
      for (const word of ["one", "two", "three"]) expect(said).toContain(word);
      if (model === "mock/echo") expect(told).toMatchObject({ previous_response_id: null, store: false });
      // Not the last one, and not over another connection.
      const calls = vendor.requests.length;
      const tooOld = await talk.ask({ ...body, input: "x", previous_response_id: first.response?.id });
      expect(tooOld).toMatchObject({ type: "error", status: 400, error: { code: "previous_response_not_found" } });
      const other = await open();
      const elsewhere = await other.ask({ ...body, input: "x", previous_response_id: third.response?.id });
      expect(elsewhere).toMatchObject({ type: "error", status: 400, error: { code: "previous_response_not_found" } });
      const stranger = await open(await gateway.createKey());
      const foreign = await stranger.ask({ ...body, input: "x", previous_response_id: third.response?.id });
      expect(foreign).toMatchObject({ type: "error", error: { code: "previous_response_not_found" } });
      expect(vendor.requests).toHaveLength(calls);
      for (const one of [talk, other, stranger]) one.socket.close();
    });
  }

  test("a continuation that fails makes the connection forget the response that it was to continue", async () => {
    for (const model of ["mock/echo", "mockchat/echo"]) {
      const talk = await open();
      const first = await talk.ask({ model, store: false, input: "one" });
      const again = { model, store: false, input: "two", previous_response_id: first.response?.id };
      const refused = await talk.ask({ ...again, temperature: 3 });
      expect(refused).toMatchObject({ type: "error", status: 422 });
      const forgotten = await talk.ask(again);
      expect(forgotten).toMatchObject({ status: 400, error: { code: "previous_response_not_found" } });

      const third = await talk.ask({ model, store: false, input: "three" });
      vendor.next(answer(500, { error: { message: "down" } }));
      vendor.next(answer(500, { error: { message: "down" } }));
      vendor.next(answer(500, { error: { message: "down" } }));
      const onward = { ...again, previous_response_id: third.response?.id };
      expect(await talk.ask(onward)).toMatchObject({ type: "error", status: 502 });
      vendor.clear();
      expect(await talk.ask(onward)).toMatchObject({ status: 400, error: { code: "previous_response_not_found" } });
      talk.socket.close();
    }
  });

  test("with generate: false nothing is generated, and the next response knows what was sent", async () => {
    const talk = await open();
    const warm = await talk.ask({ model: "mock/echo", input: "one", generate: false });
    expect(warm).toMatchObject({ type: "response.completed", response: { store: false } });
    expect(vendor.requests).toHaveLength(0);
    const next = await talk.ask({ model: "mock/echo", input: "two", previous_response_id: warm.response?.id });
    expect(textOf(next)).toBe("heard: one | two");
    expect(Object.keys(vendor.lastBody())).not.toContain("generate");
    talk.socket.close();
  });
});

describe("refusing", () => {
  test("what is wrong is told as a message, and the connection stays", async () => {
    const talk = await open();
    const cases: readonly [string, number, string][] = [
      ["{", 422, "json_invalid"],
      ["5", 400, "unknown_message"],
      ["[]", 400, "unknown_message"],
      ["null", 400, "unknown_message"],
      ['{"type":"response.cancel"}', 400, "unknown_message"],
      ['{"type":"response.create"}', 422, "missing"],
      ['{"type":"response.create","model":"mock/echo","input":"x","temperature":3}', 422, "less_than_equal"],
      ['{"type":"response.create","type":"response.create","model":"mock/echo","input":"x"}', 422, "duplicate_key"],
      ['{"type":"response.create","model":"nobody/x","input":"x"}', 404, "provider_not_found"],
      [
        '{"type":"response.create","model":"mock/echo","previous_response_id":"resp_0"}',
        400,
        "previous_response_not_found",
      ],
    ];
    for (const [text, status, code] of cases) {
      talk.socket.send(text);
      const [error] = await talk.next();
      expect([text, error?.status, error?.error?.code]).toEqual([text, status, code]);
    }
    expect(vendor.requests).toHaveLength(0);
    expect(textOf(await talk.ask({ model: "mock/echo", input: "fine" }))).toBe("heard: fine");
    talk.socket.close();
  });

  test("a stream that breaks ends with error and response.failed, and the connection stays", async () => {
    const talk = await open();
    for (const model of ["mock/cut", "mock/error-event"]) {
      talk.messages.length = 0;
      talk.send({ model, input: "one two three" });
      await waitFor("the failure", () => talk.messages.at(-1)?.type === "response.failed");
      expect(talk.messages.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
    }
    talk.messages.length = 0;
    talk.send({ model: "mock/echo", input: "fine" });
    await waitFor("the next response", () => talk.messages.at(-1)?.type === "response.completed");
    talk.socket.close();
  });

  test("one response at a time", async () => {
    const talk = await open();
    talk.send({ model: "mock/slow", input: "one two" });
    talk.send({ model: "mock/echo", input: "too early" });
    await waitFor("the end", () => talk.messages.at(-1)?.type === "response.completed");
    expect(talk.messages.filter(({ type }) => type === "error")).toMatchObject([
      { error: { code: "response_in_progress" } },
    ]);
    expect(talk.messages.filter(({ type }) => type === "response.completed")).toHaveLength(1);
    expect(vendor.requests).toHaveLength(1);
    talk.socket.close();
  });

  test("a message of bytes closes the connection with 1003, one that is too large with 1009 or 1006", async () => {
    const bytes = await open();
    bytes.socket.send(Buffer.from("{}"));
    expect((await bytes.waitForClose()).code).toBe(1003);
    const large = await open();
    large.send({ model: "mock/echo", input: "x".repeat(maxBodyBytes) });
    // The parser closes without a word.
    expect([1006, 1009]).toContain((await large.waitForClose()).code);
    expect(vendor.requests).toHaveLength(0);
  });

  test("who may not call gets a plain HTTP answer and no connection", async () => {
    const answerTo = async (headers: Record<string, string>, method = "GET") => {
      const connection = await openConnection(gateway.url);
      const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
      const own = { ...upgrade, "sec-websocket-key": randomBytes(16).toString("base64"), ...headers };
      connection.send(requestBytes({ method, path: responsesPath, headers: own }));
      const { status, headers: told, body } = await connection.receive();
      connection.leave();
      return { status, code: JSON.parse(body.toString()).error.code, authenticate: told["www-authenticate"] };
    };
    expect(await answerTo({})).toEqual({ status: 401, code: "missing_api_key", authenticate: "Bearer" });
    expect(await answerTo({ authorization: "Bearer sk-wrong" })).toMatchObject({
      status: 401,
      code: "invalid_api_key",
    });
    expect(await answerTo({ authorization: `Bearer ${gateway.adminKey}` })).toMatchObject({ status: 403 });
    expect(await answerTo({ authorization: `Bearer ${key}`, "sec-websocket-key": "" })).toMatchObject({ status: 400 });
    // Without the wish for it, it is a path that answers to other methods.
    expect(await answerTo({ authorization: `Bearer ${key}`, upgrade: "x" })).toMatchObject({ status: 405 });
  });

  test("a key that is revoked while its connection is open is good for nothing more", async () => {
    const created = (await gateway.manage("POST", "/keys", { name: "k" })) as { id: string; key: string };
    const talk = await open(created.key);
    expect((await talk.ask({ model: "mock/echo", input: "x" })).type).toBe("response.completed");
    await gateway.manage("DELETE", `/keys/${created.id}`);
    const refused = await talk.ask({ model: "mock/echo", input: "x" });
    expect(refused).toMatchObject({ status: 401, error: { code: "api_key_revoked" } });
    expect((await talk.waitForClose()).code).toBe(1008);
  });

  test("scopes hold, a rate counts messages, and a sandbox key talks to the sandbox", async () => {
    const chatOnly = await open(await gateway.createKey({ scopes: ["chat"] }));
    expect(await chatOnly.ask({ model: "mock/echo", input: "x" })).toMatchObject({
      status: 403,
      error: { code: "insufficient_scope" },
    });
    await awayFromMinuteEnd();
    const rated = await open(await gateway.createKey({ rate_limit: { requests_per_minute: 2 } }));
    for (let count = 0; count < 2; count += 1)
      expect((await rated.ask({ model: "mock/echo", input: "x" })).type).toBe("response.completed");
    expect(await rated.ask({ model: "mock/echo", input: "x" })).toMatchObject({
      status: 429,
      error: { code: "rate_limit_exceeded" },
    });
    vendor.clear();
    const sandbox = await open(await gateway.createKey({ kind: "sandbox" }));
    const answered = await sandbox.ask({ model: "mock/echo", input: "x" });
    expect([answered.type, answered.response?.provider]).toEqual(["response.completed", "sandbox"]);
    expect(vendor.requests).toHaveLength(0);
    for (const talk of [chatOnly, rated, sandbox]) talk.socket.close();
  });
});

describe("leaving and waiting", () => {
  for (const model of ["stall-whole", "stall-head", "stall"]) {
    test(`a client that leaves takes the provider's call with it (${model})`, async () => {
      const talks = await Promise.all(Array.from({ length: 10 }, () => open()));
      for (const talk of talks) talk.send({ model: `mock/${model}`, input: "one two" });
      await vendor.waitFor("the calls", (requests) => requests.length === talks.length);
      if (model === "stall") await waitFor("deltas", () => talks.every(({ messages }) => messages.length > 4));
      for (const [index, talk] of talks.entries()) {
        if (index % 2 === 0) talk.socket.close();
        else talk.socket.terminate();
      }
      await vendor.waitFor("their end", (requests) => requests.every(({ leftAt }) => leftAt !== null));
    });
  }

  test("a client that does not read holds the provider back, and nothing is lost", async () => {
    const [serving = 0] = (await gateway.processes()).serving;
    const before = await residentMegabytes(serving);
    const socket = await openRaw(gateway, key);
    socket.pause();
    // Some 120 MB, of which neither the sockets nor the gateway may hold much.
    socket.write(toFrame(JSON.stringify({ type: "response.create", model: "mock/flood", input: "x" })));
    await vendor.waitFor("the call", (requests) => requests.length === 1);
    let held = 0;
    const until = performance.now() + 1_500;
    await waitFor("the provider to stand still", async () => {
      held = Math.max(held, (await residentMegabytes(serving)) - before);
      return performance.now() > until;
    });
    expect(vendor.last().finishedAt).toBeNull();
    expect(held).toBeLessThan(60);
    let read = 0;
    let tail = "";
    socket.on("data", (bytes: Buffer) => {
      read += bytes.length;
      tail = (tail + bytes.toString("latin1")).slice(-2_000);
    });
    socket.resume();
    await waitFor("the end", () => tail.includes('"response.completed"'));
    expect(read).toBeGreaterThan(120_000_000);
    socket.destroy();
  });

  test("a client that sends while a response runs, and reads nothing, is disconnected", async () => {
    const [serving = 0] = (await gateway.processes()).serving;
    const socket = await openRaw(gateway, key);
    socket.pause();
    socket.write(toFrame(JSON.stringify({ type: "response.create", model: "mock/stall-head", input: "x" })));
    await vendor.waitFor("the call", (requests) => requests.length === 1);
    const before = await residentMegabytes(serving);
    const messages = Buffer.concat(Array.from({ length: 1_000 }, () => toFrame("{}")));
    await waitFor(
      "the end of the call",
      () => {
        if (socket.writableLength < messages.length) socket.write(messages);
        return vendor.last().leftAt !== null;
      },
      { everyMs: 1 },
    );
    expect((await residentMegabytes(serving)) - before).toBeLessThan(60);
    socket.destroy();
  });

  test("when the gateway goes down, a running response ends, and then the connection, with 1012", async () => {
    const own = await startGatewayProcess({ vendor, env: { SWITCHYARD_DRAIN_TIMEOUT_MS: "100000" } });
    const ownKey = await own.createKey();
    const [busy, idle] = [await open(ownKey, own), await open(ownKey, own)];
    busy.send({ model: "mock/slow", input: "one two three four" });
    await waitFor("the first events", () => busy.messages.length > 2);
    own.signal("SIGTERM");
    expect((await idle.waitForClose()).code).toBe(1012);
    expect((await busy.waitForClose()).code).toBe(1012);
    expect(busy.messages.at(-1)?.type).toBe("response.completed");
    expect(await own.exited()).toBe(0);
    await own.kill();
  });

  test("a response that never ends does not keep the gateway up", async () => {
    const own = await startGatewayProcess({ vendor, env: { SWITCHYARD_DRAIN_TIMEOUT_MS: "500" } });
    const talk = await open(await own.createKey(), own);
    talk.send({ model: "mock/stall", input: "one two three four" });
    await waitFor("a delta", () => talk.messages.some(({ type }) => type === "response.output_text.delta"));
    own.signal("SIGTERM");
    await own.exited();
    await talk.waitForClose();
    expect(talk.messages.some(({ type }) => type === "response.completed")).toBe(false);
    expect(talk.messages.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
    await own.kill();
  });
});

/** A client that can stop reading, which a WebSocket object cannot. */
async function openRaw(of: GatewayProcess, withKey: string): Promise<Socket> {
  const { hostname, port } = new URL(of.url);
  const socket = connect({ host: hostname, port: Number(port) });
  const upgraded = Promise.withResolvers<void>();
  socket.once("data", () => upgraded.resolve());
  socket.write(
    requestBytes({
      method: "GET",
      path: responsesPath,
      headers: {
        authorization: `Bearer ${withKey}`,
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": randomBytes(16).toString("base64"),
      },
    }),
  );
  await upgraded.promise;
  return socket;
}

/** One masked text frame, shorter than 64 KB. */
function toFrame(text: string): Buffer {
  const body = Buffer.from(text);
  const mask = randomBytes(4);
  const head =
    body.length < 126
      ? Buffer.of(0x81, 0x80 | body.length)
      : Buffer.of(0x81, 0xfe, body.length >> 8, body.length & 255);
  return Buffer.concat([head, mask, body.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}
