// Pages in a real browser that cannot read some of their figures: they say so, and show no zeros in their place.

import { expect, test } from "bun:test";
import { sharedBrowser, type TestPage } from "../support/browser.ts";
import { openDashboard, waitForCount } from "../support/dashboard-page.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const gateway = await sharedGateway();
const browser = await sharedBrowser();
await gateway.manage("POST", "/teams", { name: "with-budget", budget: { amount: 5, period: "monthly" } });
await gateway.manage("POST", "/teams", { name: "without-budget" });
await gateway.createKey({ name: "key-with-budget", budget: { amount: 5, period: "monthly" } } as object);

/** Opens a page whose calls of `paths` get no answer, as when a connection is lost. */
async function openWithout(path: string, paths: readonly string[]): Promise<TestPage> {
  const opened = await openDashboard(browser, gateway, "/settings");
  await opened.page.locator("#content h1").waitFor();
  for (const one of paths) await opened.page.route(`**/v3/manage/${one}?**`, (route) => route.abort());
  await opened.page.goto(`${gateway.url}/dashboard${path}`);
  return opened;
}

test("teams whose spend and budgets were not read have neither zeros nor a budget that is not theirs", async () => {
  await using opened = await openWithout("/teams", ["usage", "budgets"]);
  const { page } = opened;
  await page.getByRole("alert").getByText("No connection").first().waitFor();
  const withBudget = page.getByRole("row").filter({ hasText: "with-budget" });
  const withoutBudget = page.getByRole("row").filter({ hasText: "without-budget" });
  await withoutBudget.waitFor();
  const cellsOf = async (row: typeof withBudget) => await row.getByRole("cell").allInnerTexts();
  expect((await cellsOf(withBudget)).slice(2, 5)).toEqual(["–", "–", "–"]);
  expect((await cellsOf(withoutBudget)).slice(2, 5)).toEqual(["no budget", "–", "–"]);
  await page.unrouteAll();
  const tryAgain = page.getByRole("button", { name: "Try again" });
  for (const left of [1, 0]) {
    await tryAgain.first().click();
    await waitForCount(tryAgain, left);
  }
  await withoutBudget.getByText("$0.00").waitFor();
  await page.getByRole("meter", { name: "Budget of with-budget" }).waitFor();
});

test("keys whose budgets were not read are not shown as keys without a budget", async () => {
  await using opened = await openWithout("/keys", ["budgets"]);
  const { page } = opened;
  await page.getByRole("alert").getByText("No connection").waitFor();
  const row = page.getByRole("row").filter({ hasText: "key-with-budget" });
  expect((await row.getByRole("cell").allInnerTexts())[3]).toBe("–");
  await page.unrouteAll();
});

test("providers whose calls were not read have no zeros", async () => {
  await using opened = await openWithout("/providers", ["usage"]);
  const { page } = opened;
  await page.getByRole("alert").getByText("No connection").first().waitFor();
  const row = page.getByRole("table", { name: "Providers in use" }).getByRole("row").filter({ hasText: "mock2" });
  expect((await row.getByRole("cell").allInnerTexts()).slice(3)).toEqual(["–", "–", "–", "–"]);
  await page.unrouteAll();
});
