// The documentation site in a real browser: search, menu, themes, copying, trying an operation, and accessibility.

import { expect, test } from "bun:test";
import { sharedBrowser } from "../support/browser.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { pageOfEachKind } from "./page-kinds.ts";

const gateway = await sharedGateway();
const browser = await sharedBrowser();
const key = await gateway.createKey();
const docs = `${gateway.url}/docs`;

const phone = { width: 390, theme: "dark" } as const;
const desktop = { width: 1_440, theme: "light" } as const;

test.each(
  pageOfEachKind,
)("/docs%s has no serious finding of axe, nothing wider than the screen, and no error", async (path) => {
  await using opened = await browser.openPage(`${docs}${path}`, phone);
  // The page of all objects is by far the longest, and has nothing that the other pages of the reference do not have.
  const looks = path !== "/api/objects" ? [phone, desktop] : [phone];
  for (const look of looks) {
    await opened.setAppearance(look);
    await opened.checkAccessibility();
    expect(
      await opened.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
    ).toBe(0);
  }
  expect(opened.problems).toEqual([]);
});

test("the search works by keyboard, and marks what it found", async () => {
  await using opened = await browser.openPage(docs);
  const { page } = opened;
  await page.keyboard.press("/");
  await page.keyboard.type("circuit breaker");
  const first = page.locator("#search-results a").first();
  await first.waitFor();
  expect(await first.getAttribute("aria-selected")).toBe("true");
  expect(await page.locator("#search-results mark").count()).toBeGreaterThan(0);
  await opened.checkAccessibility();
  await page.keyboard.press("ArrowDown");
  expect(await first.getAttribute("aria-selected")).toBe("false");
  await page.keyboard.press("ArrowUp");
  const target = new URL((await first.getAttribute("href")) ?? "", page.url()).href;
  await page.keyboard.press("Enter");
  await page.waitForURL(target);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("xyzzyplugh");
  await page.getByText("Nothing found for").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
});

test("operations and settings are found by their names", async () => {
  await using opened = await browser.openPage(`${docs}/routing`);
  const { page } = opened;
  for (const [query, target] of [
    ["SWITCHYARD_PORT", "/docs/settings"],
    ["create a key", "/docs/api/keys#createKey"],
    ["insufficient_scope", "/docs/api/errors#insufficient_scope"],
  ] as const) {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill(query);
    await page
      .locator(`#search-results a[href*="${target.replace("/docs/", "")}"]`)
      .first()
      .waitFor();
    await page.keyboard.press("Escape");
  }
});

test("a code block is copied as it is", async () => {
  await using opened = await browser.openPage(`${docs}/start`);
  const { page } = opened;
  await page.locator("figure.code .copy").first().click();
  await page.getByText("Copied").first().waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe("npm ci && npm start");
});

test("the choice of dark or light outlasts the page", async () => {
  await using opened = await browser.openPage(docs);
  const { page } = opened;
  const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
  expect(await background()).toBe("rgb(255, 255, 255)");
  await page.getByRole("button", { name: "light and dark" }).click();
  const dark = await background();
  expect(dark).not.toBe("rgb(255, 255, 255)");
  await page.goto(`${docs}/routing`);
  expect(await background()).toBe(dark);
});

test("on a phone the menu opens, leads to a page, and is closed there", async () => {
  await using opened = await browser.openPage(docs, { width: 390 });
  const { page } = opened;
  const menu = page.locator("#site-menu");
  expect(await menu.isVisible()).toBe(false);
  await page.getByRole("button", { name: "Menu" }).click();
  expect(await menu.isVisible()).toBe(true);
  await opened.checkAccessibility();
  await menu.getByRole("link", { name: "Routing" }).click();
  await page.waitForURL(`${docs}/routing`);
  expect(await menu.isVisible()).toBe(false);
});

test("an operation is tried with a key that is kept in the page only", async () => {
  await using opened = await browser.openPage(`${docs}/api/chat`);
  const { page, problems } = opened;
  const operation = page.locator("#createChatCompletion");
  await operation.getByText("Try it").click();
  const sent = page.waitForRequest((request) => request.url().endsWith("/v3/chat/completions"));
  await operation.getByLabel("Inference key").fill(key);
  await operation.getByRole("button", { name: "Send" }).click();
  await operation.locator(".result .ok").waitFor();
  await operation.locator(".result pre").getByText("You said: Hello").waitFor();
  expect((await sent).headers()["authorization"]).toBe(`Bearer ${key}`);
  expect(
    await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])"),
  ).not.toContain(key);
  await opened.checkAccessibility();
  expect(problems).toEqual([]);
});

test("a stream is shown while it arrives, and can be stopped", async () => {
  await using opened = await browser.openPage(`${docs}/api/chat`);
  const { page } = opened;
  const operation = page.locator("#createChatCompletion");
  await operation.getByText("Try it").click();
  await operation.getByLabel("Inference key").fill(key);
  const body = {
    model: "sandbox/slow-200",
    stream: true,
    messages: [{ role: "user", content: "one two three ".repeat(99) }],
  };
  await operation.getByLabel("Body", { exact: false }).and(page.locator("textarea")).fill(JSON.stringify(body));
  await operation.getByRole("button", { name: "Send" }).click();
  await operation.locator(".result pre").getByText("data:").first().waitFor();
  await operation.getByRole("button", { name: "Stop" }).click();
  await operation.getByText("Stopped").waitFor();
});

test("a refused request shows its error", async () => {
  await using opened = await browser.openPage(`${docs}/api/keys`);
  const { page } = opened;
  const operation = page.locator("#retrieveKey");
  await operation.getByText("Try it").click();
  await operation.getByLabel("key_id").fill("00000000-0000-4000-8000-000000000000");
  await operation.getByLabel("Management key").fill("mgmt-sy-wrong");
  await operation.getByRole("button", { name: "Send" }).click();
  await operation.locator(".result .failed").waitFor();
  await operation.locator(".result pre").getByText("invalid_api_key").first().waitFor();
});

test("the language of examples is chosen once, by keyboard as well", async () => {
  await using opened = await browser.openPage(`${docs}/api/chat`);
  const { page } = opened;
  const tabs = page.locator("#createChatCompletion [role=tab]");
  expect(await tabs.first().getAttribute("aria-selected")).toBe("true");
  await tabs.first().focus();
  await page.keyboard.press("ArrowRight");
  expect(await page.locator("figure[data-language=TypeScript]").first().isVisible()).toBe(true);
  await page.goto(`${docs}/api/keys`);
  expect(await page.locator("[role=tab][data-language=TypeScript]").first().getAttribute("aria-selected")).toBe("true");
});

test("without scripts the pages can be read, and nothing on them is dead", async () => {
  const page = await (await fetch(`${docs}/api/chat`)).text();
  expect(page).toContain('<details class="try" hidden>');
  expect(page).toContain("data-search hidden");
  expect(page).toContain("data-theme-toggle hidden");
});
