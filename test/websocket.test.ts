// A connection that has changed to WebSocket messages: at the socket, and with a real client.

import { afterEach, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { replyJson } from "../src/http/reply.ts";
import { listen } from "../src/http/wire/listen.ts";
import { WebSocketWire } from "../src/http/wire/websocket.ts";
import { toAcceptKey } from "../src/http/wire/websocket-frames.ts";
import { createTicker } from "../src/lib/ticker.ts";
import { waitFor } from "./support/wait.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const key = "dGhlIHNhbXBsZSBub25jZQ==";
const handshake = `GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\n\r\n`;

/** Sends every text back as it came, and closes on "bye". */
function openEcho(silenceMs = 60_000) {
  const ticker = createTicker(10);
  const closed: number[] = [];
  let opened = 0;
  const listener = listen({
    host: "127.0.0.1",
    port: 0,
    ticker,
    answer: async ({ headers }) => ({
      headers: { upgrade: "websocket", "sec-websocket-accept": toAcceptKey(headers.get("sec-websocket-key") ?? "") },
      open(outgoing, close) {
        opened += 1;
        const own = opened;
        const wire: WebSocketWire = new WebSocketWire(
          outgoing,
          { maxMessageBytes: 10_000_000, silenceMs },
          {
            received: (text) => void (text === "bye" ? wire.close(4_000, "so long") : wire.send(text)),
            receivedBinary: () => wire.close(1_003, "text only"),
            wasDrained: () => {},
            closed: () => void closed.push(own),
          },
          close,
        );
        return wire;
      },
    }),
    refuse: () => replyJson({}, { status: 400 }),
  });
  closers.push(() => {
    listener.stopNow();
    ticker.close();
  });
  return { url: `http://127.0.0.1:${listener.port}`, closed, stop: listener.stop };
}

interface RawClient {
  send(bytes: string | Uint8Array): void;
  /** What came behind the handshake. */
  received(): Buffer;
  isClosed(): boolean;
}

async function connectRaw(url: string): Promise<RawClient> {
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
  return {
    send: (sent) => void socket.write(sent),
    received: () => bytes.subarray(bytes.indexOf("\r\n\r\n") + 4),
    isClosed: () => isClosed,
  };
}

async function shakeHands(url: string, first: Uint8Array = Buffer.alloc(0)): Promise<RawClient> {
  const client = await connectRaw(url);
  client.send(Buffer.concat([Buffer.from(handshake), first]));
  return client;
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

async function closeCodeOf(client: RawClient): Promise<number> {
  await waitFor("the end", client.isClosed);
  const bytes = client.received();
  expect(bytes[0]).toBe(0x88);
  return bytes.readUInt16BE(2);
}

test("a client gets back what it sends, small and large, and the code that the connection ends with", async () => {
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
  await waitFor("the end to be noticed", () => closed.length === 1);
});

test("the answer to the handshake is that of the standard, and what comes together with it is read as messages", async () => {
  const response = await fetch(openEcho().url, {
    headers: { upgrade: "websocket", connection: "Upgrade", "sec-websocket-key": key },
  });
  expect([response.status, response.headers.get("sec-websocket-accept")]).toEqual([
    101,
    "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
  ]);
  const client = await shakeHands(openEcho().url, frame(1, Buffer.from("hello")));
  await waitFor("the echo", () => client.received().equals(Buffer.from("\x81\x05hello", "latin1")));
});

test.each([
  ["a frame without a mask", Buffer.from([0x81, 0x01, 0x61]), 1_002],
  ["a frame of no known kind", frame(3, Buffer.from("a")), 1_002],
  ["text that is not UTF-8", frame(1, Buffer.from([0xff])), 1_007],
  ["a message that is no text", frame(2, Buffer.from("a")), 1_003],
  ["a message that is too large", frame(1, Buffer.alloc(10_000_001)).subarray(0, 100), 1_009],
  ["a goodbye with a code", frame(8, Buffer.from([0x03, 0xe9])), 1_001],
  ["a goodbye without one", frame(8, Buffer.alloc(0)), 1_000],
])("%s ends the connection with its code", async (_name, bytes, code) => {
  const { url, closed } = openEcho();
  const client = await shakeHands(url);
  client.send(bytes);
  expect(await closeCodeOf(client)).toBe(code);
  expect(closed).toEqual([1]);
});

test("a client that asks is answered, and one that is silent is asked and then given up", async () => {
  const asking = await shakeHands(openEcho().url);
  asking.send(frame(9, Buffer.from("there?")));
  await waitFor("the answer", () => asking.received().equals(Buffer.from("\x8a\x06there?", "latin1")));

  const { url, closed } = openEcho(1_500);
  const silent = await shakeHands(url);
  await waitFor("the end", silent.isClosed, { withinMs: 10_000 });
  expect([...silent.received()]).toEqual([0x89, 0]);
  expect(closed).toEqual([1]);
});

test("a client that sends and never reads is cut off before it fills the memory", async () => {
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
    { withinMs: 20_000, everyMs: 1 },
  );
  expect(sent).toBeLessThan(100);
});

test("a server that stops waits for its connections", async () => {
  const { url, stop } = openEcho();
  const client = await shakeHands(url);
  let isStopped = false;
  client.send(frame(1, Buffer.from("hello")));
  await waitFor("the echo", () => client.received().length > 0);
  const stopped = stop().then(() => {
    isStopped = true;
  });
  client.send(frame(1, Buffer.from("hello")));
  await waitFor("another one", () => client.received().length > 7);
  expect(isStopped).toBe(false);
  client.send(frame(1, Buffer.from("bye")));
  await stopped;
});
