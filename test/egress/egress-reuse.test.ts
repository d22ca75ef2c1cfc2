// Connections that are kept for the next request, as webhooks use them.

import { afterEach, describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { createEgress, type Egress, type EgressRequest } from "../../src/egress/egress.ts";
import { createLog } from "../../src/log.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { runEgressChild } from "../support/egress-child.ts";
import { createListeners, type Listener } from "../support/listeners.ts";
import { startRawTlsReceiver, toAnswer } from "../support/raw-tls-receiver.ts";
import { receiversCertificate } from "../support/tls-receiver.ts";
import { inParallel, waitFor, within } from "../support/wait.ts";

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const log = createLog({ level: "error", format: "json", secrets: [], write: () => {} });
const { listen, closers, closeAll } = createListeners();
let dns: DnsServer | null = null;
const guards: Egress[] = [];
afterEach(async () => {
  for (const egress of guards.splice(0)) egress.close();
  closeAll();
  await dns?.stop();
  dns = null;
});

function guard(names: Readonly<Record<string, readonly string[]>> = {}, more: { longestIdleMs?: number } = {}): Egress {
  const lookup = async (name: string) => names[name] ?? [];
  const egress = createEgress({ allow: ["127.0.0.0/8"], log, lookup, ...more });
  guards.push(egress);
  return egress;
}

const request: EgressRequest = {
  body: "{}",
  maxBytes: 1_000,
  timeoutMs: 60_000,
  connectTimeoutMs: 60_000,
  protocols: ["http:"],
  keepAlive: true,
};

async function send(egress: Egress, url: string, more: Partial<EgressRequest> = {}): Promise<string> {
  const answer = await within(60_000, "an answer", egress.fetch(url, { ...request, ...more }));
  return `${answer.status} ${answer.body}`;
}

/** Answers every request with these bytes. */
function answerAll(
  bytes: string,
  then: (socket: Socket, request: Buffer | string) => void = () => {},
): Promise<Listener> {
  return listen((socket) => {
    socket.on("data", (request) => {
      socket.write(bytes);
      then(socket, request);
    });
  });
}

/** Does with each request what its number says: 1 is the first. */
async function answerByNumber(serve: (socket: Socket, number: number) => void) {
  let requests = 0;
  const server = await listen((socket) => {
    socket.on("data", () => {
      requests += 1;
      serve(socket, requests);
    });
  });
  return { server, counts: () => [requests, server.count()] };
}

test("requests that ask for it share a connection, others do not", async () => {
  const heads: string[] = [];
  const server = await answerAll(ok, (_socket, request) => heads.push(request.toString()));
  const egress = guard();
  for (let time = 0; time < 5; time++) expect(await send(egress, server.url)).toBe("200 ok");
  expect(server.count()).toBe(1);
  expect(heads.every((head) => head.includes("connection: keep-alive\r\n"))).toBe(true);
  for (let time = 0; time < 3; time++) await send(egress, server.url, { keepAlive: false });
  expect(server.count()).toBe(4);
  expect(heads.at(-1)).toContain("connection: close\r\n");
});

test("over TLS too", async () => {
  const receiver = await startRawTlsReceiver({
    address: "127.0.0.2",
    answer: (_request, socket) => socket.write(toAnswer(200, "over TLS")),
  });
  closers.push(receiver.stop);
  const task = {
    url: `https://hooks.example.com:${receiver.port}/`,
    allow: ["127.0.0.2"],
    names: { "hooks.example.com": ["127.0.0.2"] },
    times: 20,
  };
  expect(await runEgressChild(task, { NODE_EXTRA_CA_CERTS: receiversCertificate })).toEqual({ body: "over TLS" });
  expect([receiver.requests.length, receiver.connections()]).toEqual([20, 1]);
});

describe("a kept connection is used only", () => {
  test("for the same name, scheme and port, although the address is the same", async () => {
    const server = await answerAll(ok);
    const egress = guard({ "a.example": ["127.0.0.1"], "b.example": ["127.0.0.1"] });
    for (const host of ["a.example", "b.example", "127.0.0.1", "a.example"])
      await send(egress, `http://${host}:${server.port}/`);
    expect(server.count()).toBe(3);
  });

  test("while its address is among those of the name, which is looked up for each request", async () => {
    dns = await startDnsServer({ "hooks.example": [["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"], ["10.0.0.1"]] });
    const egress = createEgress({ allow: ["127.0.0.0/8"], log, dnsServers: [dns.address] });
    guards.push(egress);
    const first = await answerAll(ok);
    const second = await listen((socket) => socket.on("data", () => socket.write(ok)), "127.0.0.2", first.port);
    const url = `http://hooks.example:${first.port}/`;
    await send(egress, url);
    await send(egress, url);
    expect([first.count(), second.count()]).toEqual([1, 0]);
    await send(egress, url);
    expect([first.count(), second.count()]).toEqual([1, 1]);
    expect(await send(egress, url).catch((error) => error.code)).toBe("url_not_allowed");
    expect(dns.lookups("hooks.example")).toBe(4);
  });

  const unfit: Readonly<Record<string, string>> = {
    "that says it closes": ok.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"),
    "of HTTP/1.0": ok.replace("HTTP/1.1", "HTTP/1.0"),
    "with bytes behind it": `${ok}HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nother`,
    "that is longer than was wished for": `HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n${"x".repeat(5_000)}`,
    "that was cut short": "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel",
  };
  for (const [name, bytes] of Object.entries(unfit))
    test(`when the answer before was whole: one ${name} closes it`, async () => {
      const server = await answerAll(bytes);
      const egress = guard();
      for (let time = 0; time < 2; time++)
        expect(await send(egress, server.url, { isExcerpt: true })).toStartWith("200");
      await waitFor("the connections to be closed", () => server.open() === 0);
      expect(server.count()).toBe(2);
    });

  test("when nothing was said on it meanwhile", async () => {
    const server = await answerAll(ok, (socket) => setTimeout(() => socket.write(ok.replace(/ok$/, "no")), 20));
    const egress = guard();
    await send(egress, server.url);
    // Long before it is closed for being idle.
    await waitFor("the connection to be closed", () => server.open() === 0);
    expect(await send(egress, server.url)).toBe("200 ok");
    expect(server.count()).toBe(2);
  });
});

test("a request that reached the server is not sent again, however the connection ends", async () => {
  for (const end of [(socket: Socket) => socket.destroy(), (socket: Socket) => socket.resetAndDestroy()]) {
    let requests = 0;
    // The first request of a connection is answered, the second one never.
    const server = await listen((socket) => {
      let ofConnection = 0;
      socket.on("data", () => {
        requests += 1;
        ofConnection += 1;
        if (ofConnection > 1) end(socket);
        else socket.write(ok);
      });
    });
    const egress = guard();
    let calls = 0;
    let failures = 0;
    for (; calls < 20; calls++) await send(egress, server.url).catch(() => failures++);
    expect([requests, failures]).toEqual([calls, calls / 2]);
  }
});

test("a connection that the server closed before its reuse costs no request", async () => {
  let requests = 0;
  const server = await answerAll(ok, (socket) => {
    requests += 1;
    socket.end();
  });
  const egress = guard();
  for (let time = 0; time < 50; time++) expect(await send(egress, server.url)).toBe("200 ok");
  expect([requests, server.count()]).toEqual([50, 50]);
});

test("a request that was answered in part is not sent again", async () => {
  const { server, counts } = await answerByNumber((socket, number) => {
    if (number === 1) socket.write(ok);
    else socket.end("HTTP/1.1 200");
  });
  const egress = guard();
  await send(egress, server.url);
  expect(await send(egress, server.url).catch((error) => error.code)).toBe("bad_response");
  expect(counts()).toEqual([2, 1]);
});

test("a kept connection that is silent ends with the clock, and is not used again", async () => {
  const { server, counts } = await answerByNumber((socket, number) => {
    if (number !== 2) socket.write(ok);
  });
  const egress = guard();
  await send(egress, server.url);
  expect(await send(egress, server.url, { timeoutMs: 100 }).catch((error) => error.code)).toBe("timeout");
  expect(await send(egress, server.url)).toBe("200 ok");
  expect(counts()).toEqual([3, 2]);
});

test("few are kept for one receiver, not many for all, and none after the end", async () => {
  const names = Object.fromEntries(Array.from({ length: 400 }, (_none, at) => [`h${at}.example`, ["127.0.0.1"]]));
  const egress = guard(names, { longestIdleMs: 600_000 });
  const server = await answerAll(ok);
  // All at once, so that each has a connection of its own.
  await Promise.all(Array.from({ length: 60 }, () => send(egress, server.url)));
  await waitFor("all but a few to be closed", () => server.open() <= 32);
  expect(server.open()).toBe(32);
  await inParallel(400, 20, async (at) => void (await send(egress, `http://h${at}.example:${server.port}/`)));
  await waitFor("the oldest to be closed", () => server.open() <= 256);
  expect(server.open()).toBe(256);
  egress.close();
  await waitFor("the others to be closed", () => server.open() === 0);
});

test("none is kept for long", async () => {
  const server = await answerAll(ok);
  await send(guard({}, { longestIdleMs: 50 }), server.url);
  await waitFor("the connection to be closed", () => server.open() === 0);
});
