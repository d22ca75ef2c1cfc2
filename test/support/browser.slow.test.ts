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

test("a test finds nothing of the one before it", async () => {
  const url = `http://127.0.0.1:${server.port}/good`;
  const stored = `new Promise((resolve, reject) => {
    const request = indexedDB.open("left");
    let isNew = false;
    request.onupgradeneeded = () => { isNew = true; };
    request.onerror = reject;
    request.onsuccess = () => { request.result.close(); resolve([isNew, localStorage.length, sessionStorage.length, document.cookie]); };
  })`;
  for (let run = 0; run < 2; run += 1) {
    await using opened = await browser.openPage(url, run === 0 ? { width: 390, theme: "dark" } : {});
    const { page, problems } = opened;
    expect(await page.evaluate(stored)).toEqual([true, 0, 0, ""]);
    expect(await page.evaluate("[innerWidth, navigator.maxTouchPoints > 0]")).toEqual(
      run === 0 ? [390, true] : [1_440, false],
    );
    await page.evaluate(`localStorage.a = sessionStorage.a = "b"; document.cookie = "a=b"; void window.open("/good")`);
    expect(problems).toEqual([]);
    await page.evaluate("void fetch('/missing.png')");
  }
});
