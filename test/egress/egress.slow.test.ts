// Requests to addresses that callers choose: which addresses may be reached.

import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createEgress } from "../../src/egress/egress.ts";
import { codeOf, failureOf, fetchWith, guard, log, logged, ok } from "../support/egress.ts";
import { runEgressChild } from "../support/egress-child.ts";
import { createListeners } from "../support/listeners.ts";

const { closers, listen, answerWith, closeAll } = createListeners();

afterEach(closeAll);

// A network of its own needs rights that not every machine gives.
const setUp = [
  "ip link set lo up",
  "ip route add local 8.8.8.0/24 dev lo",
  "ip -6 route add local 2606:4700::/32 dev lo",
  "ip address add 9.9.9.9/32 dev lo",
].join(" && ");

const inOwnNetwork = (command: string) => ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", command];

const mayHaveNetwork = Bun.which("unshare") !== null && Bun.spawnSync(inOwnNetwork(setUp)).exitCode === 0;

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
          egress.check(`https://${host}/x`, { timeoutMs: 60_000 }),
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
        code: await egress.check(`https://${host}/`, { timeoutMs: 60_000 }).then(
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
    expect(await codeOf(egress.check(url, { timeoutMs: 60_000 }))).toBe("url_not_allowed");
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

  test("that is unknown, or that has no address, is unreachable", async () => {
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
    const answer = fetchWith(egress, `https://two.example:${silent.port}/`, { connectTimeoutMs: 3_000 });
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

test.skipIf(!mayHaveNetwork)(
  "public addresses are reached, and a name that turns to loopback never is (needs a network namespace)",
  async () => {
    const script = join(import.meta.dir, "../support/egress-network.ts");
    const child = Bun.spawn(inOwnNetwork(`${setUp} && exec "${process.execPath}" "${script}"`), {
      stdout: "pipe",
      stderr: "inherit",
      timeout: 110_000,
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
    expect(rebinding).toEqual({ "8.8.8.8 after 1": 300 });
    expect(hits).toEqual({ "8.8.8.8": 303, "2606:4700::1": 1 });
  },
);
