// The server at the socket: how bodies are read, and how answers are written.

import { afterEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { type BodyStream, reply, replyJson } from "../../src/http/reply.ts";
import { isConnected } from "../support/processes.ts";
import { answerOf, closers, closeServers, echo, expectError, get, open, post } from "../support/socket-server.ts";
import { waitFor } from "../support/wait.ts";

afterEach(closeServers);

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

describe("a body", () => {
  test("that is refused and short leaves its connection usable", async () => {
    const server = open();
    const connection = await server.connect();
    const refused = post("/nothing", "x".repeat(50_000));
    connection.send(refused.slice(0, 300));
    expectError(await connection.receive(), 404, "not_found");
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
      await once(socket, "connect");
      const { localPort = 0, remotePort = 0 } = socket;
      await waitFor("the server to close the connection", () => !isConnected(remotePort, localPort));
      socket.resume();
      await ended;
      return socket.bytesRead;
    });
    await abandoned.promise;
    for (const bytes of await Promise.all(ends)) expect(bytes).toBeLessThan(50_000_000);
  });
});
