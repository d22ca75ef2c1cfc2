import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTicker } from "../../src/lib/ticker.ts";
import { type Exchange, HttpClient, HttpError, type Origin } from "../../src/providers/http-client.ts";
import { closeAfterEach } from "../support/closers.ts";
import { startGatewayProcess } from "../support/gateway-process.ts";
import { startVendor } from "../support/vendor.ts";

const ticker = createTicker(20);
const client = new HttpClient(ticker);
afterAll(() => {
  client.close();
  ticker.close();
});

const closers = closeAfterEach();

/** A server that does with each connection what the test says. */
async function listen(onConnection: (socket: Socket) => void): Promise<Origin> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { hostname: "127.0.0.1", port: address.port, isTls: false };
}

/** Answers every request, which is known by its blank line, with the same bytes, then maybe ends the connection. */
function answerWith(pieces: readonly (string | Uint8Array)[], thenEnd = false): Promise<Origin> {
  return listen((socket) => {
    socket.setNoDelay(true);
    socket.on("data", async (bytes) => {
      if (!bytes.includes("\r\n\r\n")) return;
      for (const piece of pieces) {
        socket.write(piece);
        // Lets each piece travel alone: a turn of the server's event loop lies between them.
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (thenEnd) socket.end();
    });
  });
}

interface SilentCloser {
  readonly port: number;
  /** Closes all idle connections; returns when that is done, without a turn of this process's event loop. */
  closeAll(): void;
  requests(): Promise<number>;
  stop(): void;
}

/** A server in a process of its own, which closes its connections when a file appears. */
async function startSilentCloser(): Promise<SilentCloser> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-closer-"));
  const script = `
    const { createServer } = require("node:net");
    const { existsSync, rmSync } = require("node:fs");
    const sockets = new Set();
    let requests = 0;
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
      socket.on("data", (bytes) => {
        if (bytes.toString().startsWith("GET /count")) return socket.end("HTTP/1.1 200 OK\\r\\n\\r\\n" + requests);
        requests++;
        socket.write("HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok");
      });
    });
    setInterval(() => {
      if (!existsSync(${JSON.stringify(join(folder, "close"))})) return;
      for (const socket of sockets) socket.end();
      rmSync(${JSON.stringify(join(folder, "close"))});
    }, 2);
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  return {
    port,
    closeAll() {
      const file = join(folder, "close");
      writeFileSync(file, "");
      while (existsSync(file)) Bun.sleepSync(1);
      // The FIN crosses the loopback interface.
      Bun.sleepSync(20);
    },
    requests: async () => Number(await (await fetch(`http://127.0.0.1:${port}/count`)).text()),
    stop() {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const head = "POST /x HTTP/1.1\r\nhost: test\r\n";
const send = (origin: Origin, body = "{}") => client.send(origin, head, body);

async function readAll(exchange: Exchange): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const piece = exchange.take();
    if (piece === null) return Buffer.concat(pieces).toString();
    if (piece === undefined) await exchange.wait();
    else pieces.push(piece);
  }
}

async function ask(origin: Origin): Promise<{ status: number; body: string }> {
  const exchange = send(origin);
  await exchange.open();
  return { status: exchange.status, body: await readAll(exchange) };
}

async function failureOf(origin: Origin): Promise<string> {
  try {
    await ask(origin);
    return "no failure";
  } catch (error) {
    return error instanceof HttpError ? error.code : String(error);
  }
}

const answers: Record<string, { bytes: string; status: number; body: string; thenEnd?: true }> = {
  "a declared length": { bytes: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, body: "hello" },
  chunks: {
    bytes:
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;name=value\r\nlo\r\n0\r\nTrailer: x\r\n\r\n",
    status: 200,
    body: "hello",
  },
  "an interim answer first": {
    bytes: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok",
    status: 201,
    body: "ok",
  },
  "no body": { bytes: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, body: "" },
  "everything until the end": {
    bytes: "HTTP/1.1 200 OK\r\nX: é\r\n\r\nhello",
    status: 200,
    body: "hello",
    thenEnd: true,
  },
};

describe("an answer is the same however its bytes arrive", () => {
  for (const [name, { bytes, status, body, thenEnd }] of Object.entries(answers)) {
    test(`${name}: cut in two at every byte, and byte by byte`, async () => {
      const whole = Buffer.from(bytes, "latin1");
      for (let at = 1; at < whole.length; at++) {
        const origin = await answerWith([whole.subarray(0, at), whole.subarray(at)], thenEnd);
        expect({ at, ...(await ask(origin)) }).toEqual({ at, status, body });
      }
      const bytewise = await answerWith(
        Array.from(whole, (byte) => Uint8Array.of(byte)),
        thenEnd,
      );
      expect(await ask(bytewise)).toEqual({ status, body });
    });
  }
});

describe("an answer that two readers could understand differently is refused", () => {
  for (const [name, bytes] of Object.entries({
    "no HTTP at all": "hello world\r\n\r\n",
    "an old version": "HTTP/0.9 200 OK\r\n\r\n",
    "a folded header": "HTTP/1.1 200 OK\r\nA: b\r\n c\r\ncontent-length: 0\r\n\r\n",
    "a space before the colon": "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n",
    "a header without a name": "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
    "NUL in a header": "HTTP/1.1 200 OK\r\nA: \u0000\r\n\r\n",
    "two unequal lengths": "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "a negative length": "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "length and chunks": "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "an unknown encoding": "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a chunk without a size": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    "a chunk longer than it says": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n",
    "another protocol": "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    "an endless head": `HTTP/1.1 200 OK\r\nA: ${"x".repeat(70_000)}\r\n\r\n`,
  }))
    test(name, async () => expect(await failureOf(await answerWith([bytes]))).toBe("BAD_RESPONSE"));

  for (const [name, bytes] of Object.entries({
    "a length": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel",
    chunks: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhel",
    "chunks, between two of them": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n",
    "its head": "HTTP/1.1 200 OK\r\nConte",
  }))
    test(`an answer that ends inside ${name} is cut`, async () =>
      expect(await failureOf(await answerWith([bytes], true))).toBe("ECONNRESET"));
});

describe("a connection", () => {
  async function countConnections(bytes: string, onAnswered?: (socket: Socket) => void) {
    let count = 0;
    const origin = await listen((socket) => {
      count++;
      socket.on("data", () => {
        socket.write(bytes);
        onAnswered?.(socket);
      });
    });
    return { origin, read: () => count };
  }
  const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

  test("is used again, and not while an answer is on its way", async () => {
    const { origin, read } = await countConnections(ok);
    for (let round = 0; round < 5; round++) {
      await ask(origin);
      await nextTurn();
    }
    expect(read()).toBe(1);
    await Promise.all([ask(origin), ask(origin), ask(origin)]);
    expect(read()).toBe(3);
  });

  test("that the server closes, or that holds surplus bytes, is not used again", async () => {
    for (const bytes of [
      ok.replace("ok", "okHTTP/1.1 200 OK\r\n"),
      `${ok}surplus`,
      ok.replace("200 OK", "200 OK\r\nConnection: close"),
    ]) {
      const { origin, read } = await countConnections(bytes);
      await ask(origin);
      await nextTurn();
      await ask(origin);
      expect(read()).toBe(2);
    }
  });

  test("that was closed right behind an answer costs the next request nothing", async () => {
    const { origin, read } = await countConnections(ok, (socket) => socket.end());
    for (let round = 0; round < 50; round++) {
      expect((await ask(origin)).body).toBe("ok");
      if (round % 2 === 0) await nextTurn();
    }
    expect(read()).toBe(50);
  });

  test.if(process.platform === "linux")(
    "that the server closed while this process was busy is not used again",
    async () => {
      const server = await startSilentCloser();
      try {
        const origin = { hostname: "127.0.0.1", port: server.port, isTls: false };
        for (let round = 0; round < 10; round++) {
          expect((await ask(origin)).body).toBe("ok");
          await nextTurn();
          // The event loop of this process does not turn meanwhile: only the kernel knows of the FIN.
          server.closeAll();
        }
        expect(await server.requests()).toBe(10);
      } finally {
        server.stop();
      }
    },
  );

  test("is given up before the server closes it, where the server says when", async () => {
    const { origin, read } = await countConnections(ok.replace("200 OK", "200 OK\r\nKeep-Alive: timeout=1, max=9"));
    const patient = await countConnections(ok.replace("200 OK", "200 OK\r\nKeep-Alive: timeout=60"));
    for (let round = 0; round < 3; round++) {
      await ask(origin);
      await ask(patient.origin);
      await nextTurn();
    }
    expect([read(), patient.read()]).toEqual([3, 1]);
  });

  test("that was idle for longer than the caller allows is not used again", async () => {
    const { origin, read } = await countConnections(ok);
    for (const maxIdleMs of [1_000, 1_000, -1, 1_000]) {
      const exchange = client.send(origin, head, "{}", false, maxIdleMs);
      await exchange.open();
      await readAll(exchange);
      await nextTurn();
    }
    expect(read()).toBe(2);
  });

  test("is closed when the exchange is given up, in every state", async () => {
    for (const bytes of ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel"]) {
      const closed = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      const origin = await listen((socket) => {
        socket.on("close", closed.resolve);
        socket.on("data", () => {
          if (bytes !== "") socket.write(bytes);
          asked.resolve();
        });
      });
      const exchange = send(origin);
      const opened = exchange.open().catch((error) => error.code);
      await asked.promise;
      exchange.abort();
      await closed.promise;
      expect([undefined, "ABORTED"]).toContain(await opened);
    }
  });
});

test("a large request reaches a server that reads slowly, whole", async () => {
  const received: Buffer[] = [];
  const origin = await listen((socket) => {
    socket.pause();
    setImmediate(() => socket.resume());
    socket.on("data", (bytes) => {
      received.push(Buffer.from(bytes));
      const text = Buffer.concat(received);
      if (text.subarray(-3).toString() === "END") socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      else {
        socket.pause();
        setImmediate(() => socket.resume());
      }
    });
  });
  const body = `${"é".repeat(2_000_000)}END`;
  const exchange = send(origin, body);
  await exchange.open();
  expect(await readAll(exchange)).toBe("ok");
  const [, sent = ""] = Buffer.concat(received).toString().split("\r\n\r\n");
  expect(sent === body).toBe(true);
});

test("an answer that is not read slows down its sender", async () => {
  let sent = 0;
  const origin = await listen((socket) => {
    socket.on("data", () => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
      const chunk = `400\r\n${"x".repeat(1_024)}\r\n`.repeat(64);
      const push = () => {
        while (socket.writable && sent < 200_000_000 && socket.write(chunk)) sent += chunk.length;
      };
      socket.on("drain", push);
      push();
    });
  });
  const exchange = send(origin);
  await exchange.open();
  let before = -1;
  for (const deadline = Date.now() + 10_000; before !== sent && Date.now() < deadline; await Bun.sleep(300))
    before = sent;
  // What the kernel buffers at both ends; far less than what the sender has to give.
  expect(sent).toBeLessThan(60_000_000);
  exchange.abort();
});

test("an answer that ends with its connection is whole also when it is read after that end", async () => {
  const body = "x".repeat(30_000);
  const ended = Promise.withResolvers<void>();
  const origin = await listen((socket) => {
    socket.on("data", () => socket.end(`HTTP/1.1 200 OK\r\n\r\n${body}`));
    socket.on("close", () => ended.resolve());
  });
  const exchange = send(origin);
  await exchange.open();
  await ended.promise;
  expect(await readAll(exchange)).toBe(body);
});

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

test.each([
  [
    "chunked",
    "transfer-encoding: chunked",
    (body: string) => `${chunk(body.slice(0, 999))}${chunk(body.slice(999))}0\r\n\r\n`,
  ],
  ["with a length", "content-length: 30000", (body: string) => body],
])("an answer that is %s is whole also when its connection was closed before it is read", async (_, header, write) => {
  const body = "x".repeat(30_000);
  const ended = Promise.withResolvers<void>();
  const origin = await listen((socket) => {
    socket.on("data", () => socket.end(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n${write(body)}`));
    socket.on("close", () => ended.resolve());
  });
  const exchange = send(origin);
  await exchange.open();
  await ended.promise;
  expect(await readAll(exchange)).toBe(body);
});

test("what arrived before a connection was lost is read, and then the loss is an error", async () => {
  const ended = Promise.withResolvers<void>();
  const origin = await listen((socket) => {
    socket.on("data", () => socket.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk("half")}`));
    socket.on("close", () => ended.resolve());
  });
  const exchange = send(origin);
  await exchange.open();
  await ended.promise;
  await exchange.wait();
  expect(Buffer.from(exchange.take() ?? []).toString()).toBe("half");
  expect(await readAll(exchange).catch((error: unknown) => error)).toMatchObject({ code: "ECONNRESET" });
});

describe("a stream", () => {
  const eventStream = "content-type: text/event-stream\r\n";
  const events = Array.from(
    { length: 40_000 },
    (_, index) => `data: {"number":${index},"text":"${"x".repeat(60)}"}\n\n`,
  );
  const text = events.join("");
  const whole = (headers: string, status = "200 OK") =>
    answerWith([`HTTP/1.1 ${status}\r\n${headers}content-length: ${text.length}\r\n\r\n`, text]);
  const sendStream = (origin: Origin) => client.send(origin, head, "{}", true);

  /** Every piece as it was, and what is left of it when the next has been taken; now and then the reader rests. */
  async function readInPieces(exchange: Exchange) {
    const pieces: Uint8Array[] = [];
    let read = "";
    for (let step = 0; ; step++) {
      const piece = exchange.take();
      if (piece === null) return { pieces, read };
      if (piece === undefined) await exchange.wait();
      else {
        pieces.push(piece);
        read += Buffer.from(piece).toString();
        if (step % 4 === 0) await Bun.sleep(1);
      }
    }
  }

  test("of events arrives whole, and the memory of what was taken is free before all is there", async () => {
    const exchange = sendStream(await whole(eventStream));
    await exchange.open();
    const { pieces, read } = await readInPieces(exchange);
    expect(read === text).toBe(true);
    expect(pieces.length).toBeGreaterThan(4);
    const kept = pieces.slice(0, -1).filter((piece) => piece.length >= 16_384);
    expect(kept.length).toBe(0);
  });

  test("of events that is let go keeps what was taken last", async () => {
    const exchange = sendStream(await whole(eventStream));
    await exchange.open();
    let piece = exchange.take();
    while (!piece || piece.length < 16_384) {
      if (piece === undefined) await exchange.wait();
      piece = exchange.take();
    }
    const before = Buffer.from(piece);
    exchange.release();
    expect(before.equals(piece)).toBe(true);
  });

  for (const [name, headers, status] of [
    ["that is none, but one long answer,", "content-type: application/json\r\n", "200 OK"],
    ["that was refused", eventStream, "400 Bad Request"],
  ] as const)
    test(`${name} keeps all that was taken`, async () => {
      const exchange = sendStream(await whole(headers, status));
      await exchange.open();
      expect((await readAll(exchange)) === text).toBe(true);
    });

  const isLinux = process.platform === "linux";

  test.if(isLinux)("is taken in little by little, however fast it is sent", async () => {
    const exchange = sendStream(await whole(eventStream));
    await exchange.open();
    let largest = 0;
    for (let piece = exchange.take(); piece !== null; piece = exchange.take()) {
      largest = Math.max(largest, piece?.length ?? 0);
      if (piece === undefined) await exchange.wait();
      // Time for the sender to send as much as it may.
      else await Bun.sleep(5);
    }
    expect(largest).toBeGreaterThan(0);
    expect(largest).toBeLessThanOrEqual(131_072);
  });

  test.if(isLinux)("has its connections for itself, and they are used again", async () => {
    let connections = 0;
    const origin = await listen((socket) => {
      connections++;
      socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"));
    });
    for (const isStream of [false, true, false, true, true, false]) {
      const exchange = client.send(origin, head, "{}", isStream);
      await exchange.open();
      expect(await readAll(exchange)).toBe("{}");
      await nextTurn();
    }
    expect(connections).toBe(2);
  });
});

describe("TLS", () => {
  const folder = join(import.meta.dir, "../support/tls");
  const certificate = join(folder, "certificate.pem");
  const tls = { cert: Bun.file(certificate), key: Bun.file(join(folder, "key.pem")) };

  test("a certificate without a trusted issuer is refused before anything is sent", async () => {
    let asked = 0;
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls,
      fetch() {
        asked++;
        return new Response("secret");
      },
    });
    closers.push(() => void server.stop(true));
    const code = await failureOf({ hostname: "localhost", port: server.port ?? 0, isTls: true });
    expect(code).toMatch(/CERT|VERIFY/);
    expect(asked).toBe(0);
  });

  test("NODE_EXTRA_CA_CERTS makes it trusted, for its own name only", async () => {
    const completion = { id: "c", object: "chat.completion", created: 1, model: "m", choices: [] };
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch: () => Response.json(completion) });
    const vendor = await startVendor();
    const providers = {
      trusted: { base_url: `https://localhost:${server.port}/v1` },
      misnamed: { base_url: `https://127.0.0.1:${server.port}/v1` },
    };
    const gateway = await startGatewayProcess({
      vendor,
      config: { providers },
      env: { NODE_EXTRA_CA_CERTS: certificate },
    });
    closers.push(() => void server.stop(true));
    try {
      const key = await gateway.createKey({ name: "tls" });
      const call = async (model: string) => {
        const response = await fetch(`${gateway.url}/v3/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
        });
        const body = (await response.json()) as { error?: { code: string } };
        return [response.status, body.error?.code];
      };
      expect(await call("trusted/m")).toEqual([200, undefined]);
      expect(await call("misnamed/m")).toEqual([502, "provider_unreachable"]);
    } finally {
      await gateway.stop();
      await vendor.stop();
    }
  });
});
