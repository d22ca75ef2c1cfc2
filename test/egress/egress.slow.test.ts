import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { createEgress, type Egress, type EgressAnswer, type EgressRequest } from "../../src/egress/egress.ts";
import { EgressError } from "../../src/egress/egress-error.ts";
import { fetchMedia, toDataUrl } from "../../src/egress/media.ts";
import { createLog } from "../../src/log.ts";
import { runEgressChild } from "../support/egress-child.ts";
import { createListeners, type Listener } from "../support/listeners.ts";
import { waitFor, within } from "../support/wait.ts";

const { closers, listen, answerWith, closeAll } = createListeners();
afterEach(closeAll);

const logged: string[] = [];
const log = createLog({ level: "info", format: "json", secrets: [], write: (lines) => void logged.push(lines) });

interface FakeNames {
  /** Each lookup of a name takes the next of its answers, the last one again and again. */
  readonly [name: string]: readonly (readonly string[])[];
}

interface Guarded {
  readonly egress: Egress;
  readonly lookups: string[];
}

function guard(names: FakeNames = {}, allow: readonly string[] = ["127.0.0.0/8"]): Guarded {
  const lookups: string[] = [];
  const lookup = async (name: string) => {
    const before = lookups.filter((other) => other === name).length;
    lookups.push(name);
    const answers = names[name];
    if (answers === undefined) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
    return answers[Math.min(before, answers.length - 1)] ?? [];
  };
  return { egress: createEgress({ allow, lookup, log }), lookups };
}

const request: EgressRequest = {
  maxBytes: 100_000,
  timeoutMs: 5_000,
  connectTimeoutMs: 5_000,
  protocols: ["https:", "http:"],
};

/** Starts nothing that the test does not end. */
function fetchWith(egress: Egress, url: string, more: Partial<EgressRequest> = {}): Promise<EgressAnswer> {
  return within(60_000, `an answer from ${url}`, egress.fetch(url, { ...request, ...more }));
}

async function failureOf(promise: Promise<unknown>): Promise<EgressError> {
  const error = await promise.then(
    () => new Error("there was no failure"),
    (error: unknown) => error,
  );
  if (!(error instanceof EgressError)) throw error;
  return error;
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return (await failureOf(promise)).code;
}

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

describe("a URL that leads inside is refused in every spelling, without a lookup and without a connection", () => {
  const spellings: Record<string, readonly string[]> = {
    loopback: [
      "127.0.0.1",
      "127.0.0.1.",
      "127.1",
      "127.0.1",
      "127.8.8.8",
      "127.255.255.255",
      "2130706433",
      "0x7f000001",
      "0x7F.0x0.0x0.0x1",
      "0x7f.1",
      "017700000001",
      "0177.0.0.1",
      "0177.0.0.01",
      "00000177.0.0.1",
      "１２７.0.0.1",
      "①②⑦.0.0.1",
      "127。0。0。1",
      "127．0．0．1",
      "%31%32%37.0.0.1",
      "127%2e0%2e0%2e1",
      "[::1]",
      "[0:0:0:0:0:0:0:1]",
      "[0000:0000:0000:0000:0000:0000:0000:0001]",
    ],
    unspecified: ["0.0.0.0", "0", "0x0", "00", "0.1.2.3", "[::]", "[0::0]", "[::ffff:0.0.0.0]"],
    private: [
      "10.0.0.1",
      "10.255.255.255",
      "167772161",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "0xc0a80101",
      "192.168.257",
    ],
    "link-local and metadata": [
      "169.254.169.254",
      "169.254.170.2",
      "2852039166",
      "0xa9fea9fe",
      "0251.0376.0251.0376",
      "169.254.43518",
      "100.100.100.200",
      "168.63.129.16",
      "192.0.0.192",
      "[fd00:ec2::254]",
      "[fd20:ce::254]",
      "[fe80::1]",
      "[fe80::a9fe:a9fe]",
      "[febf::1]",
    ],
    "shared, protocol, documentation, benchmarking": [
      "100.64.0.1",
      "100.127.255.255",
      "192.0.0.1",
      "192.0.2.1",
      "192.88.99.1",
      "198.18.0.1",
      "198.19.255.255",
      "198.51.100.1",
      "203.0.113.1",
      "[2001:db8::1]",
      "[3fff::1]",
      "[2001:2::1]",
      "[2001:10::1]",
      "[2001:20::1]",
    ],
    "multicast, reserved, broadcast": [
      "224.0.0.1",
      "239.255.255.250",
      "240.0.0.1",
      "255.255.255.255",
      "4294967295",
      "[ff02::1]",
      "[ff0e::1]",
      "[100::1]",
      "[5f00::1]",
      "[4000::1]",
    ],
    "IPv4 inside IPv6": [
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[::FFFF:7F00:0001]",
      "[0:0:0:0:0:ffff:127.0.0.1]",
      "[::ffff:a9fe:a9fe]",
      "[::ffff:8.8.8.8]",
      "[::127.0.0.1]",
      "[::7f00:1]",
      "[::8.8.8.8]",
      "[::ffff:0:7f00:1]",
      "[64:ff9b::7f00:1]",
      "[64:ff9b::127.0.0.1]",
      "[64:ff9b::808:808]",
      "[64:ff9b:1::7f00:1]",
      "[2002:7f00:1::]",
      "[2002:a9fe:a9fe::1]",
      "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    ],
    "local by unique or site prefix": ["[fc00::1]", "[fd00::1]", "[fdff:ffff::1]", "[fec0::1]"],
    "a zone": ["[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%25lo]"],
    "a local name": [
      "localhost",
      "LOCALHOST",
      "localhost.",
      "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
      "foo.localhost",
      "localhost.localdomain",
      "intranet",
      "metadata",
      "metadata.google.internal",
      "host.docker.internal",
      "kubernetes.default.svc.cluster.local",
      "printer.local",
      "router.lan",
      "nas.home.arpa",
    ],
    "no name at all": [
      "a..example.com",
      "example.com..",
      ".example.com",
      `${"a".repeat(64)}.com`,
      `${"a.".repeat(140)}com`,
    ],
    "not an address though it looks like one": ["256.1.1.1", "1.2.3.4.5", "4294967296", "08.1.1.1", "a.0x1"],
  };
  for (const [kind, hosts] of Object.entries(spellings))
    test(kind, async () => {
      const { egress, lookups } = guard({}, []);
      for (const host of hosts)
        for (const promise of [
          egress.check(`https://${host}/x`, { timeoutMs: 1_000 }),
          fetchWith(egress, `https://${host}/x`),
          fetchWith(egress, `http://${host}:8080/x`),
        ])
          expect({ host, code: await codeOf(promise) }).toEqual({ host, code: "url_not_allowed" });
      expect(lookups).toEqual([]);
    });

  test("the table is long, and public addresses pass in every spelling", async () => {
    expect(Object.values(spellings).flat().length).toBeGreaterThan(110);
    const { egress } = guard({ "example.com": [["8.8.8.8", "2606:4700:4700::1111"]] }, []);
    for (const host of [
      "8.8.8.8",
      "134744072",
      "0x08080808",
      "010.010.010.010",
      "[2606:4700:4700::1111]",
      "EXAMPLE.com",
      "例え.example.com",
    ])
      expect({
        host,
        code: await egress.check(`https://${host}/`, { timeoutMs: 1_000 }).then(
          () => "fine",
          (error) => error.code,
        ),
      }).toEqual({ host, code: host === "例え.example.com" ? "unreachable" : "fine" });
  });

  test.each([
    "http://example.com/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_INFO",
    "data:text/plain,x",
    "javascript:alert(1)",
    "wss://example.com/",
    "blob:https://example.com/x",
    "example.com/x",
    "/hook",
    "https://",
    "",
    "https://user:secret@example.com/",
    "https://example.com@127.0.0.1/",
    "https://example.com\\@127.0.0.1/",
    "https:\\\\127.0.0.1/",
    "https://127.0\t.0.1/",
    "https://exam\nple.com/",
    " https://example.com/",
    "https://exam ple.com/",
    "https://example.com\u0000.evil/",
    "https://127.0.0.1#.example.com/",
    "https://127.0.0.1?.example.com/",
    "https://example.com:0/",
    "https://example.com:22/",
    "https://example.com:25/",
    "https://example.com:1023/",
    "https://example.com:6379/",
    "https://example.com:5432/",
    "https://example.com:65536/",
    "https://example.com:https/",
  ])("so is %j", async (url) => {
    const { egress, lookups } = guard({ "example.com": [["8.8.8.8"]] }, []);
    expect(await codeOf(egress.check(url, { timeoutMs: 1_000 }))).toBe("url_not_allowed");
    expect(lookups).toEqual([]);
  });
});

describe("a name", () => {
  test.each([
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "0.0.0.0",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::a00:1",
    "2002:a00:1::",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
    "fd00::1",
    "not an address",
    "",
  ])("that leads to %j is refused, also when it leads to a public address as well", async (address) => {
    const { egress } = guard(
      { "a.example": [[address]], "b.example": [["8.8.8.8", address]], "c.example": [[address, "8.8.8.8"]] },
      [],
    );
    for (const name of ["a.example", "b.example", "c.example"])
      expect(await codeOf(fetchWith(egress, `https://${name}/`))).toBe("url_not_allowed");
  });

  test("that nobody knows, or that has no address, is unreachable", async () => {
    const { egress } = guard({ "empty.example": [[]] }, []);
    expect(await codeOf(fetchWith(egress, "https://unknown.example/"))).toBe("unreachable");
    expect(await codeOf(fetchWith(egress, "https://empty.example/"))).toBe("unreachable");
  });

  test("is looked up once for a request, so that a second answer cannot lead elsewhere", async () => {
    const listener = await answerWith(ok);
    const canary = await listen((socket) => socket.end(ok), "127.0.0.2");
    const { egress, lookups } = guard({ "rebind.example": [["127.0.0.1"], ["127.0.0.2"]] }, ["127.0.0.1/32"]);
    const url = `http://rebind.example:${listener.port}/`;
    expect((await fetchWith(egress, url)).body.toString()).toBe("ok");
    expect(lookups).toEqual(["rebind.example"]);
    expect(await codeOf(fetchWith(egress, url))).toBe("url_not_allowed");
    expect([listener.count(), canary.count()]).toEqual([1, 0]);
  });

  test("with a dead address first is reached at the next one", async () => {
    const listener = await answerWith(ok);
    const { egress } = guard({ "two.example": [["127.0.0.9", "127.0.0.1"]] });
    expect((await fetchWith(egress, `http://two.example:${listener.port}/`)).status).toBe(200);
  });

  test("with a silent address first is tried at the next one while there is time", async () => {
    const silent = await listen((socket) => void socket.resume());
    const next = await listen((socket) => socket.end(ok), "127.0.0.2", silent.port);
    const { egress } = guard({ "two.example": [["127.0.0.1", "127.0.0.2"]] });
    const answer = fetchWith(egress, `https://two.example:${silent.port}/`, { connectTimeoutMs: 400 });
    // The second one does not speak TLS.
    expect(await codeOf(answer)).toBe("unreachable");
    expect([silent.count(), next.count()]).toEqual([1, 1]);
  });

  test("that is looked up forever ends with the connect clock", async () => {
    const egress = createEgress({ allow: [], log, lookup: () => new Promise(() => {}) });
    expect(await codeOf(fetchWith(egress, "https://slow.example/", { connectTimeoutMs: 50 }))).toBe("timeout");
    expect(await codeOf(egress.check("https://slow.example/", { timeoutMs: 50 }))).toBe("timeout");
  });
});

test("names are looked up with the system's own list of hosts", async () => {
  const listener = await answerWith(ok);
  const egress = createEgress({ allow: ["127.0.0.0/8", "::1"], log });
  expect((await fetchWith(egress, `http://localhost:${listener.port}/`)).body.toString()).toBe("ok");
});

describe("what is exempt", () => {
  test("is reached: an address, a range, a local name, and nothing beside it", async () => {
    const listener = await answerWith(ok);
    const names = { localhost: [["127.0.0.1"]], "db.internal": [["10.0.0.5"]] };
    for (const allow of ["127.0.0.1", "127.0.0.0/8", "127.0.0.1/32"]) {
      const { egress } = guard(names, [allow]);
      expect((await fetchWith(egress, listener.url)).status).toBe(200);
      expect((await fetchWith(egress, `http://localhost:${listener.port}/`)).status).toBe(200);
      for (const url of ["http://10.0.0.1/", "http://db.internal/", "http://unknown.internal/", "http://[::1]/"])
        expect(await codeOf(fetchWith(egress, url))).toBe("url_not_allowed");
    }
  });

  test.each([
    "10.0.0.0/33",
    "10.0.0/8",
    "::/129",
    "10.0.0.0/8/8",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "example.com",
    "",
    "fe80::%eth0/64",
  ])("has to be a range: %j is not", (allow) => {
    expect(() => guard({}, [allow])).toThrow("is not a range of addresses");
  });
});

test("a refused address and a closed port inside look the same, and nothing connects", async () => {
  const canary = await listen(() => {});
  const { egress } = guard({ "inside.example": [["127.0.0.1"]] }, []);
  const closed = await listen(() => {});
  for (const close of closers.splice(1)) close();
  const messages = new Set<string>();
  for (const url of [
    canary.url,
    closed.url,
    `http://inside.example:${canary.port}`,
    "http://10.0.0.1:8080",
    "http://localhost:8080",
  ]) {
    const { code, message, cause } = await failureOf(fetchWith(egress, url));
    messages.add(`${code} ${message} ${cause}`);
  }
  expect([...messages]).toEqual(["url_not_allowed The URL should name a public host undefined"]);
  expect(canary.count()).toBe(0);
  log.flush();
  expect(logged.join("")).toContain('"host":"inside.example","reason":"its address 127.0.0.1 is not public"');
});

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

  test("that nobody gives because nothing listens is unreachable", async () => {
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

describe("a redirect", () => {
  const to = (location: string, status = 302) =>
    answerWith(`HTTP/1.1 ${status} Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);

  test("is refused unless it was wished for, and always for a request with a body", async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const listener = await to("/elsewhere", status);
      for (const more of [
        {},
        { redirects: "refuse" },
        { redirects: 0 },
        { method: "POST", body: "x", redirects: 5 },
      ] as const) {
        const failure = await failureOf(fetchWith(guard().egress, listener.url, more));
        expect([failure.code, failure.status]).toEqual(["redirect_refused", status]);
      }
      expect(listener.count()).toBe(4);
    }
  });

  test("is followed as often as was said, the name of each hop looked up and checked", async () => {
    const end = await answerWith(ok);
    const second = await to(`http://third.example:${end.port}/end?x=1`);
    const first = await to(`http://second.example:${second.port}/`);
    const names = {
      "first.example": [["127.0.0.1"]],
      "second.example": [["127.0.0.1"]],
      "third.example": [["127.0.0.1"]],
    };
    const { egress, lookups } = guard(names);
    const answer = await fetchWith(egress, `http://first.example:${first.port}/`, { redirects: 2 });
    expect([answer.body.toString(), answer.finalUrl]).toEqual(["ok", `http://third.example:${end.port}/end?x=1`]);
    expect(lookups).toEqual(["first.example", "second.example", "third.example"]);
    expect(await codeOf(fetchWith(egress, `http://first.example:${first.port}/`, { redirects: 1 }))).toBe(
      "too_many_redirects",
    );
  });

  test("in a circle ends", async () => {
    const listener = await to("/again");
    expect(await codeOf(fetchWith(guard().egress, listener.url, { redirects: 5 }))).toBe("too_many_redirects");
    expect(listener.count()).toBe(6);
  });

  test("to somewhere inside, to another scheme, or to nowhere is refused like a URL of that kind", async () => {
    const canary = await listen(() => {}, "127.0.0.2");
    const { egress } = guard({ "inside.example": [["127.0.0.2"]] }, ["127.0.0.1/32"]);
    for (const location of [
      `http://127.0.0.2:${canary.port}/`,
      `http://2130706434:${canary.port}/`,
      `http://inside.example:${canary.port}/`,
      "http://169.254.169.254/latest/meta-data/",
      "http://[::ffff:127.0.0.2]/",
      "//10.0.0.1/",
      "file:///etc/passwd",
      "gopher://127.0.0.1/",
      "http://user@127.0.0.1/",
      "/\\127.0.0.2/",
      "http://",
    ]) {
      const listener = await to(location);
      expect({ location, code: await codeOf(fetchWith(egress, listener.url, { redirects: 3 })) }).toEqual({
        location,
        code: "url_not_allowed",
      });
    }
    expect(canary.count()).toBe(0);
  });

  test("takes the caller's headers along within one origin only", async () => {
    const heads: string[] = [];
    const end = await listen((socket) =>
      socket.once("data", (bytes) => {
        heads.push(bytes.toString());
        socket.end(ok);
      }),
    );
    const start = await listen((socket) =>
      socket.once("data", (bytes) => {
        heads.push(bytes.toString());
        const location = heads.length === 1 ? "/again" : `${end.url}/`;
        socket.end(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);
      }),
    );
    const headers = { Authorization: "Bearer secret", Accept: "image/png", "X-Own": "1" };
    await fetchWith(guard().egress, start.url, { redirects: 2, headers });
    expect(
      heads.map((head) => [
        /^authorization: Bearer secret/m.test(head),
        /^x-own/m.test(head),
        /^accept: image\/png/m.test(head),
      ]),
    ).toEqual([
      [true, true, true],
      [true, true, true],
      [false, false, true],
    ]);
  });
});

describe("TLS", () => {
  const folder = join(import.meta.dir, "../support/tls");
  const certificate = join(folder, "certificate.pem");
  // The certificate is for the name "localhost". The server is where the system does not look for it.
  const address = "127.0.0.2";
  const names = { localhost: [address], "files.example.com": [address] };

  function serve(): { port: number; asked: () => number; hosts: string[] } {
    const hosts: string[] = [];
    const tls = { cert: Bun.file(certificate), key: Bun.file(join(folder, "key.pem")) };
    const server = Bun.serve({
      port: 0,
      hostname: address,
      tls,
      fetch(incoming) {
        hosts.push(incoming.headers.get("host") ?? "");
        if (new URL(incoming.url).pathname === "/down")
          return new Response(null, { status: 302, headers: { location: "http://127.0.0.2/" } });
        return new Response("over TLS");
      },
    });
    closers.push(() => void server.stop(true));
    return { port: server.port ?? 0, asked: () => hosts.length, hosts };
  }

  test("a certificate that nobody vouches for is refused before anything is sent", async () => {
    const server = serve();
    const { egress } = guard({ localhost: [[address]] });
    const failure = await failureOf(fetchWith(egress, `https://localhost:${server.port}/secret`));
    expect([failure.code, failure.message]).toEqual(["unreachable", "The server could not be reached"]);
    expect((failure.cause as { code?: string }).code).toMatch(/CERT|VERIFY/);
    expect(server.asked()).toBe(0);
  });

  test("a trusted one is good at the pinned address for its own name, with or without a dot, and for no other", async () => {
    const server = serve();
    const ask = (host: string) =>
      runEgressChild(
        {
          url: `https://${host}:${server.port}/`,
          allow: ["127.0.0.0/8"],
          names: { ...names, "localhost.": [address] },
        },
        {
          NODE_EXTRA_CA_CERTS: certificate,
        },
      );
    expect(await ask("localhost")).toEqual({ body: "over TLS" });
    expect(await ask("localhost.")).toEqual({ body: "over TLS" });
    expect(server.hosts[0]).toBe(`localhost:${server.port}`);
    expect(await ask("files.example.com")).toEqual({ code: "unreachable", cause: "ERR_TLS_CERT_ALTNAME_INVALID" });
    expect(await ask(address)).toEqual({ code: "unreachable", cause: "ERR_TLS_CERT_ALTNAME_INVALID" });
    expect(server.asked()).toBe(2);
  });

  test("the name is told to the server without its dot, and an address is not told at all", async () => {
    const hellos: string[] = [];
    const listener = await listen((socket) =>
      socket.once("data", (bytes) => {
        hellos.push(bytes.toString("latin1"));
        socket.end();
      }),
    );
    const { egress } = guard({ "files.example.": [["127.0.0.1"]] });
    for (const host of ["files.example.", "127.0.0.1"])
      expect(await codeOf(fetchWith(egress, `https://${host}:${listener.port}/`))).toBe("unreachable");
    expect(hellos.map((hello) => /files\.example\.?|127\.0\.0\.1/.exec(hello)?.[0])).toEqual([
      "files.example",
      undefined,
    ]);
  });

  test("a redirect from https to http is refused, also where http would do", async () => {
    const server = serve();
    const task = { url: `https://localhost:${server.port}/down`, allow: ["127.0.0.0/8"], names };
    expect(await runEgressChild(task, { NODE_EXTRA_CA_CERTS: certificate })).toEqual({
      code: "url_not_allowed",
      cause: "",
    });
    expect(server.asked()).toBe(1);
  });

  test("a server without TLS is unreachable by https", async () => {
    const listener = await listen((socket) => socket.end(ok));
    expect(await codeOf(fetchWith(guard().egress, listener.url.replace("http:", "https:")))).toBe("unreachable");
  });
});

test("proxies of the environment are not used", async () => {
  const proxy = await answerWith(ok);
  const listener = await answerWith(ok.replace(/ok$/, "it"));
  const address = proxy.url;
  const env = {
    HTTP_PROXY: address,
    http_proxy: address,
    HTTPS_PROXY: address,
    https_proxy: address,
    ALL_PROXY: address,
    NO_PROXY: "",
  };
  const task = {
    url: `http://a.example:${listener.port}/`,
    allow: ["127.0.0.0/8"],
    names: { "a.example": ["127.0.0.1"] },
  };
  expect(await runEgressChild(task, env)).toEqual({ body: "it" });
  expect(proxy.count()).toBe(0);
});

// A network of its own needs rights that not every machine gives.
const setUp = [
  "ip link set lo up",
  "ip route add local 8.8.8.0/24 dev lo",
  "ip -6 route add local 2606:4700::/32 dev lo",
  "ip address add 9.9.9.9/32 dev lo",
].join(" && ");
const inOwnNetwork = (command: string) => ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", command];
const mayHaveNetwork = Bun.which("unshare") !== null && Bun.spawnSync(inOwnNetwork(setUp)).exitCode === 0;

test.skipIf(!mayHaveNetwork)(
  "public addresses are reached, and a name that turns to loopback never is (needs a network namespace)",
  async () => {
    const script = join(import.meta.dir, "../support/egress-network.ts");
    const child = Bun.spawn(inOwnNetwork(`${setUp} && exec "${process.execPath}" "${script}"`), {
      stdout: "pipe",
      stderr: "inherit",
      timeout: 60_000,
    });
    const { single, rebinding, hits } = JSON.parse(await new Response(child.stdout).text());
    expect(single).toEqual({
      literal: { outcome: "8.8.8.8", lookups: 0 },
      decimal: { outcome: "8.8.8.8", lookups: 0 },
      literal6: { outcome: "2606:4700::1", lookups: 0 },
      name: { outcome: "8.8.8.8", lookups: 1 },
      mixed: { outcome: "url_not_allowed", lookups: 1 },
      // A public address of this very machine.
      own: { outcome: "url_not_allowed", lookups: 0 },
    });
    expect(rebinding).toEqual({ "8.8.8.8 after 1": 1_000 });
    expect(hits).toEqual({ "8.8.8.8": 1_003, "2606:4700::1": 1 });
  },
);

describe("a file", () => {
  const bytes = (...parts: (string | number[])[]) =>
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))));
  const box = (...brands: string[]) =>
    bytes([0, 0, 0, 12 + 4 * brands.length], `ftyp${brands[0]}`, [0, 0, 0, 0], ...brands.slice(1));
  // The beginnings of files as their formats describe them; invented behind that.
  const files: Record<string, Buffer> = {
    "image/png": bytes("\x89PNG\r\n\x1a\n", [0, 0, 0, 13], "IHDR"),
    "image/jpeg": bytes([0xff, 0xd8, 0xff, 0xe0], "\0\x10JFIF"),
    "image/gif": bytes("GIF89a", [1, 0, 1, 0]),
    "image/webp": bytes("RIFF", [4, 0, 0, 0], "WEBPVP8 "),
    "image/avif": box("avif", "mif1", "miaf"),
    "image/heic": box("mif1", "heic"),
    "image/heif": box("mif1", "miaf"),
    "image/tiff": bytes("II*\0", [8, 0, 0, 0]),
    "image/bmp": bytes("BM", [70, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0]),
    "application/pdf": bytes("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"),
    "audio/wav": bytes("RIFF", [36, 0, 0, 0], "WAVEfmt "),
    "audio/mpeg": bytes([0xff, 0xfb, 0x90, 0x64, 0, 0]),
    "audio/aac": bytes([0xff, 0xf1, 0x50, 0x80, 0, 0]),
    "audio/ogg": bytes("OggS\0\x02", [0, 0, 0, 0], "OpusHead"),
    "audio/flac": bytes("fLaC", [0, 0, 0, 34]),
    "audio/mp4": box("M4A ", "mp42", "isom"),
    "video/mp4": box("isom", "iso2", "avc1", "mp41"),
    "video/quicktime": box("qt  "),
    "video/webm": bytes([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84], "webm"),
    "text/plain": Buffer.from("Grüße,\r\n\tBMW"),
  };
  const all = ["image", "audio", "video", "document", "text"] as const;

  async function serveFile(file: Buffer, type = "application/x-lie"): Promise<string> {
    const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${file.length}\r\n\r\n`;
    return (await answerWith(Buffer.concat([Buffer.from(head), file]))).url;
  }
  const wish = { maxBytes: 10_000, protocols: ["http:"] } as const;

  test.each(Object.entries(files))("is known as %s by its bytes, whatever the server says", async (mediaType, file) => {
    const media = await within(
      5_000,
      "the file",
      fetchMedia(guard().egress, await serveFile(file), { ...wish, kinds: all }),
    );
    expect(media.mediaType).toBe(mediaType);
    expect(media.bytes.equals(file)).toBe(true);
    expect(toDataUrl(media)).toBe(`data:${mediaType};base64,${file.toString("base64")}`);
  });

  test("of another kind, of no known kind, or empty is refused, also when the server says otherwise", async () => {
    for (const file of [
      files["application/pdf"],
      Buffer.from("<html>"),
      bytes([0, 1, 2, 3]),
      Buffer.alloc(0),
      bytes("\xff\xfe"),
    ]) {
      const url = await serveFile(file ?? Buffer.alloc(0), "image/png");
      expect(await codeOf(fetchMedia(guard().egress, url, { ...wish, kinds: ["image"] }))).toBe("bad_response");
    }
  });

  test("that holds a film may be wished for as sound", async () => {
    const url = await serveFile(files["video/mp4"] ?? Buffer.alloc(0));
    expect((await fetchMedia(guard().egress, url, { ...wish, kinds: ["audio"] })).mediaType).toBe("video/mp4");
  });

  test("that is not there is an error with its status", async () => {
    const listener = await answerWith("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    const failure = await failureOf(fetchMedia(guard().egress, listener.url, { ...wish, kinds: all }));
    expect([failure.code, failure.status]).toEqual(["bad_response", 404]);
  });

  test("that is too large is refused, and http unless it was wished for", async () => {
    const url = await serveFile(Buffer.alloc(10_001, "x"));
    expect(await codeOf(fetchMedia(guard().egress, url, { ...wish, kinds: all }))).toBe("too_large");
    expect(await codeOf(fetchMedia(guard().egress, url, { maxBytes: 10, kinds: all }))).toBe("url_not_allowed");
  });
});
