// The browser of the tests finds what it is meant to find.

import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sharedBrowser } from "./browser.ts";

const pages: Readonly<Record<string, string>> = {
  "/good": "<main><h1>Hello</h1></main>",
  "/bad": '<main><h1>Hello</h1><img src="/missing.png"></main>',
};
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch({ url }) {
    const page = pages[new URL(url).pathname];
    if (page === undefined) return new Response(null, { status: 404 });
    const headers = { "content-type": "text/html", "content-security-policy": "default-src 'self'" };
    return new Response(`<!doctype html><html lang="en"><title>Page</title>${page}`, { headers });
  },
});
const browser = await sharedBrowser();
const folder = mkdtempSync(join(tmpdir(), "switchyard-browser-"));

afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true });
});

test("a page without findings passes, also under a strict policy, and can be pictured", async () => {
  await using opened = await browser.openPage(`http://127.0.0.1:${server.port}/good`, { width: 390, theme: "dark" });
  expect(await opened.page.textContent("h1")).toBe("Hello");
  expect(await opened.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")).toBe(true);
  await opened.checkAccessibility();
  await opened.screenshot(join(folder, "good.png"));
  expect(existsSync(join(folder, "good.png"))).toBe(true);
  expect(opened.problems).toEqual([]);
});

test("an image without a text is a finding, and a file that is missing a problem", async () => {
  await using opened = await browser.openPage(`http://127.0.0.1:${server.port}/bad`);
  await expect(opened.checkAccessibility()).rejects.toThrow("image-alt (critical)");
  expect(opened.problems.join()).toContain("404");
});
