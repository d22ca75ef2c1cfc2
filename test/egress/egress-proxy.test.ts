// An outgoing proxy: it is told checked addresses and carries bytes, and learns no name that it could look up once more.

import { afterEach, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { createEgress, type Egress, type EgressRequest } from "../../src/egress/egress.ts";
import { EgressError } from "../../src/egress/egress-error.ts";
import { readProxy } from "../../src/lib/outgoing-proxy.ts";
import { createLog } from "../../src/log.ts";
import { runEgressChild } from "../support/egress-child.ts";
import { createListeners } from "../support/listeners.ts";
import { startRawTlsReceiver, toAnswer } from "../support/raw-tls-receiver.ts";
import { receiversCertificate } from "../support/tls-receiver.ts";
import { startTunnelProxy, type TunnelProxy } from "../support/tunnel-proxy.ts";
import { waitFor, within } from "../support/wait.ts";

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const written: string[] = [];
const log = createLog({ level: "debug", format: "json", secrets: [], write: (lines) => void written.push(lines) });
const { listen, answerWith, closers, closeAll } = createListeners();
afterEach(closeAll);

const password = "p@ss-word-of-the-proxy";
async function startProxy(): Promise<TunnelProxy> {
  const proxy = await startTunnelProxy();
  closers.push(proxy.stop);
  return proxy;
}

const request: EgressRequest = {
  maxBytes: 1_000,
  timeoutMs: 60_000,
  connectTimeoutMs: 60_000,
  protocols: ["https:", "http:"],
};

function guard(
  proxy: string,
  names: Readonly<Record<string, readonly string[]>> = {},
  allow = ["127.0.0.2/32"],
): Egress {
  return createEgress({ allow, log, proxy, lookup: async (name) => names[name] ?? [] });
}

function withPassword(url: string): string {
  return url.replace("http://", `http://switchyard:${encodeURIComponent(password)}@`);
}

async function codeOf(answer: Promise<unknown>): Promise<string> {
  const error = await within(60_000, "a failure", answer).catch((error: unknown) => error);
  if (!(error instanceof EgressError)) throw new Error(`no failure of ours: ${error}`);
  return error.code;
}

test("gets the address that was checked, and the server the name", async () => {
  const asked: string[] = [];
  const server = await listen((socket) => {
    socket.once("data", (bytes: Buffer) => {
      asked.push(bytes.toString());
      socket.end(ok);
    });
  }, "127.0.0.2");
  const proxy = await startProxy();
  const egress = guard(withPassword(proxy.url), { "files.example": ["127.0.0.2"] });
  expect((await egress.fetch(`http://files.example:${server.port}/a`, request)).body.toString()).toBe("ok");
  const credentials = Buffer.from(`switchyard:${password}`).toString("base64");
  const target = `127.0.0.2:${server.port}`;
  expect(proxy.heads).toEqual([
    `CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\nproxy-authorization: Basic ${credentials}\r\n\r\n`,
  ]);
  expect(asked[0]).toStartWith(`GET /a HTTP/1.1\r\n`);
  expect(asked[0]).toContain(`host: files.example:${server.port}\r\n`);
  expect(asked[0]).not.toContain(credentials);
  await waitFor("both connections to be closed", () => proxy.open() === 0 && server.open() === 0);
});

test("is not asked for what is refused", async () => {
  const proxy = await startProxy();
  const egress = guard(proxy.url, { "inside.example": ["10.0.0.1"], "mixed.example": ["127.0.0.2", "127.0.0.1"] });
  for (const host of ["127.0.0.1", "inside.example", "mixed.example", "[::1]"])
    expect(await codeOf(egress.fetch(`http://${host}:${proxy.port}/`, request))).toBe("url_not_allowed");
  expect(proxy.count()).toBe(0);
});

test("carries TLS from end to end: a certificate for another name, or without a trusted issuer, is refused behind it as well", async () => {
  const receiver = await startRawTlsReceiver({
    address: "127.0.0.2",
    answer: (_request, socket) => socket.write(toAnswer(200, "over TLS")),
  });
  closers.push(receiver.stop);
  const proxy = await startProxy();
  const names = { "hooks.example.com": ["127.0.0.2"], "other.example.com": ["127.0.0.2"] };
  const ask = (host: string, times = 1, trusted = receiversCertificate) =>
    runEgressChild(
      { url: `https://${host}:${receiver.port}/`, allow: ["127.0.0.2"], names, proxy: proxy.url, times },
      { NODE_EXTRA_CA_CERTS: trusted },
    );
  expect(await ask("hooks.example.com")).toEqual({ body: "over TLS" });
  expect(await ask("127.0.0.2")).toEqual({ body: "over TLS" });
  expect(await ask("other.example.com")).toEqual({ code: "unreachable", cause: "ERR_TLS_CERT_ALTNAME_INVALID" });
  expect(await ask("hooks.example.com", 1, "")).toMatchObject({ code: "unreachable" });
  expect([receiver.requests.length, proxy.count()]).toEqual([2, 4]);
  // A kept connection leads through the proxy as well.
  expect(await ask("hooks.example.com", 5)).toEqual({ body: "over TLS" });
  expect([receiver.requests.length, proxy.count()]).toEqual([7, 5]);
});

const refusals: Readonly<Record<string, (socket: Socket) => void>> = {
  "that asks for a password": (socket) => socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"),
  "that refuses": (socket) => socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno"),
  "that cannot connect": (socket) => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"),
  "that talks nonsense": (socket) => socket.end("220 mail.example ESMTP\r\n\r\n"),
  "that never ends its head": (socket) => socket.write(`HTTP/1.1 200 OK\r\na: ${"x".repeat(20_000)}`),
  "that says more than it was asked": (socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${ok}`),
  "that hangs up": (socket) => socket.end(),
  "that resets": (socket) => socket.resetAndDestroy(),
};
for (const [name, act] of Object.entries(refusals))
  test(`${name} makes the server unreachable`, async () => {
    const proxy = await listen((socket) => socket.once("data", () => act(socket)));
    const egress = guard(withPassword(proxy.url));
    for (const protocol of ["http", "https"])
      expect(await codeOf(egress.fetch(`${protocol}://127.0.0.2:8080/`, request))).toBe("unreachable");
    await waitFor("the connections to be closed", () => proxy.open() === 0);
  });

test("that is silent ends with the connect clock, and one that is not there at once", async () => {
  const silent = await listen((socket) => void socket.resume());
  const egress = guard(silent.url);
  expect(await codeOf(egress.fetch("http://127.0.0.2:8080/", { ...request, connectTimeoutMs: 100 }))).toBe("timeout");
  await waitFor("the connection to be closed", () => silent.open() === 0);
  closeAll();
  expect(await codeOf(egress.fetch("http://127.0.0.2:8080/", request))).toBe("unreachable");
});

test("has a password that is in no log and in no message", async () => {
  const proxy = await answerWith("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  const egress = guard(withPassword(proxy.url));
  const error = await egress.fetch("http://127.0.0.2:8080/", request).catch((error: unknown) => error);
  log.error("it failed", { error, proxy: withPassword(proxy.url) });
  log.flush();
  const credentials = Buffer.from(`switchyard:${password}`).toString("base64");
  for (const secret of [password, encodeURIComponent(password), credentials]) {
    expect(written.join("")).not.toContain(secret);
    expect(String(error)).not.toContain(secret);
  }
  expect(written.join("")).toContain("it failed");
});

test("is an http address and nothing else", () => {
  expect(readProxy("http://proxy.example:3128")).toEqual({ host: "proxy.example", port: 3128, authorization: null });
  expect(readProxy("http://u:p%40@[::1]")).toEqual({
    host: "::1",
    port: 80,
    authorization: `Basic ${Buffer.from("u:p@").toString("base64")}`,
  });
  for (const text of [
    "",
    "proxy.example:3128",
    "https://u:secret@proxy.example",
    "socks5://proxy.example",
    "http://p/a",
  ])
    expect(() => readProxy(text)).toThrow(/^should be an address such as http:/);
});
