// GET /docs: the documentation site over HTTP.

import { expect, test } from "bun:test";
import { acceptsEncoding } from "../../src/http/accept-encoding.ts";
import { docsRoutes } from "../../src/http/endpoints/docs.ts";
import { listAllRoutes } from "../support/all-routes.ts";
import { openTestServer } from "../support/test-server.ts";

const routes = listAllRoutes();
const get = openTestServer(docsRoutes(() => routes));

const pages = [
  "/docs",
  "/docs/routing",
  "/docs/api",
  "/docs/api/chat",
  "/docs/decisions/0001-runtime-and-dependencies",
];

test.each(
  pages,
)("%s is HTML under a policy that allows this gateway only, and no script inside a page", async (path) => {
  const response = await get(path);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(await response.text()).toStartWith("<!doctype html>");
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policy).not.toMatch(/unsafe|http|data:/);
  expect(policy).toContain("frame-ancestors 'none'");
  expect(response.headers.get("referrer-policy")).toBe("no-referrer");
});

test("files that pages load have their types", async () => {
  const types = {
    "site.css": "text/css; charset=utf-8",
    "site.js": "text/javascript; charset=utf-8",
    "theme.js": "text/javascript; charset=utf-8",
    "search.json": "application/json",
    "icon.svg": "image/svg+xml",
  };
  for (const [name, type] of Object.entries(types)) {
    const response = await get(`/docs/assets/${name}`);
    expect([name, response.status, response.headers.get("content-type")]).toEqual([name, 200, type]);
    expect((await response.text()).length).toBeGreaterThan(100);
  }
});

test("a page that the client has is answered with 304, and the policy", async () => {
  const tag = (await get("/docs/routing")).headers.get("etag") ?? "";
  expect(tag).toMatch(/^"[\w-]+"$/);
  const again = await get("/docs/routing", { "if-none-match": tag });
  expect(again.status).toBe(304);
  expect(again.headers.get("content-security-policy")).not.toBeNull();
});

test("a page is sent compressed to clients that accept gzip, and as it is to others", async () => {
  const read = async (acceptEncoding: string, headers: Record<string, string> = {}) => {
    const url = (await get("/docs/routing")).url;
    const response = await fetch(url, {
      headers: { "accept-encoding": acceptEncoding, ...headers },
      decompress: false,
    } as RequestInit);
    const { status } = response;
    const [encoding, tag] = [response.headers.get("content-encoding"), response.headers.get("etag") ?? ""];
    expect(response.headers.get("vary")).toBe("accept-encoding");
    return { status, encoding, tag, bytes: new Uint8Array(await response.arrayBuffer()) };
  };
  const compressed = await read("br, gzip;q=0.8");
  const plain = await read("identity");
  expect([compressed.encoding, plain.encoding]).toEqual(["gzip", null]);
  expect(Bun.gunzipSync(compressed.bytes)).toEqual(plain.bytes);
  expect(compressed.bytes.length).toBeLessThan(plain.bytes.length / 3);
  // A cache must not take one form for the other.
  expect(compressed.tag).not.toBe(plain.tag);
  expect((await read("gzip", { "if-none-match": compressed.tag })).status).toBe(304);
  expect((await read("identity", { "if-none-match": plain.tag })).status).toBe(304);
  expect((await read("identity", { "if-none-match": compressed.tag })).status).toBe(200);
});

test("the header of accepted codings is read as RFC 9110 defines it", () => {
  for (const header of ["gzip", "GZIP", "br, gzip ; q=0.5", "*", "*;q=0, gzip"])
    expect([header, acceptsEncoding(header, "gzip")]).toEqual([header, true]);
  for (const header of [null, "", "br", "identity", "gzip;q=0", "gzip; q=0.000, *", "*;q=0", "x-gzip-like"])
    expect([header, acceptsEncoding(header, "gzip")]).toEqual([header, false]);
});

test("an unknown page is a page for browsers, and an error in both forms for programs", async () => {
  const page = await get("/docs/nowhere", { accept: "text/html,*/*" });
  expect(page.status).toBe(404);
  expect(await page.text()).toContain("There is no such page");
  for (const path of ["/docs/nowhere", "/docs/../package.json", "/docs/%2e%2e/package.json", "/docs/routing.md"]) {
    const response = await get(path);
    expect([path, response.status]).toEqual([path, 404]);
    expect(await response.json()).toMatchObject({ error: { code: "not_found" }, detail: expect.any(String) });
  }
});

test("a slash at the end leads to the first page", async () => {
  const response = await get("/docs/");
  expect(response.redirected).toBe(true);
  expect(new URL(response.url).pathname).toBe("/docs");
});
