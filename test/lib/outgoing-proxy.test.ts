// Which hosts are reached without the proxy, and the exchange that opens a tunnel through it.

import { describe, expect, test } from "bun:test";
import {
  createProxyExemption,
  ProxyError,
  readProxy,
  secretsOfProxy,
  TunnelRequest,
} from "../../src/lib/outgoing-proxy.ts";
import { thrownBy } from "../support/thrown.ts";

describe("NO_PROXY", () => {
  test.each([
    // [entry, hosts without the proxy, hosts through the proxy]
    ["", ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "::1"], ["example.com", "10.0.0.1", "128.0.0.1"]],
    ["*", ["example.com", "10.0.0.1"], []],
    ["example.com", ["example.com", "EXAMPLE.com.", "a.example.com"], ["badexample.com", "example.com.evil.org"]],
    [" .Example.com ", ["example.com", "a.b.example.com"], ["example.org"]],
    ["*.example.com", ["example.com", "a.example.com"], ["badexample.com"]],
    ["10.0.0.1", ["10.0.0.1"], ["10.0.0.2", "1.10.0.0.1"]],
    ["0.0.1", [], ["10.0.0.1"]],
    ["10.0.0.0/8", ["10.0.0.1", "10.255.0.1"], ["11.0.0.1", "example.com"]],
    ["fd00::/8", ["fd12::1"], ["fe80::1"]],
    ["[fd00::1]:443", ["fd00::1"], ["fd00::2"]],
    ["example.com:443", ["example.com", "a.example.com"], []],
    ["example.com:8443", [], ["example.com", "a.example.com"]],
    ["10.0.0.1:8443", [], ["10.0.0.1"]],
  ] as const)("%p decides by name or address", (entry, direct, proxied) => {
    const isExempt = createProxyExemption([entry, "other.example"]);
    expect(direct.filter((host) => !isExempt(host, 443))).toEqual([]);
    expect(proxied.filter((host) => isExempt(host, 443))).toEqual([]);
    expect(isExempt("other.example", 443)).toBe(true);
  });
});

test.each([
  "http://proxy.example?a=1",
  "http://proxy.example#a",
  "http://proxy.example/path",
])("%p is not the address of a proxy", (text) => {
  expect(() => readProxy(text)).toThrow("should be an address such as");
});

test("a proxy may have a user without a password, or a password alone", () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
  expect(readProxy("http://user@proxy.example").authorization).toBe(basic("user:"));
  expect(readProxy("http://:word@proxy.example").authorization).toBe(basic(":word"));
});

test("the password of a proxy is secret in each of its forms", () => {
  expect(secretsOfProxy("http://user:p%40ss@proxy.example")).toEqual([
    "p%40ss",
    "p@ss",
    Buffer.from("user:p@ss").toString("base64"),
  ]);
  for (const text of ["http://user@proxy.example", "http://proxy.example", "not an address"])
    expect([text, secretsOfProxy(text)]).toEqual([text, []]);
});

describe("a tunnel", () => {
  const request = (authorization: string | null, host = "api.example") =>
    new TunnelRequest({ host: "proxy.example", port: 3128, authorization }, host, 443);
  const open = (...pieces: readonly string[]) => {
    const tunnel = request(null);
    return pieces.map((piece) => tunnel.isOpenedBy(Buffer.from(piece)));
  };

  test("is asked for with the credentials of the proxy", () => {
    expect(request(null).message).toBe("CONNECT api.example:443 HTTP/1.1\r\nhost: api.example:443\r\n\r\n");
    expect(request("Basic eA==").message).toBe(
      "CONNECT api.example:443 HTTP/1.1\r\nhost: api.example:443\r\nproxy-authorization: Basic eA==\r\n\r\n",
    );
    expect(request(null, "fd00::1").message).toStartWith("CONNECT [fd00::1]:443 HTTP/1.1\r\nhost: [fd00::1]:443\r\n");
  });

  test("is open after the head of a successful answer", () => {
    expect(open("HTTP/1.1 200 Connection established\r\n", "\r\n")).toEqual([false, true]);
    expect(open("HTTP/1.1 299 Fine\r\n\r\n")).toEqual([true]);
  });

  test.each([
    ["HTTP/1.1 300 Choices\r\n\r\n", "PROXY_300"],
    ["HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "PROXY_407"],
    ["HTTP/1.1 200 OK\r\n\r\nx", "PROXY_BAD_RESPONSE"],
    ["nonsense\r\n\r\n", "PROXY_BAD_RESPONSE"],
    [`HTTP/1.1 200 OK\r\na: ${"b".repeat(16_384)}`, "PROXY_BAD_RESPONSE"],
  ])("is not open after %#", (answer, code) => {
    expect(thrownBy(() => open(answer), ProxyError).code).toBe(code);
  });
});
