// The server at the socket: which bytes are refused, which client waits for which, and that every request is answered or closed.

import { afterEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { z } from "zod";
import { createLimits } from "../../src/access/limits.ts";
import { createLoadWatch } from "../../src/http/load-watch.ts";
import { type BodyStream, type Reply, reply, replyJson } from "../../src/http/reply.ts";
import { pathOf } from "../../src/http/request-head.ts";
import type { Call } from "../../src/http/route.ts";
import { type ServerOptions, startServer } from "../../src/http/server.ts";
import { createAddressRanges } from "../../src/lib/addresses.ts";
import { createTicker } from "../../src/lib/ticker.ts";
import { createLog } from "../../src/log.ts";
import { openConnection, type RawConnection, type RawResponse } from "../support/raw-http.ts";
import { waitFor } from "../support/wait.ts";

/** The test routes declare no schema for their parameters, so they are text. */
type TestCall = Call & { readonly params: Readonly<Record<string, string>> };
type Run = (call: TestCall) => Reply | string | Promise<Reply | string>;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Opened {
  readonly url: string;
  /** Method and path of each call that reached its endpoint. */
  readonly served: string[];
  readonly log: string[];
  connect(): Promise<RawConnection>;
  readonly stop: () => Promise<void>;
}

/** Public routes: `/json` reads a body, `/form` leaves it to the endpoint, `/get` and the paths with parameters read none. */
function open(
  run: Run = echo,
  timeouts: ServerOptions["timeouts"] = {},
  trustedProxies: readonly string[] = [],
): Opened {
  const ticker = createTicker(10);
  const loadWatch = createLoadWatch();
  const served: string[] = [];
  const log: string[] = [];
  const counted: Run = (call) => {
    served.push(`${call.request.method} ${pathOf(call.request.url)}`);
    return run(call);
  };
  const server = startServer({
    host: "127.0.0.1",
    port: 0,
    routes: [
      { method: "POST", path: "/json", key: "none", body: { kind: "json", schema: z.unknown() }, run: counted },
      { method: "POST", path: "/form", key: "none", body: { kind: "form", schema: z.unknown() }, run: counted },
      { method: "GET", path: "/get", key: "none", run: counted },
      { method: "GET", path: "/probe", key: "none", isProbe: true, run: counted },
      { method: "GET", path: "/manage/keys", key: "none", run: counted },
      { method: "GET", path: "/manage/keys/{key_id}", key: "none", run: counted },
      { method: "GET", path: "/models/{id...}", key: "none", run: counted },
    ],
    authenticator: {
      authenticate() {
        throw new TypeError("a public route asked for a key");
      },
    },
    limits: createLimits(),
    bodyLimits: { maxBodyBytes: 1_048_576, bodyTimeoutMs: 5_000 },
    timeouts,
    trustedProxies: createAddressRanges(trustedProxies),
    ticker,
    loadWatch,
    log: createLog({ level: "error", format: "json", secrets: [], write: (line) => void log.push(line) }),
  });
  closers.push(() => {
    server.stopNow();
    ticker.close();
    loadWatch.close();
  });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    served,
    log,
    async connect() {
      const connection = await openConnection(url);
      closers.push(connection.leave);
      return connection;
    },
    stop: server.stop,
  };
}

function echo({ request, params, body }: TestCall): Reply {
  return replyJson({ path: new URL(request.url).pathname, params, body });
}

const get = (target: string, more = "") => `GET ${target} HTTP/1.1\r\nHost: gateway\r\n${more}\r\n`;
const post = (target: string, body: string) =>
  `POST ${target} HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const answerOf = ({ body }: RawResponse) => JSON.parse(body.toString()) as { path: string; body: unknown };
const codeOf = ({ body }: RawResponse) => (JSON.parse(body.toString()) as { error: { code: string } }).error.code;

/** An answer in both error forms, with a request id. */
function expectError(response: RawResponse, status: number, code: string): void {
  const { error, detail } = JSON.parse(response.body.toString()) as { error: { message: string }; detail: string };
  expect([response.status, codeOf(response), detail]).toEqual([status, code, error.message]);
  expect(response.headers["x-request-id"]).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
}

describe("bytes that are not a valid request", () => {
  const heads: Record<string, string> = {
    "a request of HTTP/0.9": "GET /get\r\n\r\n",
    "another protocol": "SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "a later version": "GET /get HTTP/1.2\r\nHost: a\r\n\r\n",
    "the beginning of TLS": "\x16\x03\x01\x02\x00",
    "an unknown method": "FOO /get HTTP/1.1\r\nHost: a\r\n\r\n",
    "a method in lower case": "get /get HTTP/1.1\r\nHost: a\r\n\r\n",
    "a request for a tunnel": "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target with a space": "GET /get b HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target with a tab": "GET /get\tb HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target of another scheme": "GET ftp://a/get HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target without a slash": "GET get HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target that begins with a star": "GET *x/get HTTP/1.1\r\nHost: a\r\n\r\n",
    "two spaces": "GET  /get HTTP/1.1\r\nHost: a\r\n\r\n",
    "lines that end with a line feed alone": "GET /get HTTP/1.1\nHost: a\n\n",
    "one line that ends with a line feed alone": "GET /get HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
    "a carriage return inside a value": "GET /get HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n",
    "a folded header": "GET /get HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n",
    "a header without a colon": "GET /get HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
    "a space before the colon": "GET /get HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n",
    "a NUL in a value": "GET /get HTTP/1.1\r\nHost: a\r\nX: b\0\r\n\r\n",
    "no host": "GET /get HTTP/1.1\r\nX: b\r\n\r\n",
    "two different lengths": "POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    "a length with a sign": "POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\nx",
    "a length in hexadecimal": "POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\nx",
    "a length and chunks":
      "POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks twice": "POST /json HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "another encoding": "POST /json HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
  };
  test.each(
    Object.entries(heads),
  )("%s: the connection is closed, and nothing behind it is served", async (_name, bytes) => {
    const server = open();
    const connection = await server.connect();
    connection.send(`${bytes}${get("/get")}`);
    const { status } = await connection.receive();
    expect([0, 400, 501, 505]).toContain(status);
    await connection.waitForClose();
    expect(connection.text()).toBe("");
    expect(server.served).toEqual([]);
  });

  test.each([
    "a b",
    "a/b",
    "",
    "a, b",
    "a:99999",
    "1.2.3.400",
    "[::1",
    "[::::]",
    "xn--a",
    "a%41",
    "user@a",
  ])("the host %j is refused with 400 in both error forms, and the connection is closed", async (host) => {
    const server = open();
    const connection = await server.connect();
    connection.send(`GET /get HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    expectError(await connection.receive(), 400, "malformed_request");
    await connection.waitForClose();
    connection.leave();
    const twice = await server.connect();
    twice.send("GET /get HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n");
    expectError(await twice.receive(), 400, "malformed_request");
    expect(server.served).toEqual([]);
  });

  test("a head that is too long, or has too many headers, is refused with 431", async () => {
    for (const bytes of [
      get(`/${"a".repeat(40_000)}`),
      get("/get", `X: ${"a".repeat(40_000)}\r\n`),
      get("/get", Array.from({ length: 100 }, (_none, index) => `X-${index}: a\r\n`).join("")),
    ]) {
      const server = open();
      const connection = await server.connect();
      connection.send(bytes);
      expect((await connection.receive()).status).toBe(431);
      expect(server.served).toEqual([]);
    }
    const connection = await open().connect();
    connection.send(get("/get", Array.from({ length: 99 }, (_none, index) => `X-${index}: a\r\n`).join("")));
    expect((await connection.receive()).status).toBe(200);
  });

  test("randomly changed bytes are answered or refused, and the server keeps serving", async () => {
    const server = open();
    const random = createRandom(7);
    const good = [
      get("/get", "X: b\r\n"),
      post("/json", '{"a":1}'),
      "POST /json HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n123\r\n0\r\n\r\n",
    ];
    for (let round = 0; round < 300; round++) {
      const bytes = Buffer.from(good[round % good.length] ?? "", "latin1");
      for (let changes = 1 + random(3); changes > 0; changes--) bytes[random(bytes.length)] = random(256);
      const connection = await openConnection(server.url);
      const middle = random(bytes.length);
      connection.send(bytes.subarray(0, middle));
      connection.send(bytes.subarray(middle));
      await waitFor("an answer, the end, or silence", () => true);
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(connection.text())?.[1] ?? 0);
      expect([0, 200, 400, 404, 405, 413, 415, 417, 422, 431, 501, 505]).toContain(status);
      connection.leave();
    }
    const connection = await server.connect();
    connection.send(get("/get"));
    expect((await connection.receive()).status).toBe(200);
    expect(server.log).toEqual([]);
  });
});

/** The same numbers every time. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

describe("a path", () => {
  // A proxy in front that refuses `/manage/` by the beginning of a path lets these pass.
  test.each([
    "/get/../manage/keys",
    "/get/%2e%2e/manage/keys",
    "/get/.%2E/manage/keys",
    "/./manage/keys",
    "/models/../manage/keys",
    "/models/%2e%2e/manage/keys/1",
    "/models/x/..%2f..%2fmanage/keys/../../../manage/keys",
    "/manage\\keys",
    "\\manage\\keys",
    "/manage/%6beys",
    "/manage%2fkeys",
    "//manage/keys",
    "/manage//keys",
    "/manage/keys/",
    "/manage/keys#x",
    "/manage/keys/..",
    "/manage/keys/%2e",
  ])("%s reaches no management route", async (target) => {
    const server = open();
    const connection = await server.connect();
    connection.send(get(target));
    expect([0, 200, 400, 404]).toContain((await connection.receive()).status);
    expect(server.served.filter((call) => call.includes(" /manage"))).toEqual([]);
  });

  test.each([
    "/get/../manage/keys",
    "/models/%2e%2e/manage/keys",
    "/manage\\keys",
  ])("%s is refused as malformed, because it leads elsewhere than it says", async (target) => {
    const connection = await open().connect();
    connection.send(get(target));
    expectError(await connection.receive(), 400, "malformed_request");
  });

  test("keeps an encoded slash inside its segment, and is decoded", async () => {
    const connection = await open().connect();
    connection.send(get("/manage/keys/a%2Fb%20c?x=/manage"));
    expect(JSON.parse((await connection.receive()).body.toString()).params).toEqual({ key_id: "a/b c" });
    connection.send(get("/models/openai/gpt%2D4"));
    expect(JSON.parse((await connection.receive()).body.toString()).params).toEqual({ id: "openai/gpt-4" });
    connection.send(get("/manage/keys/%ff"));
    expectError(await connection.receive(), 400, "malformed_request");
  });

  test("may follow scheme and host, as proxies send it", async () => {
    const connection = await open().connect();
    connection.send(get("http://elsewhere/get?a=b"));
    expect(answerOf(await connection.receive()).path).toBe("/get");
  });
});

describe("a request", () => {
  test("is the same wherever its bytes are split", async () => {
    const server = open();
    const connection = await server.connect();
    const whole = post("/json", '{"a":"b"}');
    for (let place = 1; place < whole.length; place++) {
      connection.send(whole.slice(0, place));
      await Bun.sleep(0);
      connection.send(whole.slice(place));
      expect((await connection.receive()).status).toBe(200);
    }
  });

  test("behind one that closes the connection is not served", async () => {
    const server = open();
    const connection = await server.connect();
    connection.send(`${get("/get", "Connection: close\r\n")}${get("/get")}`);
    expect((await connection.receive()).status).toBe(200);
    await connection.waitForClose();
    expect(connection.text()).toBe("");
  });

  test("of HTTP/1.0 is answered without chunks, and its connection is closed", async () => {
    const stream: BodyStream = {
      writeTo: async (writer) => {
        await writer.write([Buffer.from("one")]);
        await writer.write([Buffer.from("two")]);
      },
      abandon: () => {},
    };
    const connection = await open(() => reply(stream)).connect();
    connection.send("GET /get HTTP/1.0\r\n\r\n");
    const { headers, body } = await connection.receive();
    expect([headers["transfer-encoding"], body.toString()]).toEqual([undefined, "onetwo"]);
    await connection.waitForClose();
  });

  test("that comes while another runs on its connection is never answered with the answer of the first", async () => {
    const server = open(async (call) => {
      await Bun.sleep(5);
      return echo(call);
    });
    const connection = await server.connect();
    connection.send(`${get("/get")}${get("/models/x")}`);
    const answered: string[] = [];
    for (let response = await connection.receive(); response.status !== 0; response = await connection.receive()) {
      answered.push(answerOf(response).path);
      if (answered.length === 2) break;
    }
    expect(answered).toEqual(["/get", "/models/x"].slice(0, answered.length));
  });

  test("without a key is one of few that a connection can have served at once", async () => {
    for (const target of ["/get", "/nothing", "/probe"]) {
      const server = open();
      const pipelined = await server.connect();
      pipelined.send(get(target).repeat(20_000));
      await pipelined.waitForClose();
      expect(server.served.length).toBeLessThan(100);
      const answers = pipelined.text().split("HTTP/1.1 ").length;
      expect(answers).toBeLessThan(100);
      const other = await server.connect();
      other.send(get("/get"));
      expect((await other.receive()).status).toBe(200);
    }
  });

  test("without a key waits when there are more of them than a process answers in a second", async () => {
    const server = open();
    const connections = await Promise.all(Array.from({ length: 20 }, server.connect));
    const startedAt = performance.now();
    await Promise.all(
      connections.map(async (connection) => {
        for (let count = 0; count < 150; count++) {
          connection.send(get("/get"));
          expect((await connection.receive()).status).toBe(200);
        }
      }),
    );
    // 3,000 requests: 1,000 at once in each second, and four in a second on each of 20 connections beyond them.
    expect(performance.now() - startedAt).toBeGreaterThan(1_000);
  });

  test("that does not arrive is closed after a while, and so is an idle connection", async () => {
    const server = open(echo, { idle: 4 });
    const [silent, half, dripping, kept] = await Promise.all(Array.from({ length: 4 }, server.connect));
    half?.send("GET /get HTTP/1.1\r\nHost: a\r\n");
    kept?.send(get("/get"));
    dripping?.send("GET /get HTTP/1.1\r\nX: ");
    const drip = setInterval(() => dripping?.send("x"), 300);
    closers.push(() => clearInterval(drip));
    expect((await kept?.receive())?.status).toBe(200);
    await Promise.all([silent, half, dripping, kept].map((connection) => connection?.waitForClose()));
    expect(server.served).toEqual(["GET /get"]);
  });

  test("with a body keeps its connection no longer than one without, once it is answered", async () => {
    const server = open(echo, { idle: 4 });
    const [answered, refused] = [await server.connect(), await server.connect()];
    answered.send(post("/json", "{}"));
    refused.send(post("/json", "{"));
    expect([(await answered.receive()).status, (await refused.receive()).status]).toEqual([200, 422]);
    await Promise.all([answered.waitForClose(), refused.waitForClose()]);
  });
});

describe("the address of the gateway, as a client sees it,", () => {
  const baseUrls = async (trusted: readonly string[], ...heads: string[]) => {
    const connection = await open(({ baseUrl }) => replyJson({ baseUrl }), {}, trusted).connect();
    const found: unknown[] = [];
    for (const head of heads) {
      connection.send(`GET /get HTTP/1.1\r\n${head}\r\n`);
      const response = await connection.receive();
      found.push(response.status === 200 ? JSON.parse(response.body.toString()).baseUrl : response.status);
    }
    return found;
  };
  const https = "Host: gateway.example:8443\r\nX-Forwarded-Proto: https\r\n";

  test("is that of the Host header, and X-Forwarded-Proto is ignored unless the proxy is trusted", async () => {
    expect(await baseUrls([], "Host: gateway:8080\r\n", https)).toEqual([
      "http://gateway:8080",
      "http://gateway.example:8443",
    ]);
    expect(await baseUrls(["10.0.0.0/8"], https)).toEqual(["http://gateway.example:8443"]);
  });

  test("has the scheme that a trusted proxy names, if it names one", async () => {
    const odd = ["javascript", "https, http", "https://evil", ""].map(
      (value) => `Host: gateway\r\nX-Forwarded-Proto: ${value}\r\n`,
    );
    expect(await baseUrls(["10.0.0.0/8", "127.0.0.0/8"], https, "Host: gateway\r\n", ...odd)).toEqual([
      "https://gateway.example:8443",
      ...Array.from({ length: 5 }, () => "http://gateway"),
    ]);
  });

  test("needs a Host header: without one, which HTTP/1.0 permits, the answer is 400", async () => {
    const connection = await open(({ baseUrl }) => replyJson({ baseUrl })).connect();
    connection.send("GET /get HTTP/1.0\r\n\r\n");
    expectError(await connection.receive(), 400, "malformed_request");
  });
});

describe("a body", () => {
  test("that is refused and short leaves its connection usable", async () => {
    const server = open();
    const connection = await server.connect();
    const refused = post("/json", "x".repeat(50_000)).replace("application/json", "text/plain");
    connection.send(refused.slice(0, 300));
    expectError(await connection.receive(), 415, "unsupported_media_type");
    connection.send(refused.slice(300));
    connection.send(get("/get"));
    expect((await connection.receive()).status).toBe(200);
    expect(server.served).toEqual(["GET /get"]);
  });

  test.each([
    ["of a declared length", "Content-Length: 500000000\r\n"],
    ["in chunks", "Transfer-Encoding: chunked\r\n"],
  ])("that is refused and long (%s) is not read, and the answer arrives", async (_name, framing) => {
    const server = open();
    const connection = await server.connect();
    connection.send(`POST /nothing HTTP/1.1\r\nHost: a\r\n${framing}\r\n`);
    const response = await connection.receive();
    expectError(response, 404, "not_found");
    expect(response.headers["connection"]?.toLowerCase()).toBe("close");
    await connection.waitForClose();
  });

  test("that is refused while it is being sent is not read", async () => {
    const server = open();
    const taken = await sendForAWhile(
      server.url,
      `POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 500000000\r\n\r\n`,
    );
    expect(taken).toBeLessThan(30_000_000);
  });

  test("waits in the sockets while no endpoint reads it", async () => {
    const go = Promise.withResolvers<void>();
    closers.push(go.resolve);
    const server = open(async () => {
      await go.promise;
      return replyJson({});
    });
    const taken = await sendForAWhile(
      server.url,
      `POST /form HTTP/1.1\r\nHost: a\r\nContent-Length: 500000000\r\n\r\n`,
    );
    expect(server.served).toEqual(["POST /form"]);
    expect(taken).toBeLessThan(30_000_000);
  });

  test("that is framed wrongly is refused, and what follows is not served", async () => {
    for (const chunks of ["x\r\n", "1\r\nabc\r\n0\r\n\r\n", "1\na\n0\n\n"]) {
      const server = open();
      const connection = await server.connect();
      connection.send(
        `POST /json HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}${get("/get")}`,
      );
      expect([0, 400]).toContain((await connection.receive()).status);
      await connection.waitForClose();
      expect(server.served).toEqual([]);
    }
  });

  test("of a client that leaves fails, and the request's signal fires", async () => {
    const failures: unknown[] = [];
    let signal: AbortSignal | undefined;
    const server = open(async ({ request }) => {
      signal = request.signal;
      await request.bytes().catch((error: unknown) => failures.push(error));
      return replyJson({});
    });
    const connection = await server.connect();
    connection.send("POST /form HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello");
    await waitFor("the request", () => signal !== undefined);
    connection.leave();
    await waitFor("the failure", () => failures.length === 1 && signal?.aborted === true);
  });
});

/** Sends a head, and then bytes for as long as they are taken, at most for two seconds; returns how many were. */
async function sendForAWhile(url: string, head: string): Promise<number> {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
  closers.push(() => socket.destroy());
  socket.on("error", () => {});
  socket.resume();
  socket.write(head);
  const piece = Buffer.alloc(65_536, "x");
  let sentBytes = 0;
  const until = performance.now() + 2_000;
  while (performance.now() < until && !socket.destroyed) {
    if (socket.writableLength < piece.length) {
      socket.write(piece);
      sentBytes += piece.length;
    } else await Bun.sleep(1);
  }
  return sentBytes - socket.writableLength;
}

describe("an answer", () => {
  test("is read whole by a slow client, and other clients do not wait for it", async () => {
    const text = "ä0123456789".repeat(1_000_000);
    const server = open((call) =>
      call.params["id"] === "large" ? reply(text, { headers: { "content-type": "text/plain" } }) : echo(call),
    );
    const slow = await fetch(`${server.url}/models/large`);
    const reader = slow.body?.getReader();
    const first = await reader?.read();
    for (let index = 0; index < 20; index++) expect((await fetch(`${server.url}/get`)).status).toBe(200);
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
      const server = open(() => reply(bytes, { headers: { "content-type": "x/y" } }));
      expect(Buffer.from(await (await fetch(`${server.url}/get`)).arrayBuffer()).equals(bytes)).toBe(true);
    }
  });

  test("to HEAD has no body, and a stream that is not sent is abandoned", async () => {
    let abandoned = 0;
    const stream: BodyStream = { writeTo: () => new Promise(() => {}), abandon: () => void abandoned++ };
    const server = open(({ params }) => (params["id"] === "stream" ? reply(stream) : replyJson({ path: "x" })));
    const connection = await server.connect();
    connection.send(get("/get").replace("GET", "HEAD"));
    const { headers } = await connection.receive({ withoutBody: true });
    expect(headers["content-length"]).toBe(String('{"path":"x"}'.length));
    connection.send(get("/models/stream").replace("GET", "HEAD"));
    expect((await connection.receive({ withoutBody: true })).status).toBe(200);
    connection.send(get("/get"));
    expect(answerOf(await connection.receive()).path).toBe("x");
    expect(abandoned).toBe(1);
  });

  test("to OPTIONS names the methods", async () => {
    const connection = await open().connect();
    connection.send(get("/json").replace("GET", "OPTIONS"));
    const { status, headers } = await connection.receive();
    expect([status, headers["allow"]]).toEqual([204, "POST"]);
    expect(headers["x-request-id"]).toBeString();
  });

  test("that fails is cut off, so that it does not look complete, and the log has the cause", async () => {
    const server = open(() =>
      reply({
        async writeTo(writer) {
          await writer.write([Buffer.from("abc")]);
          throw new Error("the disk is gone");
        },
        abandon: () => {},
      }),
    );
    const connection = await server.connect();
    connection.send(get("/get", "X-Request-Id: one\r\n"));
    expect((await connection.receive()).complete).toBe(false);
    expect(server.log.join("")).toContain("the disk is gone");
    expect(JSON.parse(server.log[0] ?? "")).toMatchObject({ level: "error", request_id: "one" });
  });

  test("does not end at an empty piece, and each piece is a chunk", async () => {
    const stream: BodyStream = {
      async writeTo(writer) {
        await writer.write([Buffer.from("abc"), Buffer.alloc(0), Buffer.from("def")]);
        await writer.write([Buffer.alloc(0)]);
        await writer.write([Buffer.from("ghi")]);
      },
      abandon: () => {},
    };
    const connection = await open(() => reply(stream)).connect();
    connection.send(get("/get"));
    const { complete, chunks } = await connection.receive();
    expect([complete, chunks.map(String)]).toEqual([true, ["abc", "def", "ghi"]]);
  });

  test("that is a stream waits for its reader, and is abandoned when the reader leaves", async () => {
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
    const server = open(() => reply(stream));
    const controller = new AbortController();
    const response = await fetch(`${server.url}/get`, { signal: controller.signal });
    await response.body?.getReader().read();
    let before = -1;
    await waitFor("the writer to wait", async () => {
      const isWaiting = written === before;
      before = written;
      await Bun.sleep(100);
      return isWaiting;
    });
    expect(written * 65_536).toBeLessThan(50_000_000);
    controller.abort();
    await ended.promise;
  });

  test("that is a stream is the same for every reader, however slow, and whatever other streams are written", async () => {
    const piecesOf = (name: string) =>
      Array.from({ length: 400 }, (_none, index) => Buffer.alloc(50_000, `${name}${index} `));
    const server = open(({ params }) =>
      reply({
        async writeTo(writer) {
          for (const piece of piecesOf(params["id"] ?? ""))
            await writer.write([piece.subarray(0, 9), piece.subarray(9)]);
        },
        abandon: () => {},
      }),
    );
    const names = ["a", "b", "c"];
    const hashes = await Promise.all(
      names.map(async (name) => {
        const hasher = new Bun.CryptoHasher("sha256");
        let pieces = 0;
        for await (const piece of (await fetch(`${server.url}/models/${name}`)).body ?? []) {
          hasher.update(piece);
          if (++pieces % 20 === 0) await Bun.sleep(1);
        }
        return hasher.digest("hex");
      }),
    );
    expect(hashes).toEqual(
      names.map((name) => new Bun.CryptoHasher("sha256").update(Buffer.concat(piecesOf(name))).digest("hex")),
    );
  });

  test("that no client reads is abandoned after a while, whole or streamed", async () => {
    const abandoned = Promise.withResolvers<void>();
    let isAbandoned = false;
    const stream: BodyStream = {
      async writeTo(writer) {
        while (!isAbandoned) await writer.write([Buffer.alloc(65_536)]);
      },
      abandon() {
        isAbandoned = true;
        abandoned.resolve();
      },
    };
    const server = open(({ params }) => reply(params["id"] === "stream" ? stream : "x".repeat(50_000_000)), {
      idle: 4,
      stalledReader: 4,
    });
    const ends = ["stream", "whole"].map(async (name) => {
      const socket = connect({ host: "127.0.0.1", port: Number(new URL(server.url).port) });
      closers.push(() => socket.destroy());
      socket.pause();
      socket.write(get(`/models/${name}`));
      const ended = new Promise<void>((resolve) => {
        for (const event of ["end", "close", "error"]) socket.on(event, () => resolve());
      });
      // A paused socket learns of the end only when it reads on.
      await Bun.sleep(20_000);
      socket.resume();
      await ended;
      return socket.bytesRead;
    });
    await abandoned.promise;
    for (const bytes of await Promise.all(ends)) expect(bytes).toBeLessThan(50_000_000);
  });
});

describe("an exception ends its own request only", () => {
  const exceptions: Record<string, unknown> = {
    "an error": new Error("boom"),
    null: null,
    undefined: undefined,
    "an object whose text cannot be read": {
      get message() {
        throw new Error("no message");
      },
      toString() {
        throw new Error("no text");
      },
    },
    "an error whose stack cannot be read": Object.defineProperty(new Error("boom"), "stack", {
      get() {
        throw new Error("no stack");
      },
    }),
    "a revoked proxy": revoked(),
  };
  for (const [name, thrown] of Object.entries(exceptions))
    for (const how of ["thrown", "rejected"])
      test(`${name}, ${how}`, async () => {
        const server = open((call) => {
          if (call.params["id"] !== "bad") return echo(call);
          if (how === "rejected") return Promise.reject(thrown);
          throw thrown;
        });
        const connection = await server.connect();
        connection.send(get("/models/bad"));
        expectError(await connection.receive(), 500, "internal_error");
        expect(server.log).not.toEqual([]);
        connection.send(get("/get"));
        expect((await connection.receive()).status).toBe(200);
      });

  const replies: Record<string, Run> = {
    "an answer that cannot be written as JSON": () =>
      replyJson({
        toJSON() {
          throw new RangeError("Out of memory");
        },
      }),
    "an answer that is too long for a text": () => reply("x".repeat(2 ** 32)),
    "a header with a line break": () => replyJson({}, { headers: { "x-name": "a\r\nset-cookie: b=c" } }),
    "a header that is not Latin-1": () => replyJson({}, { headers: { "x-name": "€" } }),
    "an invalid status": () => replyJson({}, { status: 99 }),
  };
  for (const [name, run] of Object.entries(replies))
    test(`${name} is answered with an error`, async () => {
      const server = open(run);
      const connection = await server.connect();
      connection.send(get("/get"));
      const response = await connection.receive();
      expectError(response, 500, "internal_error");
      expect(response.headers["set-cookie"]).toBeUndefined();
      expect(server.log).not.toEqual([]);
    });

  test("a stream that fails when it is abandoned", async () => {
    const started = Promise.withResolvers<void>();
    const server = open((call) => {
      if (call.params["id"] !== "bad") return echo(call);
      return reply({
        async writeTo(writer) {
          await writer.write([Buffer.from("abc")]);
          started.resolve();
          await new Promise(() => {});
        },
        abandon() {
          throw new Error("cannot be abandoned");
        },
      });
    });
    const connection = await server.connect();
    connection.send(get("/models/bad"));
    await started.promise;
    connection.leave();
    await waitFor("the log", () => server.log.join("").includes("cannot be abandoned"));
    expect((await fetch(`${server.url}/get`)).status).toBe(200);
  });
});

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

test("while the server stops, running requests complete, and idle connections are closed", async () => {
  const go = Promise.withResolvers<void>();
  const server = open(async (call) => {
    if (call.params["id"] === "busy") await go.promise;
    return echo(call);
  });
  const [busy, idle] = [await server.connect(), await server.connect()];
  idle.send(get("/get"));
  expect((await idle.receive()).status).toBe(200);
  busy.send(get("/models/busy", "Connection: close\r\n"));
  await waitFor("the request", () => server.served.length === 2);
  let isStopped = false;
  const stopped = server.stop().then(() => {
    isStopped = true;
  });
  await idle.waitForClose();
  await expect(openConnection(server.url)).rejects.toThrow();
  expect(isStopped).toBe(false);
  go.resolve();
  expect(answerOf(await busy.receive()).path).toBe("/models/busy");
  await stopped;
});
