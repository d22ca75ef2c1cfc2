// The HTTP server itself, at the socket: what is a request and what is not, where one ends and the next begins, who waits for whom.

import { afterEach, describe, expect, test } from "bun:test";
import { GatewayError } from "../src/errors.ts";
import { type BodyStream, type Reply, reply, replyJson, streamBytes } from "../src/http/reply.ts";
import type { ConnectionClocks } from "../src/http/wire/connection.ts";
import type { IncomingRequest } from "../src/http/wire/incoming-request.ts";
import { listen } from "../src/http/wire/listen.ts";
import { createTicker } from "../src/lib/ticker.ts";
import { openConnection, type RawConnection, type RawResponse } from "./support/raw-http.ts";
import { waitFor } from "./support/wait.ts";

type Answer = (request: IncomingRequest) => Promise<Reply>;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Opened {
  readonly url: string;
  /** What was taken for a request: method, target and, where it was read, body. */
  readonly served: string[];
  readonly refused: unknown[];
  connect(): Promise<RawConnection>;
}

function open(answer: Answer = echo, clocks: Partial<ConnectionClocks> = {}): Opened {
  const ticker = createTicker(10);
  const served: string[] = [];
  const refused: unknown[] = [];
  const listener = listen({
    host: "127.0.0.1",
    port: 0,
    ticker,
    clocks,
    async answer(request) {
      served.push(`${request.method} ${request.head.target}`);
      try {
        return await answer(request);
      } catch (error) {
        return toReply(error);
      }
    },
    refuse(error) {
      refused.push(error);
      return toReply(error);
    },
  });
  closers.push(() => {
    listener.stopNow();
    ticker.close();
  });
  const url = `http://127.0.0.1:${listener.port}`;
  return {
    url,
    served,
    refused,
    async connect() {
      const connection = await openConnection(url);
      closers.push(connection.leave);
      return connection;
    },
  };
}

function toReply(error: unknown): Reply {
  if (!(error instanceof GatewayError)) return replyJson({ code: "bug" }, { status: 500 });
  const status = { headers_too_large: 431, too_many_headers: 431, request_timeout: 408 }[error.code as string] ?? 400;
  return replyJson({ code: error.code }, { status, headers: { ...error.details.headers } });
}

async function readAll(request: IncomingRequest): Promise<Buffer> {
  const whole = request.body.takeWhole();
  if (whole !== null) return Buffer.from(whole);
  const pieces: Buffer[] = [];
  for (let piece = await request.body.read(); piece !== null; piece = await request.body.read())
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

async function echo(request: IncomingRequest): Promise<Reply> {
  const body = await readAll(request);
  return replyJson({ target: request.head.target, body: body.toString("latin1") });
}

const get = (target: string, more = "") => `GET ${target} HTTP/1.1\r\nHost: gateway\r\n${more}\r\n`;
const post = (target: string, body: string) =>
  `POST ${target} HTTP/1.1\r\nHost: gateway\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const chunked = (target: string, chunks: string) =>
  `POST ${target} HTTP/1.1\r\nHost: gateway\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;
const targetOf = ({ body }: RawResponse) => (JSON.parse(body.toString()) as { target: string }).target;
const bodyOf = ({ body }: RawResponse) => (JSON.parse(body.toString()) as { body: string }).body;

describe("what is no request", () => {
  const heads: Record<string, string> = {
    "a request of HTTP/0.9": "GET /\r\n\r\n",
    "another protocol": "SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "a later version": "GET / HTTP/1.2\r\nHost: a\r\n\r\n",
    "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "the beginning of TLS": "\x16\x03\x01\x02\x00",
    "a method that nobody knows": "FOO / HTTP/1.1\r\nHost: a\r\n\r\n",
    "a method in lower case": "get / HTTP/1.1\r\nHost: a\r\n\r\n",
    "a request for a tunnel": "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target with a space": "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target with a tab": "GET /a\tb HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target that is not UTF-8": "GET /\xfc HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target of another scheme": "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "two spaces": "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
    "a space before it": " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "lines that end with a line feed alone": "GET / HTTP/1.1\nHost: a\n\n",
    "one line that ends with a line feed alone": "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
    "a carriage return inside a value": "GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n",
    "a folded header": "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n",
    "a header without a colon": "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
    "a header without a name": "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
    "a space before the colon": "GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n",
    "a NUL in a value": "GET / HTTP/1.1\r\nHost: a\r\nX: b\0\r\n\r\n",
    "no host": "GET / HTTP/1.1\r\nX: b\r\n\r\n",
    "two hosts": "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
    "a host with a path": "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "two lengths": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
    "a length with a sign": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\nx",
    "a length in hexadecimal": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\nx",
    "a length that no number can hold": `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${"9".repeat(20)}\r\n\r\nx`,
    "an empty length": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\nx",
    "a length and chunks":
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks twice": "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "another encoding": "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunks in HTTP/1.0": "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  };
  test.each(Object.entries(heads))("%s is refused, and nothing behind it is served", async (_name, bytes) => {
    const server = open();
    const connection = await server.connect();
    connection.send(`${bytes}${get("/smuggled")}`);
    const { status, headers, body } = await connection.receive();
    expect([status, headers["connection"], JSON.parse(body.toString()).code]).toEqual([
      400,
      "close",
      "malformed_request",
    ]);
    await connection.waitForClose();
    expect(connection.text()).toBe("");
    expect(server.served).toEqual([]);
  });

  test.each([
    "\x16\x03\x01\x02\x00",
    "GET / HTTP/1.1\nHost: a\n\n",
    "hello",
    "*",
  ])("%j is refused at once: nothing that may follow makes it a request", async (bytes) => {
    const connection = await open().connect();
    connection.send(bytes);
    expect((await connection.receive({ withinMs: 2_000 })).status).toBe(400);
    await connection.waitForClose();
  });

  test("a head that is too long, or has too many headers, is refused as that", async () => {
    for (const [bytes, code] of [
      [get(`/${"a".repeat(17_000)}`), "headers_too_large"],
      [get("/", `X: ${"a".repeat(17_000)}\r\n`), "headers_too_large"],
      [`GET / HTTP/1.1\r\nHost: a\r\nX: ${"a".repeat(17_000)}`, "headers_too_large"],
      [get("/", "X: a\r\n".repeat(100)), "too_many_headers"],
    ]) {
      const connection = await open().connect();
      connection.send(bytes ?? "");
      const { status, body } = await connection.receive();
      expect([status, JSON.parse(body.toString()).code]).toEqual([431, code]);
      await connection.waitForClose();
    }
    const connection = await open().connect();
    connection.send(get("/", "X: a\r\n".repeat(99)));
    expect((await connection.receive()).status).toBe(200);
  });

  test("a head that does not come whole is given up, with an answer", async () => {
    const connection = await open(echo, { headMs: 100 }).connect();
    connection.send("GET / HTTP/1.1\r\nHost: a\r\n");
    expect((await connection.receive()).status).toBe(408);
    await connection.waitForClose();
  });

  test("bytes changed at random are answered or cut off, and never an accident", async () => {
    const server = open();
    const random = createRandom(7);
    const good = [get("/a", "X: b\r\n"), post("/b", "hello"), chunked("/c", "3\r\nabc\r\n0\r\n\r\n")];
    for (let round = 0; round < 300; round++) {
      const bytes = Buffer.from(good[round % good.length] ?? "", "latin1");
      for (let changes = 1 + random(3); changes > 0; changes--) bytes[random(bytes.length)] = random(256);
      const connection = await openConnection(server.url);
      const middle = random(bytes.length);
      connection.send(bytes.subarray(0, middle));
      connection.send(bytes.subarray(middle));
      // Behind it a whole request: it is answered too, or belongs to what came before, or the connection is closed.
      connection.send(get("/after", "Connection: close\r\n"));
      const answers: number[] = [];
      while (!connection.isClosed() || connection.text() !== "") {
        const text = connection.text();
        if (text.includes("HTTP/1.1 ")) answers.push((await connection.receive()).status);
        else if (server.served.length > 10_000) break;
        else if (await becomesSilent(connection, text)) break;
      }
      connection.leave();
      expect(answers.filter((status) => ![200, 400, 431].includes(status))).toEqual([]);
    }
    expect(server.refused.filter((error) => !(error instanceof GatewayError))).toEqual([]);
    const connection = await server.connect();
    connection.send(get("/alive"));
    expect(targetOf(await connection.receive())).toBe("/alive");
  }, 120_000);
});

/** Whether nothing more came for a while: a changed length can make the server wait for what never comes. */
async function becomesSilent(connection: RawConnection, before: string): Promise<boolean> {
  const deadline = performance.now() + 100;
  while (performance.now() < deadline) {
    if (connection.text() !== before || connection.isClosed()) return false;
    await Bun.sleep(2);
  }
  return true;
}

/** The same numbers every time. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

describe("requests", () => {
  const several = [
    get("/1"),
    post("/2", "hello"),
    chunked("/3", "5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: x\r\n\r\n"),
    `\r\n${get("/4", "Content-Length: 3\r\n")}abc`,
    get("http://elsewhere/5?a=b"),
  ].join("");
  const expected = [
    ["/1", ""],
    ["/2", "hello"],
    ["/3", "hello!"],
    ["/4", "abc"],
    ["http://elsewhere/5?a=b", ""],
  ];
  const receiveAll = async (connection: RawConnection) => {
    const answers: string[][] = [];
    for (const _one of expected) {
      const response = await connection.receive();
      answers.push([targetOf(response), bodyOf(response)]);
    }
    return answers;
  };

  test("are told apart wherever the bytes are split", async () => {
    const server = open();
    for (let place = 0; place <= several.length; place++) {
      const connection = await openConnection(server.url);
      connection.send(several.slice(0, place));
      await waitFor("the first part to be on its way", () => true);
      connection.send(several.slice(place));
      expect(await receiveAll(connection)).toEqual(expected);
      connection.leave();
    }
  }, 60_000);

  test("may have a target as it was typed", async () => {
    const connection = await open().connect();
    connection.send(Buffer.from(get("/ü?q=€")));
    expect(targetOf(await connection.receive())).toBe("/ü?q=€");
  });

  test("may come byte by byte", async () => {
    const connection = await open().connect();
    for (const byte of several) {
      connection.send(byte);
      await Bun.sleep(0);
    }
    expect(await receiveAll(connection)).toEqual(expected);
  });

  test("are answered in order, however many are sent at once, and wait their turn", async () => {
    let running = 0;
    let most = 0;
    const server = open(async (request) => {
      running += 1;
      most = Math.max(most, running);
      await Bun.sleep(0);
      running -= 1;
      return echo(request);
    });
    const connection = await server.connect();
    const padding = "x".repeat(1_000);
    connection.send(Array.from({ length: 1_000 }, (_none, index) => post(`/${index}`, padding)).join(""));
    for (let index = 0; index < 1_000; index++) expect(targetOf(await connection.receive())).toBe(`/${index}`);
    expect(most).toBe(1);
  });

  test("that come in parts while another one runs are put together", async () => {
    const go = Promise.withResolvers<void>();
    const server = open(async (request) => {
      const answer = await echo(request);
      await go.promise;
      return answer;
    });
    const connection = await server.connect();
    const second = post("/2", "world");
    connection.send(`${post("/1", "hello")}${second.slice(0, 10)}`);
    await waitFor("the first one", () => server.served.length === 1);
    connection.send(second.slice(10, 30));
    await Bun.sleep(10);
    connection.send(second.slice(30));
    await Bun.sleep(10);
    go.resolve();
    expect(bodyOf(await connection.receive())).toBe("hello");
    expect(bodyOf(await connection.receive())).toBe("world");
  });

  test("that are sent ahead of their turn without end are not taken in", async () => {
    const server = open(() => new Promise(() => {}));
    const ahead = get("/").repeat(10_000);
    let left = ahead;
    let sentBytes = 0;
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port: Number(new URL(server.url).port),
      socket: { data() {}, error() {}, close() {} },
    });
    closers.push(() => socket.terminate());
    for (let round = 0; round < 200; round++) {
      const written = Math.max(0, socket.write(left));
      sentBytes += written;
      left = left.slice(written) || ahead;
      await Bun.sleep(2);
    }
    // What the system holds for both sides, and little more.
    expect(sentBytes).toBeLessThan(20_000_000);
  });

  test("behind the one that closes the connection are not served", async () => {
    const server = open();
    const connection = await server.connect();
    connection.send(`${get("/1", "Connection: close\r\n")}${get("/2")}`);
    expect((await connection.receive()).headers["connection"]).toBe("close");
    await connection.waitForClose();
    expect(server.served).toEqual(["GET /1"]);
  });

  test("of HTTP/1.0 are answered without chunks, and keep their connection only when they say so", async () => {
    const stream: Answer = async () => reply(streamBytes(new Blob(["one", "two"]).stream()));
    const plain = await open(stream).connect();
    plain.send("GET / HTTP/1.0\r\n\r\n");
    const { headers, body } = await plain.receive();
    expect([headers["transfer-encoding"], headers["connection"], body.toString()]).toEqual([
      undefined,
      "close",
      "onetwo",
    ]);
    const kept = await open().connect();
    for (const _twice of [1, 2]) {
      kept.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
      expect((await kept.receive()).headers["connection"]).toBe("keep-alive");
    }
  });

  test("that do not come leave a connection that is closed after a while", async () => {
    const connection = await open(echo, { idleMs: 100 }).connect();
    connection.send(get("/1"));
    expect((await connection.receive()).status).toBe(200);
    await connection.waitForClose(5_000);
    expect(connection.text()).toBe("");
  });
});

describe("a body", () => {
  const unread: Answer = async () => replyJson({ target: "unread" });

  test("that nobody reads is passed over when it is short", async () => {
    const server = open(unread);
    const connection = await server.connect();
    connection.send(post("/1", "x".repeat(60_000)).slice(0, 200));
    expect((await connection.receive()).status).toBe(200);
    connection.send("x".repeat(60_000 - (200 - post("/1", "x".repeat(60_000)).indexOf("x".repeat(9)))));
    connection.send(get("/2"));
    expect((await connection.receive()).status).toBe(200);
    expect(server.served).toEqual(["POST /1", "GET /2"]);
  });

  test("that nobody reads and that is long ends the connection, and the answer arrives all the same", async () => {
    const server = open(unread);
    const connection = await server.connect();
    connection.send(`POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n`);
    for (let piece = 0; piece < 50; piece++) connection.send("x".repeat(100_000));
    const { status, headers } = await connection.receive();
    expect([status, headers["connection"]]).toEqual([200, "close"]);
    await connection.waitForClose(10_000);
    expect(server.served).toEqual(["POST /1"]);
  });

  test("that is framed wrongly is refused, and what follows is not served", async () => {
    for (const chunks of [
      "x\r\n",
      "1\r\nabc\r\n0\r\n\r\n",
      "FFFFFFFFF\r\n",
      `1;${"a".repeat(5_000)}\r\na\r\n`,
      "1\na\n0\n\n",
    ]) {
      const server = open();
      const connection = await server.connect();
      connection.send(`${chunked("/1", chunks)}${get("/smuggled")}`);
      const { status, headers } = await connection.receive();
      expect([status, headers["connection"]]).toEqual([400, "close"]);
      await connection.waitForClose();
      expect(server.served).toEqual(["POST /1"]);
    }
  });

  test("is held back while nobody takes it", async () => {
    const go = Promise.withResolvers<void>();
    let taken = 0;
    const server = open(async (request) => {
      await go.promise;
      for (let piece = await request.body.read(); piece !== null; piece = await request.body.read())
        taken += piece.length;
      return replyJson({ target: String(taken) });
    });
    const connection = await server.connect();
    const length = 100_000_000;
    connection.send(`POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
    await waitFor("the request", () => server.served.length === 1);
    const before = process.memoryUsage.rss();
    const all = Buffer.alloc(length);
    connection.send(all);
    await Bun.sleep(200);
    expect(taken).toBe(0);
    // Our own client holds the bytes too: what must not happen is that they lie here once more.
    expect(process.memoryUsage.rss() - before).toBeLessThan(length * 2);
    go.resolve();
    expect(targetOf(await connection.receive({ withinMs: 20_000 }))).toBe(String(length));
  }, 30_000);

  test("of a caller who leaves fails, and the signal tells", async () => {
    const failures: unknown[] = [];
    let signal: AbortSignal | undefined;
    const server = open(async (request) => {
      signal = request.signal;
      await readAll(request).catch((error: unknown) => failures.push(error));
      return replyJson({});
    });
    const connection = await server.connect();
    connection.send(post("/1", "hello").slice(0, -1));
    await waitFor("the request", () => signal !== undefined);
    connection.leave();
    await waitFor("the failure", () => failures.length === 1);
    expect(signal?.aborted).toBe(true);
  });
});

describe("an answer", () => {
  test("is read whole by a caller who takes its time, and holds up nobody else", async () => {
    const text = "ä0123456789".repeat(1_000_000);
    const server = open(async (request) =>
      request.head.target === "/large" ? reply(text, { headers: { "content-type": "text/plain" } }) : echo(request),
    );
    const slow = await fetch(`${server.url}/large`, { keepalive: true });
    const reader = slow.body?.getReader();
    const first = await reader?.read();
    for (let index = 0; index < 20; index++) expect((await fetch(`${server.url}/quick`)).status).toBe(200);
    const pieces = [Buffer.from(first?.value ?? [])];
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
      pieces.push(Buffer.from(next.value));
      if (pieces.length % 50 === 0) await Bun.sleep(1);
    }
    expect(Buffer.concat(pieces).equals(Buffer.from(text))).toBe(true);
  });

  test("of bytes is the same bytes, small and large", async () => {
    for (const size of [0, 1, 65_536, 65_537, 5_000_000]) {
      const bytes = Buffer.alloc(size, "0123456789");
      const server = open(async () => reply(bytes, { headers: { "content-type": "x/y" } }));
      expect(Buffer.from(await (await fetch(server.url)).arrayBuffer()).equals(bytes)).toBe(true);
    }
  });

  test("to HEAD has the length of the one to GET, and no body", async () => {
    const server = open(async ({ head }) =>
      head.target === "/stream" ? reply(streamBytes(new Blob(["abc"]).stream())) : replyJson({ target: "x" }),
    );
    const connection = await server.connect();
    connection.send(get("/text").replace("GET", "HEAD"));
    const { headers } = await connection.receive({ withoutBody: true });
    expect(headers["content-length"]).toBe(String('{"target":"x"}'.length));
    connection.send(get("/stream").replace("GET", "HEAD"));
    expect((await connection.receive({ withoutBody: true })).status).toBe(200);
    connection.send(get("/text"));
    expect(targetOf(await connection.receive())).toBe("x");
  });

  test("with a line break in a header is not sent: there is an error in its place", async () => {
    const server = open(async () => replyJson({}, { headers: { "x-name": "a\r\nset-cookie: b=c" } }));
    const connection = await server.connect();
    connection.send(get("/"));
    const { status, headers } = await connection.receive();
    expect([status, headers["set-cookie"]]).toEqual([500, undefined]);
    expect(server.refused[0]).toBeInstanceOf(TypeError);
  });

  const broken: Record<string, (stream: Pick<BodyStream, "writeTo">) => Reply> = {
    "of unknown length": ({ writeTo }) => reply({ writeTo, abandon: () => {} }),
    "of a known one": ({ writeTo }) => reply({ writeTo, abandon: () => {} }, { headers: { "content-length": "9" } }),
  };
  for (const [name, make] of Object.entries(broken))
    test(`that breaks off, ${name}, does not end as if all were well`, async () => {
      const server = open(async () =>
        make({
          async writeTo(writer) {
            await writer.write([Buffer.from("abc")]);
            throw new Error("the disk is gone");
          },
        }),
      );
      const connection = await server.connect();
      connection.send(get("/"));
      const { complete, body } = await connection.receive();
      expect([complete, body.toString()]).toEqual([false, "abc"]);
    });

  test("has no end before its end: a piece without bytes is none", async () => {
    const stream: BodyStream = {
      async writeTo(writer) {
        await writer.write([Buffer.from("abc"), Buffer.alloc(0), Buffer.from("def")]);
        await writer.write([Buffer.alloc(0)]);
        await writer.write([Buffer.from("ghi")]);
      },
      abandon: () => {},
    };
    const connection = await open(async () => reply(stream)).connect();
    connection.send(get("/"));
    const { complete, body } = await connection.receive();
    expect([complete, body.toString()]).toEqual([true, "abcdefghi"]);
  });

  test("that is shorter or longer than it says is cut off", async () => {
    for (const length of ["2", "4"]) {
      const stream: BodyStream = {
        writeTo: async (writer) => void (await writer.write([Buffer.from("abc")])),
        abandon: () => {},
      };
      const server = open(async () => reply(stream, { headers: { "content-length": length } }));
      const connection = await server.connect();
      connection.send(`${get("/1")}${get("/2")}`);
      await connection.receive();
      await connection.waitForClose();
      expect(server.served).toEqual(["GET /1"]);
    }
  });

  test("that comes bit by bit waits for its reader, and is told when that one has left", async () => {
    let written = 0;
    let isAbandoned = false;
    const ended = Promise.withResolvers<void>();
    const stream: BodyStream = {
      async writeTo(writer) {
        while (!isAbandoned) {
          await writer.write([Buffer.alloc(65_536)]);
          written += 1;
          await Bun.sleep(0);
        }
        ended.resolve();
      },
      abandon() {
        isAbandoned = true;
      },
    };
    const server = open(async () => reply(stream));
    const controller = new AbortController();
    const response = await fetch(server.url, { signal: controller.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    let before = -1;
    await waitFor("the writer to stand still", async () => {
      const isStill = written === before;
      before = written;
      await Bun.sleep(100);
      return isStill;
    });
    controller.abort();
    await ended.promise;
    expect(isAbandoned).toBe(true);
  });

  test("that comes bit by bit is the same for every reader, however slow, and whoever else is written to", async () => {
    const piecesOf = (name: string) =>
      Array.from({ length: 400 }, (_none, index) => Buffer.alloc(50_000, `${name}${index} `));
    const server = open(async ({ head }) =>
      reply({
        async writeTo(writer) {
          for (const piece of piecesOf(head.target)) await writer.write([piece.subarray(0, 9), piece.subarray(9)]);
        },
        abandon: () => {},
      }),
    );
    const names = ["/a", "/b", "/c"];
    const hashes = await Promise.all(
      names.map(async (name) => {
        const hasher = new Bun.CryptoHasher("sha256");
        let pieces = 0;
        for await (const piece of (await fetch(`${server.url}${name}`)).body ?? []) {
          hasher.update(piece);
          if (++pieces % 20 === 0) await Bun.sleep(1);
        }
        return hasher.digest("hex");
      }),
    );
    expect(hashes).toEqual(
      names.map((name) => new Bun.CryptoHasher("sha256").update(Buffer.concat(piecesOf(name))).digest("hex")),
    );
  }, 60_000);

  test("that nobody reads is given up after a while", async () => {
    const stalled = open(async () => reply("x".repeat(50_000_000)), { stalledReaderMs: 200 });
    let isClosed = false;
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port: Number(new URL(stalled.url).port),
      socket: {
        open(socket) {
          socket.write(get("/"));
          socket.pause();
        },
        data() {},
        close() {
          isClosed = true;
        },
        error() {
          isClosed = true;
        },
      },
    });
    // A paused socket hears of the end only when it reads on.
    await Bun.sleep(2_500);
    socket.resume();
    await waitFor("the end", () => isClosed);
  });
});

test("while the server stops, what runs ends well, and idle connections are closed", async () => {
  const ticker = createTicker(10);
  const go = Promise.withResolvers<void>();
  const listener = listen({
    host: "127.0.0.1",
    port: 0,
    ticker,
    async answer(request) {
      await go.promise;
      return echo(request);
    },
    refuse: toReply,
  });
  closers.push(() => {
    listener.stopNow();
    ticker.close();
  });
  const url = `http://127.0.0.1:${listener.port}`;
  const [busy, idle] = [await openConnection(url), await openConnection(url)];
  busy.send(get("/1", "Connection: close\r\n"));
  let isStopped = false;
  await Bun.sleep(20);
  const stopped = listener.stop().then(() => {
    isStopped = true;
  });
  await idle.waitForClose();
  await expect(openConnection(url)).rejects.toThrow();
  expect(isStopped).toBe(false);
  go.resolve();
  expect(targetOf(await busy.receive())).toBe("/1");
  await stopped;
});
