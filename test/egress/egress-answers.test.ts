// Requests to addresses that callers choose: what is sent, which answers are read, and when a wait ends.

import { afterEach, describe, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { codeOf, failureOf, fetchWith, guard, ok } from "../support/egress.ts";
import { runEgressChild } from "../support/egress-child.ts";
import { createListeners, type Listener } from "../support/listeners.ts";
import { waitFor } from "../support/wait.ts";

const { closers, listen, answerWith, closeAll } = createListeners();

afterEach(closeAll);

describe("a request", () => {
  test("carries the host's name, the path, the headers and the body, and asks for bytes as they are", async () => {
    const received = Promise.withResolvers<string>();
    const listener = await listen((socket) => {
      const pieces: Buffer[] = [];
      socket.on("data", (bytes: Buffer) => {
        pieces.push(bytes);
        const text = Buffer.concat(pieces).toString();
        if (!text.endsWith("END")) return;
        received.resolve(text);
        socket.end(ok);
      });
    });
    const { egress } = guard({ "hooks.example": [["127.0.0.1"]] });
    const headers = { "Content-Type": "application/json", "user-agent": "Test/1", Host: "evil.example" };
    const body = `${"é".repeat(200_000)}END`;
    const url = `http://hooks.example:${listener.port}/a b?q=ü#part`.replace(" ", "%20");
    const answer = await fetchWith(egress, url, { headers, body });
    expect(answer.finalUrl).toBe(`http://hooks.example:${listener.port}/a%20b?q=%C3%BC#part`);
    const [head = "", sent] = (await received.promise).split("\r\n\r\n");
    const [first, ...lines] = head.split("\r\n");
    expect(first).toBe("POST /a%20b?q=%C3%BC HTTP/1.1");
    expect(lines.sort()).toEqual([
      "accept-encoding: identity",
      "accept: */*",
      "connection: close",
      `content-length: ${Buffer.byteLength(body)}`,
      "content-type: application/json",
      `host: hooks.example:${listener.port}`,
      "user-agent: Test/1",
    ]);
    expect(sent === body).toBe(true);
  });

  const badHeaders: Record<string, Record<string, string>> = {
    "a line break in a header": { "x-a": "b\r\nx-c: d" },
    "a line feed alone": { "x-a": "b\nx-c: d" },
    "a line break in the name of one": { "x-a: b\r\nx-c": "d" },
    "a header without a name": { "": "b" },
    "a NUL in a header": { "x-a": "b\u0000" },
    "a character that no header can hold": { "x-a": "\u0416" },
  };

  test.each(Object.entries(badHeaders))("with %s is not sent", async (_name, headers) => {
    const listener = await answerWith(ok);
    const { egress } = guard();
    const sent = fetchWith(egress, listener.url, { headers });
    expect(
      await sent.then(
        () => "sent",
        () => "refused",
      ),
    ).toBe("refused");
  });
});

describe("an answer", () => {
  const answers: Record<string, { bytes: string; status: number; body: string; staysOpen?: true }> = {
    "with a length": { bytes: ok, status: 200, body: "ok", staysOpen: true },
    "in chunks": {
      bytes: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nt: u\r\n\r\n",
      status: 200,
      body: "hello",
      staysOpen: true,
    },
    "until the end": { bytes: "HTTP/1.1 200 OK\r\n\r\nhello", status: 200, body: "hello" },
    "behind an interim one": { bytes: `HTTP/1.1 103 Early Hints\r\n\r\n${ok}`, status: 200, body: "ok" },
    "without a body": { bytes: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, body: "", staysOpen: true },
    "that is an error": { bytes: "HTTP/1.1 500 X\r\ncontent-length: 3\r\n\r\nbad", status: 500, body: "bad" },
    "that says identity": {
      bytes: ok.replace("\r\n\r\n", "\r\ncontent-encoding: identity\r\n\r\n"),
      status: 200,
      body: "ok",
    },
    "of exactly the largest size": {
      bytes: `HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n${"x".repeat(100_000)}`,
      status: 200,
      body: "x".repeat(100_000),
    },
  };
  for (const [name, { bytes, status, body, staysOpen }] of Object.entries(answers))
    test(`${name} is read whole, and its connection closed`, async () => {
      const listener = await answerWith(bytes, staysOpen !== true);
      const answer = await fetchWith(guard().egress, listener.url);
      expect({ status: answer.status, body: answer.body.toString() }).toEqual({ status, body });
      await waitFor("the connection to be closed", () => listener.open() === 0);
    });

  const unusable: Record<string, string> = {
    "cut inside its length": "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel",
    "cut inside a chunk": "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhel",
    "cut between chunks": "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n",
    "cut inside its head": "HTTP/1.1 200 OK\r\nconte",
    "no answer at all": "",
    "not HTTP": "hello there\r\n\r\n",
    "two lengths": "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx",
    "a length and chunks": "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "not packed as it says": "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nok",
    "packed in an unknown way": "HTTP/1.1 200 OK\r\ncontent-encoding: zip\r\ncontent-length: 2\r\n\r\nok",
    "another protocol": "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    "an endless head": `HTTP/1.1 200 OK\r\na: ${"x".repeat(70_000)}`,
    "endless interim answers": `${"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(20)}${ok}`,
  };
  for (const [name, bytes] of Object.entries(unusable))
    test(`that is ${name} is an error`, async () => {
      const listener = await answerWith(bytes);
      expect(await codeOf(fetchWith(guard().egress, listener.url))).toBe("bad_response");
    });

  test("that is reset is an error", async () => {
    const listener = await listen((socket) => {
      socket.once("data", () =>
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel", () => socket.resetAndDestroy()),
      );
    });
    expect(["bad_response", "unreachable"]).toContain(await codeOf(fetchWith(guard().egress, listener.url)));
  });

  test("that does not come because nothing listens is unreachable", async () => {
    const listener = await answerWith(ok);
    for (const close of closers.splice(0)) close();
    const failure = await failureOf(fetchWith(guard().egress, listener.url));
    expect([failure.code, failure.message]).toEqual(["unreachable", "The server could not be reached"]);
  });

  test("that says it is too large is refused before its body comes", async () => {
    const listener = await answerWith("HTTP/1.1 200 OK\r\ncontent-length: 100001\r\n\r\n", false);
    expect(await codeOf(fetchWith(guard().egress, listener.url))).toBe("too_large");
  });

  for (const [name, { head, chunk }] of Object.entries({
    "with an end of its own": { head: "HTTP/1.1 200 OK\r\n\r\n", chunk: "x".repeat(65_536) },
    "in chunks": {
      head: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
      chunk: `10000\r\n${"x".repeat(65_536)}\r\n`,
    },
    "in chunks of one byte": {
      head: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
      chunk: "1\r\nx\r\n".repeat(10_000),
    },
  }))
    test(`without an end, ${name}, is broken off at the largest size`, async () => {
      const listener = await listen((socket) => {
        socket.once("data", () => {
          socket.write(head);
          const push = () => {
            while (socket.writable && socket.write(chunk));
          };
          socket.on("drain", push);
          push();
        });
      });
      // In a process of its own: the listener's memory must not count. A million kept pieces would take 120 MB.
      const task = { url: listener.url, allow: ["127.0.0.0/8"], maxBytes: 1_000_000, wantsGrowth: true as const };
      const { grownBytes, ...failure } = await runEgressChild(task, {});
      expect(failure).toEqual({ code: "too_large", cause: "" });
      expect(grownBytes).toBeLessThan(80_000_000);
      await waitFor("the connection to be closed", () => listener.open() === 0);
    });
});

describe("an answer that comes packed though plain bytes were asked for", () => {
  const noise = Buffer.from(new Bun.CryptoHasher("sha512").update("noise").digest("hex").repeat(8));
  const ways = { gzip: gzipSync, "X-GZIP": gzipSync, deflate: deflateSync, br: brotliCompressSync };

  function answerPacked(packed: Buffer, encoding: string, status = "200 OK"): Promise<Listener> {
    const head = `HTTP/1.1 ${status}\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${packed.length}\r\n\r\n`;
    return answerWith(Buffer.concat([Buffer.from(head), packed]));
  }

  test.each(Object.entries(ways))("is unpacked: %s", async (encoding, pack) => {
    const listener = await answerPacked(pack(noise), encoding);
    const { body } = await fetchWith(guard().egress, listener.url, { maxBytes: noise.length });
    expect(body.equals(noise)).toBe(true);
  });

  test.each(Object.entries(ways))("is too large by what it unpacks to: %s", async (encoding, pack) => {
    const listener = await answerPacked(pack(noise), encoding);
    const more = { maxBytes: noise.length - 1 };
    expect(await codeOf(fetchWith(guard().egress, listener.url, more))).toBe("too_large");
  });

  test.each(Object.entries(ways))("is too large at over 100 times of its size: %s", async (encoding, pack) => {
    const packed = pack(Buffer.alloc(10_000_000));
    expect(packed.length).toBeLessThan(100_000);
    const listener = await answerPacked(packed, encoding);
    const more = { maxBytes: 20_000_000 };
    expect(await codeOf(fetchWith(guard().egress, listener.url, more))).toBe("too_large");
  });

  test("is an error when it is cut inside, and none when there is nothing in it", async () => {
    const cut = await answerPacked(gzipSync(noise).subarray(0, -9), "gzip");
    expect(await codeOf(fetchWith(guard().egress, cut.url))).toBe("bad_response");
    const empty = await answerPacked(Buffer.alloc(0), "gzip");
    expect((await fetchWith(guard().egress, empty.url)).body).toHaveLength(0);
  });

  test("is not unpacked when it tells of an error", async () => {
    const listener = await answerPacked(Buffer.from("not packed"), "gzip", "500 Internal Server Error");
    const { status, body } = await fetchWith(guard().egress, listener.url);
    expect([status, body.toString()]).toEqual([500, "not packed"]);
  });
});

describe("an excerpt, where the status decides,", () => {
  test("is what came of a body that is too long, cut or packed", async () => {
    for (const bytes of [
      `HTTP/1.1 202 Accepted\r\n\r\n${"x".repeat(5_000)}`,
      "HTTP/1.1 202 Accepted\r\ncontent-length: 99999\r\n\r\nxxx",
      "HTTP/1.1 202 Accepted\r\ncontent-length: 3\r\ncontent-encoding: br\r\n\r\nxxx",
    ]) {
      const listener = await answerWith(bytes);
      const { status, body } = await fetchWith(guard().egress, listener.url, { isExcerpt: true, maxBytes: 1_000 });
      expect([status, Buffer.alloc(body.length, "x").equals(body), body.length <= 1_000]).toEqual([202, true, true]);
    }
  });

  test("is what has arrived of a body that stalls, long before the timeout", async () => {
    const listener = await listen((socket) => {
      socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\n\r\nfirst"));
    });
    // The test would end before this timeout.
    const { body } = await fetchWith(guard().egress, listener.url, { isExcerpt: true, timeoutMs: 600_000 });
    expect(body.toString()).toBe("first");
  });

  test("needs a head", async () => {
    const listener = await answerWith("HTTP/1.1 200 OK\r\nconte");
    expect(await codeOf(fetchWith(guard().egress, listener.url, { isExcerpt: true }))).toBe("bad_response");
  });
});

describe("every wait ends", () => {
  /** Sends these bytes one by one, and never the rest. */
  function drip(bytes: string): Promise<Listener> {
    return listen((socket) => {
      socket.once("data", () => {
        let at = 0;
        const timer = setInterval(() => socket.write(bytes[at++ % bytes.length] ?? ""), 5);
        socket.on("close", () => clearInterval(timer));
      });
    });
  }
  const phases: Record<string, { start: () => Promise<Listener>; isTls?: true }> = {
    "while TLS is agreed upon": { start: () => listen((socket) => void socket.resume()), isTls: true },
    "before the head": { start: () => listen((socket) => void socket.resume()) },
    "in a head that drips": { start: () => drip(`HTTP/1.1 200 OK\r\na: ${"x".repeat(1_000)}`) },
    "in a body that drips": { start: async () => answerWith("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel", false) },
  };
  for (const [name, { start, isTls }] of Object.entries(phases)) {
    test(`${name}: with the clock`, async () => {
      const listener = await start();
      const url = isTls ? listener.url.replace("http:", "https:") : listener.url;
      const clocks = isTls ? { connectTimeoutMs: 100 } : { timeoutMs: 100 };
      expect(await codeOf(fetchWith(guard().egress, url, clocks))).toBe("timeout");
      await waitFor("the connection to be closed", () => listener.count() === 1 && listener.open() === 0);
    });

    test(`${name}: when it is given up`, async () => {
      const listener = await start();
      const url = isTls ? listener.url.replace("http:", "https:") : listener.url;
      const controller = new AbortController();
      const reason = new Error("the caller left");
      const answer = fetchWith(guard().egress, url, { signal: controller.signal }).catch((error: unknown) => error);
      await waitFor("a connection", () => listener.count() === 1);
      controller.abort(reason);
      expect(await answer).toBe(reason);
      await waitFor("the connection to be closed", () => listener.open() === 0);
    });
  }

  test("given up beforehand, nothing is looked up or dialled", async () => {
    const listener = await answerWith(ok);
    const reason = new Error("the caller left");
    const { egress, lookups } = guard({ "a.example": [["127.0.0.1"]] });
    for (const host of ["127.0.0.1", "a.example"]) {
      const answer = fetchWith(egress, `http://${host}:${listener.port}/`, { signal: AbortSignal.abort(reason) });
      expect(await answer.catch((error: unknown) => error)).toBe(reason);
    }
    expect([listener.count(), lookups]).toEqual([0, []]);
  });
});
