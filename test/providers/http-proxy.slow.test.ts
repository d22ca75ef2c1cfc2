// Calls to providers through HTTPS_PROXY: a tunnel for TLS, direct connections to this machine and to the hosts of NO_PROXY.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { createProxyExemption, readProxy } from "../../src/lib/outgoing-proxy.ts";
import { createTicker } from "../../src/lib/ticker.ts";
import { type Exchange, HttpClient, HttpError, type Origin } from "../../src/providers/http-client.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { createListeners } from "../support/listeners.ts";
import { type RawTlsReceiver, startRawTlsReceiver, toAnswer } from "../support/raw-tls-receiver.ts";
import { receiversCertificate } from "../support/tls-receiver.ts";
import { startTunnelProxy, type TunnelProxy } from "../support/tunnel-proxy.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const ticker = createTicker(20);
const { listen, closers, closeAll } = createListeners();
afterEach(closeAll);
afterAll(() => ticker.close());

const password = "p@ss-word-of-the-proxy";
const credentials = Buffer.from(`switchyard:${password}`).toString("base64");
const completion = JSON.stringify({ id: "c", object: "chat.completion", created: 1, model: "m", choices: [] });
const chunk = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"${"x".repeat(1_000)}"},"finish_reason":null}]}\n\n`;
const last = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
const streamHead = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

describe("a gateway with HTTPS_PROXY", () => {
  let [gateway, vendor, proxy, provider, key]: [GatewayProcess, Vendor, TunnelProxy, RawTlsReceiver, string] =
    [] as never;
  let sentBytes = 0;
  let openStreams = 0;

  /** Writes events until the other side closes the connection, as fast as the connection takes them. */
  function writeForever(socket: Socket): void {
    openStreams += 1;
    socket.on("close", () => {
      openStreams -= 1;
    });
    const write = () => {
      while (!socket.destroyed && socket.write(chunk)) sentBytes += chunk.length;
    };
    socket.on("drain", write);
    socket.write(streamHead);
    write();
  }

  beforeAll(async () => {
    vendor = await startVendor();
    provider = await startRawTlsReceiver({
      address: "0.0.0.0",
      answer({ body }, socket) {
        const { stream, model } = JSON.parse(body.toString());
        if (model === "endless") writeForever(socket);
        else if (stream) socket.end(`${streamHead}${chunk.repeat(200)}${last}`);
        else socket.write(toAnswer(200, completion, { "content-type": "application/json" }));
      },
    });
    proxy = await startTunnelProxy({ toHost: () => "127.0.0.1", authorization: `Basic ${credentials}` });
    const at = (host: string) => ({ base_url: `https://${host}:${provider.port}/v1` });
    gateway = await startGatewayProcess({
      vendor,
      config: { providers: { remote: at("hooks.example.com"), local: at("127.0.0.2"), exempt: at("0.0.0.0") } },
      env: {
        HTTPS_PROXY: proxy.url.replace("http://", `http://switchyard:${encodeURIComponent(password)}@`),
        NO_PROXY: "other.example, 0.0.0.0",
        NODE_EXTRA_CA_CERTS: receiversCertificate,
      },
    });
    key = await gateway.createKey({ name: "proxy" });
  });
  afterAll(async () => {
    await gateway.stop();
    await vendor.stop();
    provider.stop();
    proxy.stop();
  });

  function call(model: string, stream = false, signal?: AbortSignal): Promise<Response> {
    return fetch(`${gateway.url}/v3/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "hi" }] }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  test("calls a provider through a tunnel and uses the connection again", async () => {
    const before = proxy.count();
    for (let request = 0; request < 3; request++) {
      const response = await call("remote/m");
      expect([response.status, ((await response.json()) as { id: string }).id]).toEqual([200, "c"]);
    }
    const target = `hooks.example.com:${provider.port}`;
    expect(proxy.heads.slice(before)).toEqual([
      `CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\nproxy-authorization: Basic ${credentials}\r\n\r\n`,
    ]);
    expect(provider.requests.at(-1)?.head).toContain(`host: ${target}`);
    expect(provider.requests.at(-1)?.head).not.toContain(credentials);
  });

  test("streams through a tunnel", async () => {
    const text = await (await call("remote/m", true)).text();
    expect(text.split("\n\n").filter((event) => event.includes('"content":"xxx')).length).toBe(200);
    expect(text).toContain("data: [DONE]");
  });

  test("holds a provider back while the caller does not read, and closes the tunnel when the caller leaves", async () => {
    const caller = new AbortController();
    const response = await call("remote/endless", true, caller.signal);
    const reader = response.body?.getReader();
    await reader?.read();
    let before = -1;
    // The buffers of all connections on the way are full when nothing more is sent for a while.
    await waitFor(
      "the provider to be held back",
      () => {
        const isHeld = sentBytes === before;
        before = sentBytes;
        return isHeld;
      },
      { everyMs: 500 },
    );
    expect(openStreams).toBe(1);
    caller.abort();
    await waitFor("the tunnel to be closed", () => openStreams === 0);
    // Used until here: a reader that is garbage collected cancels its stream.
    await reader?.cancel().catch(() => {});
  });

  test("calls this machine, the hosts of NO_PROXY and plain http without the proxy", async () => {
    const before = proxy.count();
    expect((await call("local/m")).status).toBe(200);
    // The certificate is not for this address: the attempt ends after the connection.
    expect(await (await call("exempt/m")).text()).toContain("could not be reached (ERR_TLS_CERT_ALTNAME_INVALID)");
    expect((await call("mock/echo")).status).toBe(200);
    expect(proxy.count()).toBe(before);
  });

  test("reports a proxy that refuses the tunnel, and shows its password in no error and no log", async () => {
    const strict = await startTunnelProxy({ authorization: "Basic of-another-user" });
    closers.push(strict.stop);
    const proxyUrl = strict.url.replace("http://", `http://switchyard:${encodeURIComponent(password)}@`);
    const refused = await startGatewayProcess({
      vendor,
      config: { providers: { remote: { base_url: "https://hooks.example.com/v1" } }, retries: 0 },
      env: { HTTPS_PROXY: proxyUrl, SWITCHYARD_LOG_LEVEL: "debug" },
    });
    closers.push(() => void refused.stop());
    const response = await fetch(`${refused.url}/v3/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${await refused.createKey()}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "remote/m", messages: [{ role: "user", content: "hi" }] }),
    });
    const text = await response.text();
    expect([response.status, JSON.parse(text).error.code]).toEqual([502, "provider_unreachable"]);
    expect(text).toContain("could not be reached (PROXY_407)");
    await refused.stop();
    for (const log of [text, gateway.log(), refused.log()])
      for (const secret of [password, encodeURIComponent(password), credentials]) expect(log).not.toContain(secret);
  });
});

const head = "POST /x HTTP/1.1\r\nhost: test\r\n";

function clientWith(proxyUrl: string, isExempt = () => false): HttpClient {
  const client = new HttpClient(ticker, { proxy: readProxy(proxyUrl), isExempt });
  closers.push(() => client.close());
  return client;
}

async function failureOf(exchange: Exchange): Promise<string> {
  const error = await exchange.open().catch((error: unknown) => error);
  expect(exchange.wasSent).toBe(false);
  return error instanceof HttpError ? error.code : String(error);
}

const remote: Origin = { hostname: "hooks.example.com", port: 443, isTls: true };

const refusals: Readonly<Record<string, readonly [string, (socket: Socket) => void]>> = {
  "that asks for a password": ["PROXY_407", (socket) => socket.end("HTTP/1.1 407 Authenticate\r\n\r\n")],
  "that refuses": ["PROXY_403", (socket) => socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno")],
  "that cannot connect": ["PROXY_502", (socket) => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n")],
  "that does not speak HTTP": ["PROXY_BAD_RESPONSE", (socket) => socket.end("220 mail.example ESMTP\r\n\r\n")],
  "that sends bytes after its head": ["PROXY_BAD_RESPONSE", (socket) => socket.write("HTTP/1.1 200 OK\r\n\r\nmore")],
  "that never ends its head": [
    "PROXY_BAD_RESPONSE",
    (socket) => socket.write(`HTTP/1.1 200 OK\r\na: ${"x".repeat(20_000)}`),
  ],
  "that hangs up": ["PROXY_ECONNRESET", (socket) => socket.end()],
};
describe("a proxy", () => {
  for (const [name, [code, act]] of Object.entries(refusals))
    test(`${name} fails the call before anything is sent, and is disconnected`, async () => {
      const proxy = await listen((socket) => socket.once("data", () => act(socket)));
      const exchange = clientWith(proxy.url).send(remote, head, "{}");
      expect(await failureOf(exchange)).toBe(code);
      await waitFor("the connection to be closed", () => proxy.open() === 0);
    });

  test("that is not there fails the call", async () => {
    const proxy = await listen(() => {});
    closeAll();
    expect(await failureOf(clientWith(proxy.url).send(remote, head, "{}"))).toBe("PROXY_ECONNREFUSED");
  });

  test("that is silent is disconnected when the call is given up", async () => {
    const asked = Promise.withResolvers<void>();
    const proxy = await listen((socket) => void socket.once("data", () => asked.resolve()));
    const exchange = clientWith(proxy.url).send(remote, head, "{}");
    await asked.promise;
    exchange.abort();
    expect(await failureOf(exchange)).toBe("ABORTED");
    await waitFor("the connection to be closed", () => proxy.open() === 0);
  });

  test("does not change which certificates are trusted", async () => {
    const strange = await startRawTlsReceiver({
      address: "127.0.0.1",
      answer: (_request, socket) => socket.write(toAnswer(200, "secret")),
      isStrange: true,
    });
    const proxy = await startTunnelProxy();
    closers.push(strange.stop, proxy.stop);
    const origin = { hostname: "localhost", port: strange.port, isTls: true };
    expect(await failureOf(clientWith(proxy.url).send(origin, head, "{}"))).toMatch(/CERT|VERIFY/);
    expect([proxy.count(), strange.requests.length]).toEqual([1, 0]);
    await waitFor("the tunnel to be closed", () => proxy.open() === 0);
  });

  test("is not used for plain http", async () => {
    const server = await listen((socket) => void socket.on("data", () => socket.end(toAnswer(200, "ok"))));
    const proxy = await listen(() => {});
    const exchange = clientWith(proxy.url).send({ hostname: "127.0.0.1", port: server.port, isTls: false }, head, "{}");
    await exchange.open();
    expect([exchange.status, proxy.count()]).toEqual([200, 0]);
  });
});

test("a server that never completes the TLS handshake is disconnected when the call is given up", async () => {
  const greeted = Promise.withResolvers<void>();
  const server = await listen((socket) => void socket.once("data", () => greeted.resolve()));
  const client = new HttpClient(ticker);
  closers.push(() => client.close());
  const exchange = client.send({ hostname: "127.0.0.1", port: server.port, isTls: true }, head, "{}");
  await greeted.promise;
  exchange.abort();
  expect(await failureOf(exchange)).toBe("ABORTED");
  await waitFor("the connection to be closed", () => server.open() === 0);
});

describe("NO_PROXY", () => {
  const cases: readonly (readonly [string, string, number, boolean])[] = [
    ["", "api.example.com", 443, false],
    ["", "localhost", 443, true],
    ["", "a.localhost.", 443, true],
    ["", "127.3.2.1", 443, true],
    ["", "::1", 443, true],
    ["", "10.0.0.1", 443, false],
    ["*", "api.example.com", 443, true],
    ["example.com", "example.com", 443, true],
    ["example.com", "API.Example.com", 443, true],
    ["example.com", "notexample.com", 443, false],
    [".example.com", "api.example.com", 443, true],
    ["*.example.com", "api.example.com", 443, true],
    ["other.org , example.com", "example.com", 443, true],
    ["example.com:8443", "example.com", 8443, true],
    ["example.com:8443", "example.com", 443, false],
    ["10.0.0.0/8", "10.1.2.3", 443, true],
    ["10.0.0.0/8", "11.1.2.3", 443, false],
    ["10.1.2.3", "10.1.2.3", 443, true],
    ["10.1.2.3:8443", "10.1.2.3", 443, false],
    ["2.3", "10.1.2.3", 443, false],
    ["fd00::/8", "fd00::2", 443, true],
    ["[fd00::2]:443", "fd00::2", 443, true],
  ];
  for (const [list, host, port, isExempt] of cases)
    test(`'${list}' ${isExempt ? "exempts" : "does not exempt"} ${host} on port ${port}`, () => {
      expect(createProxyExemption(list.split(","))(host, port)).toBe(isExempt);
    });
});
