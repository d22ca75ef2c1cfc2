// Filters of lists in a real browser: typing with pauses, filters that are removed elsewhere, and lists that have several pages.

import { expect, test } from "bun:test";
import { sharedBrowser, type TestPage } from "../support/browser.ts";
import { openDashboard, problemsOf, unexpectedProblems, waitForCount } from "../support/dashboard-page.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";
import type { Locator } from "../tools/browser/node_modules/playwright-core";

const gateway = await sharedGateway();
const browser = await sharedBrowser();
const filesPerPage = 100;

async function signIn(path: string): Promise<TestPage> {
  const opened = await openDashboard(browser, gateway, path);
  await opened.page.locator("#content h1").waitFor();
  return opened;
}

function waitForValue(field: Locator, value: string): Promise<unknown> {
  return waitFor(`the text '${value}' in ${field}`, async () => (await field.inputValue()) === value || null);
}

const fields = [
  { path: "/requests", label: "Model", parameter: "model", first: "gpt", second: "-5" },
  { path: "/requests", label: "Least latency in milliseconds", parameter: "min_latency_ms", first: "1", second: "50" },
  { path: "/jobs", label: "Provider", parameter: "provider", first: "open", second: "ai" },
  { path: "/routing", label: "Model or alias", parameter: "model", first: "mock/", second: "large" },
] as const;

for (const { path, label, parameter, first, second } of fields)
  test(`on ${path}, the field '${label}' keeps what is typed after a pause`, async () => {
    await using opened = await signIn(path);
    const { page } = opened;
    // A field with suggestions shares its label with their list.
    const field = page.getByLabel(label, { exact: true }).and(page.locator("input"));
    await field.click();
    await page.keyboard.type(first);
    await page.waitForURL((url) => url.searchParams.get(parameter) === first);
    await page.keyboard.type(second);
    await page.waitForURL((url) => url.searchParams.get(parameter) === `${first}${second}`);
    await waitForValue(field, `${first}${second}`);
    await field.fill("");
    await page.waitForURL((url) => !url.searchParams.has(parameter));
    await page.keyboard.type(first);
    await page.waitForURL((url) => url.searchParams.get(parameter) === first);
    await waitForValue(field, first);
    // The preview of a route refuses a model whose name is not complete.
    expect(unexpectedProblems(opened)).toEqual([]);
  });

test("a space at the end of a pause stays in the field, and is no part of the filter", async () => {
  await using opened = await signIn("/audit");
  const { page } = opened;
  const field = page.getByLabel("Who: name or id", { exact: true });
  await field.click();
  await page.keyboard.type("a ");
  await page.waitForURL((url) => url.searchParams.get("actor") === "a");
  await page.keyboard.type("person");
  await page.waitForURL((url) => url.searchParams.get("actor") === "a person");
  await waitForValue(field, "a person");
});

test("filters that are removed elsewhere empty their fields", async () => {
  await using opened = await signIn("/requests?model=no-such-model&min_latency_ms=10");
  const { page } = opened;
  const [model, latency] = [page.getByLabel("Model", { exact: true }), page.getByLabel("Least latency")];
  await waitForValue(model, "no-such-model");
  await waitForValue(latency, "10");
  await page.getByRole("button", { name: "Remove the filters" }).click();
  await waitForValue(model, "");
  await waitForValue(latency, "");
});

const dated = ["/", "/requests", "/spend", "/jobs", "/audit"];

test("a day that does not exist in the address is refused with its name, on every page with a period", async () => {
  await using opened = await signIn("/");
  const { page } = opened;
  for (const path of dated)
    for (const period of ["from=2026-13-45", "from=2026-01-01&to=2026-02-30"]) {
      await page.goto(`${gateway.url}/dashboard${path}?${period}`);
      await page.getByRole("alert").getByText("The request was refused").first().waitFor();
      expect(await page.getByText("This page cannot be shown").count(), path).toBe(0);
    }
  expect(unexpectedProblems(opened)).toEqual([]);
});

async function uploadFiles(purpose: string, count: number, key: string): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    const form = new FormData();
    form.append("file", new Blob(["x"]), `${purpose}-${number}.txt`);
    form.append("purpose", purpose);
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${gateway.url}/v3/upload`, { method: "POST", headers, body: form });
    expect(response.status).toBe(200);
  }
}

test("files are shown after a filter, a deletion or an old address has left fewer pages than the chosen one", async () => {
  const key = await gateway.createKey({ name: "uploads" });
  // The newest files come first, so the one that was uploaded first is on the second page.
  await uploadFiles("oldest", 1, key);
  await uploadFiles("common", filesPerPage, key);
  await using opened = await signIn("/files?page=2");
  const { page } = opened;
  const rows = page.getByRole("table", { name: "Files" }).getByRole("button", { name: /^Delete/ });
  await page.getByText("oldest-1.txt").waitFor();
  await waitForCount(rows, 1);

  await page.getByLabel("Purpose", { exact: true }).fill("oldest");
  await page.waitForURL((url) => url.searchParams.get("purpose") === "oldest" && !url.searchParams.has("page"));
  await page.getByText("oldest-1.txt").waitFor();

  await page.goto(`${gateway.url}/dashboard/files?page=7`);
  await page.getByText("oldest-1.txt").waitFor();
  await page.waitForURL((url) => url.searchParams.get("page") === "2");

  await page.getByRole("button", { name: "Delete oldest-1.txt" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText(`common-${filesPerPage}.txt`).waitFor();
  await page.waitForURL((url) => !url.searchParams.has("page"));
  expect(problemsOf(opened)).toEqual([]);
});
