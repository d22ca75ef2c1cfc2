// WebSocket connections, at the socket and with a real client.

import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import type { Caller } from "../../src/access/caller.ts";
import { createLimits } from "../../src/access/limits.ts";
import { type ServerOptions, startServer } from "../../src/http/server.ts";
import type { SocketRoute } from "../../src/http/socket.ts";
import { createTicker } from "../../src/lib/ticker.ts";
import { createLog } from "../../src/log.ts";
import { closeAfterEach } from "../support/closers.ts";
import { openPatientAdmission } from "../support/patient-admission.ts";
import { waitFor } from "../support/wait.ts";

const closers = closeAfterEach();

const maxMessageBytes = 10_000_000;
const key = "dGhlIHNhbXBsZSBub25jZQ==";
const handshake = `GET /echo HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`;

interface Echo {
  readonly url: string;
  /** Numbers of the connections that are closed, in the order in which they were opened. */
  readonly closed: number[];
  beginDrain(): void;
  stop(): Promise<void>;
}

/** Sends every text back, and closes on "bye" and when the server drains. */
function openEcho(socketLimits?: ServerOptions["socketLimits"]): Echo {
  const ticker = createTicker(10);
  const log = createLog({ level: "error", format: "text", secrets: [], write: () => {} });
  const admission = openPatientAdmission(log);
  const closed: number[] = [];
  let opened = 0;
  const echo: SocketRoute = {
    path: "/echo",
    open(socket) {
      opened += 1;
      const own = opened;
      socket.signal.addEventListener("abort", () => closed.push(own));
      return {
        receive: (text) => void (text === "bye" ? socket.close(4_000, "so long") : socket.send(text)),
        drain: () => socket.close(1_012, "restart"),
      };
    },
  };
  const server = startServer({
    host: "127.0.0.1",
    port: 0,
    routes: [{ method: "POST", path: "/echo", key: "inference", run: () => "{}" }],
    sockets: [echo],
    // The key is its own id.
    authenticator: {
      authenticate: (authorization) => ({ kind: "inference", keyId: authorization ?? "key-1" }) as Caller,
    },
    limits: createLimits(),
    bodyLimits: { maxBodyBytes: maxMessageBytes, bodyTimeoutMs: 60_000 },
    ...(socketLimits && { socketLimits }),
    ticker,
    admission,
    log,
  });
  closers.push(() => {
    server.stopNow();
    ticker.close();
    admission.close();
  });
  return { url: `http://127.0.0.1:${server.port}/echo`, closed, beginDrain: server.beginDrain, stop: server.stop };
}

interface RawClient {
  send(bytes: string | Uint8Array): void;
  /** The bytes after the handshake. */
  received(): Buffer;
  isClosed(): boolean;
}

async function shakeHands(url: string, first: Uint8Array = Buffer.alloc(0)): Promise<RawClient> {
  let bytes: Buffer = Buffer.alloc(0);
  let isClosed = false;
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
  closers.push(() => socket.destroy());
  socket.on("data", (piece: Buffer) => {
    bytes = Buffer.concat([bytes, piece]);
  });
  for (const event of ["end", "close", "error"])
    socket.on(event, () => {
      isClosed = true;
    });
  await once(socket, "connect");
  socket.write(Buffer.concat([Buffer.from(handshake), first]));
  await waitFor("the handshake", () => bytes.includes("\r\n\r\n"));
  expect(bytes.toString("latin1")).toStartWith("HTTP/1.1 101 ");
  return {
    send: (sent) => void socket.write(sent),
    received: () => bytes.subarray(bytes.indexOf("\r\n\r\n") + 4),
    isClosed: () => isClosed,
  };
}

/** A frame as clients send it, with the mask 0. */
function frame(opcode: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(payload.length < 126 ? 6 : 14);
  head[0] = 0x80 | opcode;
  if (payload.length < 126) head[1] = 0x80 | payload.length;
  else {
    head[1] = 0xff;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  return Buffer.concat([head, payload]);
}

test("messages of every size arrive, and so does the close code", async () => {
  const { url, closed } = openEcho();
  const client = new WebSocket(url.replace("http", "ws"));
  const received: string[] = [];
  const ended = Promise.withResolvers<CloseEvent>();
  client.onmessage = ({ data }) => void received.push(String(data));
  client.onclose = ended.resolve;
  const sent = ["", "hello", "ä€𝄞", "x".repeat(200), "y".repeat(70_000), "z".repeat(5_000_000)];
  client.onopen = () => {
    for (const text of sent) client.send(text);
    client.send("bye");
  };
  const { code, reason, wasClean } = await ended.promise;
  expect([code, reason, wasClean]).toEqual([4_000, "so long", true]);
  expect(received).toEqual(sent);
  await waitFor("the session to end", () => closed.length === 1);
});

test("the answer to the handshake is that of RFC 6455 and has a request id; bytes behind it are messages", async () => {
  const response = await fetch(openEcho().url, {
    headers: { upgrade: "websocket", connection: "Upgrade", "sec-websocket-key": key, "sec-websocket-version": "13" },
  });
  expect([response.status, response.headers.get("sec-websocket-accept")]).toEqual([
    101,
    "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
  ]);
  expect(response.headers.get("x-request-id")).toBeString();
  const client = await shakeHands(openEcho().url, frame(1, Buffer.from("hello")));
  await waitFor("the echo", () => client.received().equals(Buffer.from("\x81\x05hello", "latin1")));
});

test.each([
  ["a frame of an unknown kind", frame(3, Buffer.from("a")), [1_002]],
  ["text that is not UTF-8", frame(1, Buffer.from([0xff])), [1_007]],
  ["a message that is not text", frame(2, Buffer.from("a")), [1_003]],
  ["a message that is too large", frame(1, Buffer.alloc(maxMessageBytes + 1)).subarray(0, 100), [1_009]],
  ["a close frame with a code", frame(8, Buffer.from([0x03, 0xe9])), [1_001]],
  ["a close frame without a code", frame(8, Buffer.alloc(0)), [1_000, null]],
])("%s ends the connection, with its code where there is one", async (_name, bytes, codes) => {
  const { url, closed } = openEcho();
  const client = await shakeHands(url);
  client.send(bytes);
  await waitFor("the end", client.isClosed);
  const answer = client.received();
  // Bun closes some connections without a close frame; if there is one, it has the right code.
  const code = answer.length < 4 ? null : answer.readUInt16BE(2);
  expect([...codes, null]).toContain(code);
  await waitFor("the session to end", () => closed.length === 1);
});

test("a ping is answered", async () => {
  const client = await shakeHands(openEcho().url);
  client.send(frame(9, Buffer.from("there?")));
  await waitFor("the pong", () => client.received().equals(Buffer.from("\x8a\x06there?", "latin1")));
});

test("a client that sends and never reads is disconnected before it fills the memory", async () => {
  const { url, closed } = openEcho();
  const message = frame(1, Buffer.alloc(1_000_000, "x"));
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(url).port),
    socket: { data: (socket) => void socket.pause(), error() {}, close() {} },
  });
  closers.push(() => socket.terminate());
  socket.write(handshake);
  let left: Buffer = Buffer.alloc(0);
  let sent = 0;
  await waitFor(
    "the end",
    () => {
      if (left.length === 0 && sent++ < 200) left = message;
      left = left.subarray(Math.max(0, socket.write(left)));
      return closed.length === 1;
    },
    { everyMs: 1 },
  );
  expect(sent).toBeLessThan(100);
});

test("a server that drains closes its connections with 1012, and stops when they are closed", async () => {
  const { url, beginDrain, stop } = openEcho();
  const client = await shakeHands(url);
  client.send(frame(1, Buffer.from("hello")));
  await waitFor("the echo", () => client.received().length > 0);
  beginDrain();
  await waitFor("the close frame", () => client.received().subarray(7).length >= 4);
  expect(client.received().subarray(7).readUInt16BE(2)).toBe(1_012);
  client.send(frame(8, Buffer.from([0x03, 0xf4])));
  await stop();
  const response = await fetch(url, { method: "POST" }).catch(() => null);
  expect(response).toBeNull();
});

describe("the limit of open WebSockets per key", () => {
  const limits = { maxWebSocketsPerKey: 3, maxWebSocketMessageBytes: 1_000 };

  async function open(url: string, withKey: string): Promise<{ status: number; code?: string; close(): void }> {
    const response = await fetch(url, {
      headers: {
        authorization: withKey,
        upgrade: "websocket",
        connection: "Upgrade",
        "sec-websocket-key": key,
        "sec-websocket-version": "13",
      },
    });
    if (response.status === 101) return { status: 101, close: () => void response.body?.cancel() };
    const { error } = (await response.json()) as { error: { code: string } };
    return { status: response.status, code: error.code, close: () => {} };
  }

  test("holds for connections that are opened at once, and closing one allows another", async () => {
    const { url, closed } = openEcho(limits);
    const clients = Array.from({ length: 8 }, () => {
      const client = new WebSocket(url.replace("http", "ws"), { headers: { authorization: "key-a" } } as never);
      closers.push(() => client.terminate());
      return client;
    });
    await waitFor("every answer", () => clients.every(({ readyState }) => readyState !== WebSocket.CONNECTING));
    const opened = clients.filter(({ readyState }) => readyState === WebSocket.OPEN);
    expect(opened).toHaveLength(3);
    expect(await open(url, "key-a")).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    const other = await open(url, "key-b");
    expect(other.status).toBe(101);
    other.close();
    opened[0]?.close();
    await waitFor("a closed connection", () => closed.length >= 1);
    expect((await open(url, "key-a")).status).toBe(101);
  });

  test("a failed upgrade is not counted", async () => {
    const { url } = openEcho(limits);
    for (let count = 0; count < 5; count++) {
      const headers = { authorization: "key-a", upgrade: "websocket", connection: "Upgrade" };
      expect((await fetch(url, { headers })).status).toBe(400);
    }
    expect((await open(url, "key-a")).status).toBe(101);
  });

  test("a message above its own limit ends the connection, in one frame or in many", async () => {
    for (const frames of [
      [frame(1, Buffer.alloc(1_001, "x"))],
      // Unfinished fragments: the first without the final bit, the others continue it.
      Array.from({ length: 11 }, (_none, index) => {
        const fragment = frame(index === 0 ? 1 : 0, Buffer.alloc(100, "x"));
        fragment[0] = index === 0 ? 0x01 : 0x00;
        return fragment;
      }),
    ]) {
      const { url, closed } = openEcho(limits);
      const client = await shakeHands(url);
      for (const each of frames) client.send(each);
      await waitFor("the end", () => closed.length === 1);
    }
  });
});
