// Links from sums to filtered requests, filters that only links set, and lists of more keys and teams than a page has, in a real browser.

import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dayMs, minuteMs } from "../../src/lib/time-units.ts";
import { makeKey, makeTeam } from "../contracts/engines.ts";
import { sharedBrowser, type TestPage } from "../support/browser.ts";
import { checkAppearances, openDashboard, problemsOf, visit, waitForCount } from "../support/dashboard-page.ts";
import { makeLine, makeRefusal } from "../support/ledger-lines.ts";
import { openTestStorage } from "../support/open-test-storage.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

const dataFolder = await mkdtemp(join(tmpdir(), "switchyard-dashboard-"));
afterAll(() => rm(dataFolder, { recursive: true, force: true }));
const oldestKey = makeKey({ name: "the oldest key", team: "the-oldest-team", createdAt: 1 });
const keyCount = 1_150;
const teamCount = 210;
await fillFolder();
const gateway = await sharedGateway({ env: { SWITCHYARD_DATA_DIR: dataFolder } });
const browser = await sharedBrowser();

async function fillFolder(): Promise<void> {
  const storage = await openTestStorage({ dataDir: dataFolder });
  await storage.teams.insert(makeTeam("the-oldest-team", { displayName: "Oldest team", createdAt: 1 }));
  for (let index = 1; index < teamCount; index += 1)
    await storage.teams.insert(makeTeam(`team-${index}`, { createdAt: 1 + index }));
  await storage.keys.insert(oldestKey);
  for (let index = 1; index < keyCount; index += 1)
    await storage.keys.insert(makeKey({ name: `key ${index}`, createdAt: 1 + index }));
  const [now, key_id] = [Date.now(), oldestKey.id];
  const team = "the-oldest-team";
  const lines = [
    makeLine({ time: now - 5 * minuteMs, key_id, team, model: "tagged", tags: { project: "site" } }),
    makeLine({ time: now - 4 * minuteMs, model: "untagged" }),
    makeLine({ time: now - 3 * minuteMs, provider: "other", model: "untagged", status: 418, cost_pico: 10n ** 12n }),
    makeLine({ time: now - 2 * dayMs, model: "older", outcome: "provider_timeout", status: 504 }),
    makeRefusal({ time: now - 2 * minuteMs }),
  ];
  const toText = (_: string, value: unknown) => (typeof value === "bigint" ? Number(value) : (value ?? undefined));
  await storage.ledger.append({ lines: JSON.stringify(lines, toText), processId: "test" });
  await storage.close();
}

async function signIn(path: string): Promise<TestPage> {
  const opened = await openDashboard(browser, gateway, path);
  await opened.page.locator("#content h1").waitFor();
  return opened;
}

function rowsOf({ page }: TestPage, label: string) {
  return page.getByRole("table", { name: label }).getByRole("rowgroup").getByRole("row");
}

async function waitForValue({ page }: TestPage, label: string, value: string): Promise<void> {
  const field = page.getByLabel(label, { exact: true }).and(page.locator("input"));
  await waitFor(`'${value}' in the field '${label}'`, async () => (await field.inputValue()) === value || null);
}

test("a row of the spend by tag leads to the requests with this tag, and the filter can be removed", async () => {
  await using opened = await signIn("/spend?by=tag&from=7d");
  const { page } = opened;
  await page.getByRole("link", { name: "project=site" }).click();
  await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
  expect(new URL(page.url()).search).toBe("?tag=project%3Dsite&from=7d");
  await waitForCount(rowsOf(opened, "Requests"), 1);
  await page.getByText("mock/tagged").waitFor();
  await page.getByRole("button", { name: "Tag: project=site. Remove this filter" }).click();
  await waitForCount(rowsOf(opened, "Requests"), 5);
  expect(problemsOf(opened)).toEqual([]);
});

test("a row of the spend leads to requests only if it has a value", async () => {
  await using opened = await signIn("/spend?from=7d");
  const { page } = opened;
  const rows = rowsOf(opened, "Spend by model");
  for (const [by, links, texts] of [
    ["model", ["mock/older", "mock/tagged", "mock/untagged", "other/untagged"], ["no provider"]],
    ["team", ["the-oldest-team"], ["no team"]],
    ["key", ["the oldest key"], ["no key"]],
    ["provider", ["mock", "other"], ["no provider"]],
    ["tag", ["project=site"], ["no tag"]],
  ] as const) {
    await visit(opened, `/spend?from=7d&by=${by}`);
    const table = page.getByRole("table", { name: `Spend by ${by}` });
    await table.getByRole("link", { name: links[0], exact: true }).waitFor();
    await waitForCount(table.getByRole("rowgroup").getByRole("row"), links.length + texts.length);
    expect((await table.getByRole("link").allInnerTexts()).toSorted()).toEqual([...links]);
    for (const text of texts) await table.getByText(text, { exact: true }).waitFor();
  }
  await visit(opened, "/spend?from=7d");
  await rows.getByRole("link", { name: "other/untagged" }).click();
  await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
  await waitForCount(rowsOf(opened, "Requests"), 1);
  await waitForValue(opened, "Provider", "other");
  await waitForValue(opened, "Model", "untagged");
});

test("every filter of the requests is shown and can be removed alone", async () => {
  await using opened = await signIn("/requests?provider=other&status=418&min_cost=0.5&task=ocr/ocr&from=7d");
  const { page } = opened;
  await page.getByText("No request fits these filters").waitFor();
  await page.getByRole("button", { name: "Task: ocr/ocr. Remove this filter" }).click();
  await waitForCount(rowsOf(opened, "Requests"), 1);
  await waitForValue(opened, "Provider", "other");
  await page.getByRole("button", { name: "Status: 418. Remove this filter" }).click();
  await page.getByRole("button", { name: "Least cost in USD: 0.5. Remove this filter" }).click();
  await page.waitForURL((url) => url.search === "?provider=other&from=7d");
  await waitForCount(page.getByRole("button", { name: /Remove this filter/ }), 0);
  expect(problemsOf(opened)).toEqual([]);
});

test("links of the overview keep the period", async () => {
  await using opened = await signIn("/?from=30d");
  const { page } = opened;
  const hrefOf = async (name: string) => await page.getByRole("link", { name }).getAttribute("href");
  await page.getByRole("link", { name: /mock\/older/ }).waitFor();
  expect(await page.getByRole("link", { name: /mock\/older/ }).getAttribute("href")).toEndWith(
    "/requests?provider=mock&model=older&from=30d",
  );
  expect(await hrefOf("All spend")).toEndWith("/spend?from=30d");
  expect(await hrefOf("All requests")).toEndWith("/requests?from=30d");
  await page.getByRole("link", { name: /provider_timeout/ }).click();
  await page.waitForURL((url) => url.search === "?outcome=provider_timeout&from=30d");
  await waitForCount(rowsOf(opened, "Requests"), 1);
});

test("the page of keys says how many there are, loads further ones and finds the oldest", async () => {
  await using opened = await signIn("/keys");
  const { page } = opened;
  const shown = page.getByRole("status").filter({ hasText: /keys?/ });
  // The gateway has created keys of its own.
  await waitFor("the number of keys", async () => /^The newest 200 of 1,1\d\d keys/.test(await shown.innerText()));
  await page.getByRole("table", { name: "Keys" }).hover();
  await page.mouse.wheel(0, 100_000);
  await waitFor("more keys", async () => /^The newest (?!200 )/.test(await shown.innerText()));
  await page.getByLabel("Search by name, team or end of the key").fill("OLDEST key");
  await page.getByText("the oldest key").waitFor();
  await waitForCount(rowsOf(opened, "Keys"), 1);
  expect(await shown.innerText()).toBe("1 key");
  await checkAppearances(opened, "#content");
  expect(problemsOf(opened)).toEqual([]);
});

test("the page of teams finds the oldest team, whose keys can be shown with those of other teams again", async () => {
  await using opened = await signIn("/teams");
  const { page } = opened;
  await page.getByText(`The newest 200 of ${teamCount} teams`).waitFor();
  await page.getByLabel("Search by name").fill("oldest");
  await page.getByRole("link", { name: "Oldest team" }).click();
  await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
  await waitForCount(rowsOf(opened, "Keys"), 1);
  await waitForValue(opened, "Team", "the-oldest-team");
  await page.getByLabel("Team", { exact: true }).and(page.locator("input")).click();
  await page.getByRole("option", { name: "the-oldest-team" }).click();
  await page.getByText("The newest 200 of").waitFor();
  expect(problemsOf(opened)).toEqual([]);
});

for (const path of ["/requests", "/jobs", "/routing"])
  test(`on ${path}, a key that is not among the newest is named, and found by a search`, async () => {
    await using opened = await signIn(`${path}?key=${oldestKey.id}`);
    const { page } = opened;
    await waitForValue(opened, "Key", oldestKey.name);
    const field = page.getByLabel("Key", { exact: true }).and(page.locator("input"));
    await field.click();
    await page.getByRole("option", { name: oldestKey.name }).click();
    await page.waitForURL((url) => !url.searchParams.has("key"));
    await field.click();
    await page.getByRole("option", { name: /1,\d+ more: type to search/ }).waitFor();
    await field.fill("oldest");
    await page.getByRole("option", { name: oldestKey.name }).click();
    await page.waitForURL((url) => url.searchParams.get("key") === oldestKey.id);
    await waitForValue(opened, "Key", oldestKey.name);
    expect(problemsOf(opened)).toEqual([]);
  });
