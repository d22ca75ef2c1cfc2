// The page of the dashboard and its files, over HTTP.

import { expect, test } from "bun:test";
import { brotliDecompressSync } from "node:zlib";
import { sharedGateway } from "../support/test-gateway.ts";

const gateway = await sharedGateway();
const maxFirstLoadBytes = 300_000;

async function readPage(path = "/dashboard") {
  const response = await fetch(gateway.url + path, { headers: { accept: "text/html" }, redirect: "manual" });
  const text = await response.text();
  const files = Array.from(text.matchAll(/(?:src|href)="\/dashboard\/assets\/([^"]+)"/g), ([, name = ""]) => name);
  return { response, text, files };
}

function readAsset(name: string, encoding = "br"): Promise<Response> {
  // Bun would unpack the answer itself.
  return fetch(`${gateway.url}/dashboard/assets/${name}`, {
    headers: { "accept-encoding": encoding },
    decompress: false,
  });
}

test("the page allows scripts of its own origin only, and no frames", async () => {
  const { response, text } = await readPage();
  expect(response.status).toBe(200);
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain("unsafe");
  // Pictures and sounds that the playground made or was given; none from another host.
  expect(policy).toContain("img-src 'self' data: blob:;");
  expect(policy).toContain("media-src 'self' data: blob:;");
  expect(policy).toContain("connect-src 'self';");
  expect(response.headers.get("x-frame-options")).toBe("DENY");
  expect(response.headers.get("referrer-policy")).toBe("no-referrer");
  expect(response.headers.get("cache-control")).toBe("no-store");
  // No script and no style in the page itself.
  expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
});

test("each page has a nonce of its own", async () => {
  const nonces = await Promise.all([readPage(), readPage()]).then((pages) =>
    pages.map(({ response }) => /'nonce-([^']+)'/.exec(response.headers.get("content-security-policy") ?? "")?.[1]),
  );
  expect(nonces[0]).not.toBe(nonces[1]);
  expect(nonces[0]?.length).toBeGreaterThan(20);
});

test("every address below /dashboard shows the application", async () => {
  for (const path of ["/dashboard/", "/dashboard/keys", "/dashboard/requests/some-id?from=7d"])
    expect((await readPage(path)).files.length).toBe(3);
});

test("a browser is led from / to the dashboard, and a program gets the answer of an unknown path", async () => {
  const { response } = await readPage("/");
  expect(response.status).toBe(303);
  expect(response.headers.get("location")).toBe("/dashboard");
  const answer = await fetch(gateway.url, { headers: { accept: "application/json" } });
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ error: { code: "not_found" } });
});

test("files are compressed, and browsers keep them for good", async () => {
  const { files } = await readPage();
  for (const name of files.filter((file) => !file.startsWith("color-scheme"))) {
    const asset = await readAsset(name);
    expect(asset.status).toBe(200);
    expect(asset.headers.get("content-encoding")).toBe("br");
    expect(asset.headers.get("cache-control")).toContain("immutable");
    const plain = await readAsset(name, "identity");
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(brotliDecompressSync(await asset.bytes()).equals(await plain.bytes())).toBe(true);
  }
});

test("files that the bundle does not have are not found, also outside of its folder", async () => {
  for (const name of ["main.js", "..%2fmanifest.json", "%2e%2e%2f%2e%2e%2fpackage.json", "manifest.json", "__proto__"])
    expect((await readAsset(name)).status).toBe(404);
});

test("the first load of the overview is below 300 KB", async () => {
  const { files } = await readPage();
  const loaded = new Map<string, number>();
  const texts: string[] = [];
  const queue = [...files];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (loaded.has(name)) continue;
    const text = await (await readAsset(name, "identity")).text();
    loaded.set(name, (await (await readAsset(name)).bytes()).length);
    texts.push(text);
    for (const [, imported = ""] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) queue.push(imported);
  }
  const total = [...loaded.values()].reduce((sum, size) => sum + size, 0);
  // Everything that is loaded before a page is chosen, and the largest page with what it needs.
  const pages = new Set(
    texts.flatMap((text) => Array.from(text.matchAll(/import\("\.\/([^"]+)"\)/g), ([, name = ""]) => name)),
  );
  expect(pages.size).toBeGreaterThan(5);
  expect(total).toBeLessThan(maxFirstLoadBytes - 40_000);
});
