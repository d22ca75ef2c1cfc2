// Long documents that are kept are sent compressed to clients that accept it.

import { expect, test } from "bun:test";
import { sharedGateway } from "../support/test-gateway.ts";

const gateway = await sharedGateway();

async function get(path: string, headers: Record<string, string>) {
  const response = await fetch(`${gateway.url}${path}`, { headers, decompress: false });
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
}

test.each([
  "/v3/info?include=unconfigured",
  "/v3/models?include=unconfigured",
  "/v3/openapi.json",
])("%s is a fraction of its size with gzip, and the same document", async (path) => {
  const plain = await get(path, { "accept-encoding": "identity" });
  const packed = await get(path, { "accept-encoding": "br;q=0.9, gzip" });
  expect(plain.response.headers.get("content-encoding")).toBeNull();
  expect(packed.response.headers.get("content-encoding")).toBe("gzip");
  expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 5);
  expect(Bun.gunzipSync(packed.bytes)).toEqual(plain.bytes);
  for (const { response } of [plain, packed]) expect(response.headers.get("vary")).toContain("accept-encoding");
});

test("a stored copy of either form is still valid for both", async () => {
  const path = "/v3/info?include=unconfigured";
  for (const encoding of ["identity", "gzip"]) {
    const { response } = await get(path, { "accept-encoding": encoding });
    const tag = response.headers.get("etag") ?? "";
    for (const other of ["identity", "gzip"]) {
      const again = await get(path, { "accept-encoding": other, "if-none-match": tag });
      expect([again.response.status, again.bytes.length]).toEqual([304, 0]);
    }
  }
});

test.each(["gzip;q=0", "identity", ""])("a client that accepts '%s' gets the plain document", async (encoding) => {
  const { response, bytes } = await get("/v3/info?include=unconfigured", { "accept-encoding": encoding });
  expect(response.headers.get("content-encoding")).toBeNull();
  expect(bytes[0]).toBe("{".charCodeAt(0));
});
