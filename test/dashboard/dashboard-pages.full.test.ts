// The pages of the dashboard in a real browser, with the data of the demo: what they show, by keyboard, for every role, and with hostile texts.

import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillStorage } from "../../src/cli/demo.ts";
import { sharedBrowser, type TestPage } from "../support/browser.ts";
import {
  checkAppearances,
  type DashboardOptions,
  openDashboard,
  problemsOf,
  visit,
} from "../support/dashboard-page.ts";
import { makeLine } from "../support/ledger-lines.ts";
import { openTestStorage } from "../support/open-test-storage.ts";
import { sharedGateway } from "../support/test-gateway.ts";

/** Texts that callers and providers choose. Each of them would set `window.hostile`, or leave the page, if it were taken for markup. */
const hostileTexts = [
  `<img src=x onerror="window.hostile=1">`,
  `"><script>window.hostile=1</script>`,
  "javascript:window.hostile=1",
  `'-window.hostile=1-'`,
  "{{constructor.constructor('window.hostile=1')()}}",
  "</title><svg onload=window.hostile=1>",
];

const dataFolder = await mkdtemp(join(tmpdir(), "switchyard-dashboard-"));
afterAll(() => rm(dataFolder, { recursive: true, force: true }));
const hostileRequest = "request-with-hostile-texts";
await fillFolder();
const gateway = await sharedGateway({ env: { SWITCHYARD_DATA_DIR: dataFolder } });
const browser = await sharedBrowser();

async function fillFolder(): Promise<void> {
  const storage = await openTestStorage({ dataDir: dataFolder });
  const computeCost = () => ({ pico: 2_000_000_000, version: "1" });
  await fillStorage(storage, { dataDir: dataFolder, seed: 1, end: Date.now(), callsPerDay: 40, computeCost });
  const lines = hostileTexts.map((text, index) => ({
    ...makeLine({ request_id: hostileRequest, attempt: index + 1, time: Date.now() - 60_000 + index }),
    ...{
      provider: text,
      model: text,
      team: text,
      outcome: text,
      reason: text,
      tags: { [text]: text },
      usage: { [text]: text },
    },
    // A provider that is not known, whose answers came from a cache.
    ...{ cost_pico: 1_000_000_000, counted_pico: 0, cached_tokens: 5 },
  }));
  // Which failures the demo has depends on the hour in which it is filled.
  const failed = { request_id: "request-with-two-attempts", provider: "openai", model: "gpt-5", cost_pico: null };
  const attempts = [1, 2].map((attempt) => {
    const outcome = { outcome: "provider_error", status: 502, time: Date.now() - 30_000 + attempt };
    return { ...makeLine({ ...failed, ...outcome, attempt }), counted_pico: 0 };
  });
  const withoutNull = (_: string, value: unknown) => value ?? undefined;
  await storage.ledger.append({ lines: JSON.stringify([...lines, ...attempts], withoutNull), processId: "test" });
  await storage.close();
}

async function signIn(path = "/", options: DashboardOptions = {}): Promise<TestPage> {
  const opened = await openDashboard(browser, gateway, path, options);
  await opened.page.locator("#content h1").waitFor();
  return opened;
}

const pages = [
  { path: "/", title: "Overview", shows: "Right now" },
  { path: "/requests", title: "Requests", shows: "gpt-5" },
  { path: "/spend", title: "Spend", shows: "Forecast for this month" },
  { path: "/jobs", title: "Jobs", shows: "ocr/ocr_async" },
  { path: "/files", title: "Files", shows: "spring-catalogue.pdf" },
  { path: "/audit", title: "Audit log", shows: "key.update" },
  { path: "/playground/tasks", title: "Playground", shows: "Sample invoice" },
  { path: "/tasks", title: "Tasks", shows: "Text Moderation" },
  { path: "/playground", title: "Playground", shows: "Ask one model, or several at once" },
  { path: "/playground/responses", title: "Playground", shows: "Start a chain of responses" },
  { path: "/keys", title: "Keys", shows: "support-assistant" },
  { path: "/teams", title: "Teams", shows: "Customer support" },
  { path: "/models", title: "Models", shows: "sandbox/echo" },
  { path: "/providers", title: "Providers", shows: "Needs OPENAI_API_KEY" },
  { path: "/routing", title: "Routing", shows: "No aliases yet" },
  { path: "/settings", title: "Settings", shows: "SWITCHYARD_DATA_DIR" },
] as const;

async function show(opened: TestPage, { path, title }: (typeof pages)[number]): Promise<void> {
  await visit(opened, path);
  await opened.page.getByRole("heading", { level: 1, name: title }).waitFor();
}

test("every page shows its data, without problems and accessible, at 1440 pixels in light and at 390 pixels in dark colours", async () => {
  await using opened = await signIn("/");
  for (const page of pages) {
    await show(opened, page);
    await opened.page.getByText(page.shows).filter({ visible: true }).first().waitFor();
    await checkAppearances(opened, page.path === "/" ? undefined : "#content");
  }
  expect(problemsOf(opened)).toEqual([]);
});

test("a wrong key is refused with the id of the request, and the right one signs in", async () => {
  await using opened = await browser.openPage(`${gateway.url}/dashboard`);
  const { page } = opened;
  await page.getByLabel("Management key").fill("mgmt-sy-wrong");
  await page.keyboard.press("Enter");
  const alert = page.getByRole("alert");
  await alert.waitFor();
  expect(await alert.innerText()).toMatch(/not a valid management key.*request/);
  await page.getByLabel("Management key").fill(gateway.adminKey);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
});

test("after signing out, nothing is shown without signing in again", async () => {
  await using opened = await signIn("/keys");
  const { page } = opened;
  await page.getByRole("button", { name: /SWITCHYARD_ADMIN_KEY/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByLabel("Management key").waitFor();
  await page.reload();
  await page.getByLabel("Management key").waitFor();
  expect(await page.getByText("support-assistant").count()).toBe(0);
});

test("a key is created, used, and revoked with the keyboard alone", async () => {
  await using opened = await signIn("/keys");
  const { page } = opened;
  await page.getByRole("button", { name: "Create key" }).focus();
  await page.keyboard.press("Enter");
  // The name has the focus.
  await page.getByRole("dialog").waitFor();
  await page.locator("input:focus").waitFor();
  await page.keyboard.type("made with the keyboard");
  await page.keyboard.press("Enter");
  const secret = await page.getByTestId("secret").innerText();
  expect(secret).toStartWith("sk-sy-");
  const answer = await fetch(`${gateway.url}/v3/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "Hi" }] }),
  });
  expect(answer.status).toBe(200);
  await page.getByRole("button", { name: "Done" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Actions for made with the keyboard" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Revoke" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByText("made with the keyboard").first().waitFor({ state: "detached" });
  expect(problemsOf(opened)).toEqual([]);
});

test("a team is created with a budget, and a refused value is shown at its field", async () => {
  await using opened = await signIn("/teams");
  const { page } = opened;
  await page.getByRole("button", { name: "Create team" }).click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("newcomers");
  await page.getByRole("combobox", { name: "Allowed models" }).fill("not a pattern");
  await page.getByRole("dialog").getByRole("button", { name: "Create team" }).click();
  await page.getByText("String should be the name of a model").first().waitFor();
  await page
    .getByRole("button", { name: "Remove not a pattern" })
    .or(page.locator(".mantine-Pill-remove"))
    .first()
    .click({ force: true });
  await page.getByLabel("Budget", { exact: true }).fill("75");
  await page.getByRole("dialog").getByRole("button", { name: "Create team" }).click();
  await page.getByText("$75.00 / month").waitFor();
});

test("a viewer changes nothing", async () => {
  const key = (await gateway.manage("POST", "/keys", { name: "viewer", kind: "management", role: "viewer" })) as {
    key: string;
  };
  await using opened = await signIn("/keys", { key: key.key });
  await opened.page.getByText("support-assistant").first().waitFor();
  expect(await opened.page.getByRole("button", { name: /Create key|Actions for/ }).count()).toBe(0);
});

test("the live list continues the one that was shown", async () => {
  await using opened = await signIn("/requests");
  const { page } = opened;
  const rows = page.getByRole("table", { name: "Requests" }).getByRole("row");
  await rows.nth(5).waitFor();
  await page.getByRole("switch", { name: "Live" }).click();
  await page.getByText(/The newest \d{2,} lines, every two seconds/).waitFor();
  expect(await rows.nth(1).innerText()).toMatch(/\d{2}:\d{2}/);
  expect(problemsOf(opened)).toEqual([]);
});

test("filters are in the address, and a request leads to its attempts", async () => {
  await using opened = await signIn("/requests?from=30d");
  const { page } = opened;
  await page.getByRole("combobox", { name: "Outcome" }).click();
  await page.getByRole("option", { name: "provider_error" }).click();
  await page.waitForURL(/outcome=provider_error/);
  await page.getByText("502 provider_error").first().waitFor();
  await page.getByRole("row").nth(1).getByRole("link").click();
  await page.getByText("2 attempts").waitFor();
  expect(problemsOf(opened)).toEqual([]);
});

test("texts that callers and providers choose are shown as texts", async () => {
  for (const text of hostileTexts) {
    await gateway.manage("POST", "/keys", { name: text, tags: { hostile: text } });
    await gateway.manage("POST", "/teams", { name: text, display_name: text });
  }
  await using opened = await signIn("/");
  const { page } = opened;
  for (const one of pages) {
    await show(opened, one);
    await page.locator("[aria-label=Loading]").first().waitFor({ state: "detached" });
    expect(await page.evaluate("window.hostile"), one.path).toBeUndefined();
  }
  const paths = [
    `/requests/${hostileRequest}`,
    "/spend?by=tag",
    "/spend?by=team",
    `/requests?model=${encodeURIComponent(hostileTexts[0] ?? "")}`,
  ];
  for (const path of paths) {
    await page.goto(`${gateway.url}/dashboard${path}`);
    await page.locator("#content h1").waitFor();
    await page.locator("[aria-label=Loading]").first().waitFor({ state: "detached" });
    expect(await page.evaluate("window.hostile"), path).toBeUndefined();
  }
  await page.goto(`${gateway.url}/dashboard/keys`);
  for (const text of hostileTexts) await page.getByText(text, { exact: true }).first().waitFor();
  expect(problemsOf(opened)).toEqual([]);
});
