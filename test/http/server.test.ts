// The server at the socket: which bytes are refused, how paths are matched, and that every request is answered or closed.

import { afterEach, describe, expect, test } from "bun:test";
import { type BodyStream, reply, replyJson } from "../../src/http/reply.ts";
import { openConnection } from "../support/raw-http.ts";
import {
  answerOf,
  closers,
  closeServers,
  echo,
  expectError,
  get,
  open,
  post,
  type Run,
} from "../support/socket-server.ts";
import { waitFor } from "../support/wait.ts";

afterEach(closeServers);

/** The same numbers every time. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
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
    for (const path of ["/manage/keys/%ff", "/nowhere/%ff", "/%E0%A4%A", "/nowhere/100%"]) {
      connection.send(get(path));
      expectError(await connection.receive(), 400, "malformed_request");
    }
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
