import { expect, test } from "bun:test";
import { findClient } from "../../src/http/forwarded.ts";
import { createAddressRanges } from "../../src/lib/addresses.ts";
import { testGateway } from "../support/test-gateway.ts";

const trusted = createAddressRanges(["10.0.0.0/8", "fd00::/8"]);
const clientOf = (peer: string, forwarded?: string) =>
  findClient(peer, new Headers(forwarded === undefined ? {} : { "x-forwarded-for": forwarded }), trusted);

test.each([
  ["198.51.100.7", undefined, "198.51.100.7"],
  ["198.51.100.7", "203.0.113.1", "198.51.100.7"],
  ["10.0.0.1", undefined, "10.0.0.1"],
  ["10.0.0.1", "203.0.113.1", "203.0.113.1"],
  ["::ffff:10.0.0.1", "203.0.113.1", "203.0.113.1"],
  // The client invented the first; the proxies appended the others.
  ["10.0.0.1", "192.0.2.99, 203.0.113.1, 10.0.0.2", "203.0.113.1"],
  ["10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
  ["10.0.0.1", "203.0.113.1:4711", "203.0.113.1"],
  ["fd00::1", "[2001:db8::7]:4711", "2001:db8::7"],
  ["fd00::1", "2001:db8::7", "2001:db8::7"],
  ["10.0.0.1", "192.0.2.99, unknown", "10.0.0.1"],
  ["10.0.0.1", "192.0.2.99, ", "10.0.0.1"],
  ["10.0.0.1", "not an address", "10.0.0.1"],
] as const)("a connection from %s with X-Forwarded-For %p is of client %s", (peer, forwarded, client) => {
  expect(clientOf(peer, forwarded)).toBe(client);
});

const forwarded = {
  "x-forwarded-for": "203.0.113.9",
  "x-forwarded-proto": "https",
  "x-forwarded-host": "gateway.example:8443",
};

/** The address of an audio file, which is a result of the sandbox, and the client's address in the log. */
async function speak(env: Record<string, string>, headers: Record<string, string>) {
  await using gateway = await testGateway({ env });
  const key = await gateway.createKey();
  const response = await fetch(`${gateway.url}/v3/universal-ai`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "audio/tts/sandbox", input: { text: "hello" } }),
  });
  const body = (await response.json()) as { output: { audio_resource_url: string } };
  const line = gateway
    .log()
    .split("\n")
    .filter((text) => text.includes('"/v3/universal-ai"'))
    .map((text) => JSON.parse(text))
    .at(-1);
  return { origin: new URL(body.output.audio_resource_url).origin, client: line.client, url: gateway.url };
}

test("the headers of a trusted proxy decide the addresses of results and the client in the log", async () => {
  const { origin, client } = await speak({ SWITCHYARD_TRUSTED_PROXIES: "127.0.0.0/8" }, forwarded);
  expect({ origin, client }).toEqual({ origin: "https://gateway.example:8443", client: "203.0.113.9" });
});

test("without a trusted proxy the headers are ignored", async () => {
  const { origin, client, url } = await speak({ SWITCHYARD_TRUSTED_PROXIES: "192.0.2.0/24" }, forwarded);
  expect({ origin, client }).toEqual({ origin: url, client: "127.0.0.1" });
});

test("a host that is not one is ignored, whoever sends it", async () => {
  const strange = { ...forwarded, "x-forwarded-host": "evil.example/path" };
  const { origin, url } = await speak({ SWITCHYARD_TRUSTED_PROXIES: "127.0.0.0/8" }, strange);
  expect(origin).toBe(url.replace("http:", "https:"));
});
