// The pages of routing and settings in a real browser: aliases drawn, the preview of a request, and the settings in force.

import { expect, test } from "bun:test";
import { sharedBrowser, type TestPage } from "../support/browser.ts";
import { checkAppearances, openDashboard, problemsOf, waitForCount } from "../support/dashboard-page.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_RETRIES: "4" },
  config: {
    aliases: {
      careful: ["mock/large", "groq/openai/gpt-oss-120b", "mock2/large"],
      spread: [
        { model: "mock/a", weight: 1 },
        { model: "mock2/b", weight: 3 },
      ],
    },
    oidc: {
      issuer: "http://127.0.0.1:9",
      client_id: "dashboard",
      client_secret: "secret-of-the-client",
      roles: [{ group: "<b onclick=alert(1)>staff</b>", role: "viewer" }],
    },
    defaults: { key: { tags: {} } },
    providers: {
      pair: {
        dialect: "openai",
        deployments: [
          { name: "eu", base_url: vendor.url, api_key: "key-of-eu", weight: 3 },
          { name: "us", base_url: vendor.url, api_key: "key-of-us", weight: 1 },
        ],
      },
    },
  },
});
const browser = await sharedBrowser();

async function signIn(path: string): Promise<TestPage> {
  const opened = await openDashboard(browser, gateway, path);
  await opened.page.locator("#content h1").waitFor();
  return opened;
}

test("aliases and deployments are drawn with order and shares, at 1440 and 390 pixels", async () => {
  await using opened = await signIn("/routing");
  const { page } = opened;
  const targets = page.getByRole("list", { name: "Models of the alias careful" }).getByRole("listitem");
  await targets.first().waitFor();
  expect((await targets.allInnerTexts()).map((text) => text.split("\n")[0])).toEqual(["1", "2", "3"]);
  expect(await targets.nth(1).innerText()).toContain("not set up");
  const shares = page.getByRole("list", { name: "Models of the alias spread" }).getByRole("listitem");
  expect((await shares.allInnerTexts()).map((text) => text.split("\n")[0])).toEqual(["25 %", "75 %"]);
  await page.getByRole("list", { name: "Deployments of pair" }).getByText("eu", { exact: true }).waitFor();
  await checkAppearances(opened);
  expect(problemsOf(opened)).toEqual([]);
});

test("a request is previewed with the keyboard: candidates in order, and why others are passed over", async () => {
  await using opened = await signIn("/routing");
  const { page } = opened;
  await page.getByRole("combobox", { name: "Model or alias" }).focus();
  await page.keyboard.type("careful");
  await page.waitForURL(/model=careful/);
  const candidates = page.getByRole("list", { name: "Candidates" }).getByRole("listitem");
  await candidates.nth(2).waitFor();
  const texts = await candidates.allInnerTexts();
  expect(texts.map((text) => /(\w+\/\S+)/.exec(text)?.[1])).toEqual([
    "mock/large",
    "mock2/large",
    "groq/openai/gpt-oss-120b",
  ]);
  expect(texts[2]).toContain("GROQ_API_KEY");
  await page.getByRole("checkbox", { name: "Vision" }).press("Space");
  await candidates.nth(2).getByText("no vision").waitFor();
  await page.waitForURL(/ability=vision/);
  await opened.checkAccessibility();
  expect(vendor.requests).toEqual([]);
  expect(problemsOf(opened)).toEqual([]);
});

test("a role of a team sees what would be tried, without circuits and deployments", async () => {
  await gateway.manage("POST", "/teams", { name: "limited" });
  const members = { name: "viewer", kind: "management", role: "viewer", team: "limited" };
  const { key } = (await gateway.manage("POST", "/keys", members)) as { key: string };
  await using opened = await openDashboard(browser, gateway, "/routing?model=pair/any", { key });
  const { page } = opened;
  const candidates = page.getByRole("list", { name: "Candidates" }).getByRole("listitem");
  await waitForCount(candidates, 2);
  expect((await candidates.allInnerTexts()).join("\n")).not.toContain("pair#");
  await page.getByText("are shown only to roles of the whole gateway").waitFor();
  expect(problemsOf(opened)).toEqual([]);
});

test("a key that may not use a model is refused before anything is tried", async () => {
  const { id } = (await gateway.manage("POST", "/keys", { name: "narrow", allowed_models: ["mock2/*"] })) as {
    id: string;
  };
  await using opened = await signIn(`/routing?model=careful&key=${id}`);
  const { page } = opened;
  await page.getByText("The request would be refused: 403 model_not_allowed").waitFor();
  await waitForCount(page.getByText("not allowed", { exact: true }), 2);
});

test("a wrong name is an error of the request, shown as a text", async () => {
  await using opened = await signIn(`/routing?model=${encodeURIComponent("<img src=x onerror=window.hostile=1>")}`);
  const { page } = opened;
  await page.getByRole("alert").getByText("String should be <provider>/<model>").waitFor();
  expect(await page.evaluate("window.hostile")).toBeUndefined();
});

test("settings are shown with their sources and without secrets, at 1440 and 390 pixels", async () => {
  await using opened = await signIn("/settings");
  const { page } = opened;
  const rowOf = (name: string) => page.getByRole("listitem").filter({ hasText: name });
  await rowOf("SWITCHYARD_RETRIES")
    .filter({ hasText: /4[\s\S]*environment/ })
    .waitFor();
  await rowOf("oidc.client_secret")
    .filter({ hasText: /\[hidden\][\s\S]*file[\s\S]*line \d+/ })
    .waitFor();
  await page.getByText("<b onclick=alert(1)>staff</b>").waitFor();
  // An empty value, and a gateway without a supervisor, which alone knows the number of processes.
  expect(await rowOf("defaults.key.tags").locator(".setting-value").innerText()).toBe("–");
  expect(await page.locator(".tiles > *").filter({ hasText: "Serving processes" }).innerText()).toContain("–");
  expect(await page.content()).not.toContain("secret-of-the-client");
  await page.getByLabel("Search settings").fill("idle_timeout");
  await rowOf("SWITCHYARD_IDLE_TIMEOUT_MS").getByText("default", { exact: true }).waitFor();
  await page.waitForURL(/search=idle_timeout/);
  expect(
    await page.getByRole("link", { name: "Documentation of SWITCHYARD_IDLE_TIMEOUT_MS" }).getAttribute("href"),
  ).toBe("/docs/settings#:~:text=SWITCHYARD_IDLE_TIMEOUT_MS");
  await checkAppearances(opened);
  expect(problemsOf(opened)).toEqual([]);
});
