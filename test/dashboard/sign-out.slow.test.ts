// The end of a session in a real browser: what the next person sees, and what a person is told when a change or the sign-out fails.

import { expect, test } from "bun:test";
import { sharedBrowser, type TestPage } from "../support/browser.ts";
import { openDashboard, unexpectedProblems, visit } from "../support/dashboard-page.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const gateway = await sharedGateway();
const browser = await sharedBrowser();
await gateway.manage("POST", "/teams", { name: "platform" });
await gateway.manage("POST", "/keys", { name: "billing-exporter" });

async function openKeys(): Promise<TestPage> {
  const opened = await openDashboard(browser, gateway, "/keys");
  await opened.page.getByText("billing-exporter").waitFor();
  return opened;
}

/** As an administrator does it: the pages learn of it with their next request. */
async function endSessions(): Promise<void> {
  const { items } = (await gateway.manage("GET", "/sessions")) as { items: { id: string }[] };
  for (const { id } of items) await gateway.manage("DELETE", `/sessions/${id}`);
}

async function signOut({ page }: TestPage): Promise<void> {
  await page.getByRole("button", { name: /SWITCHYARD_ADMIN_KEY/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
}

test("a person who signs in after a session has ended sees nothing of the person before", async () => {
  const viewer = { name: "viewer", kind: "management", role: "viewer", team: "platform" };
  const { key } = (await gateway.manage("POST", "/keys", viewer)) as { key: string };
  await using opened = await openKeys();
  const { page } = opened;
  await endSessions();
  await visit(opened, "/teams");
  await page.getByLabel("Management key").fill(key);
  // The answers to the second person stay away, so that only what was kept can be shown.
  await page.route(/\/v3\/manage\/keys/, () => {});
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Teams" }).waitFor();
  await visit(opened, "/keys");
  const kept = page.getByText("billing-exporter");
  await page.getByRole("status").filter({ hasText: "Loading" }).or(kept).first().waitFor();
  expect(await kept.count()).toBe(0);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  expect(unexpectedProblems(opened)).toEqual([]);
});

test("signing out of a session that has already ended leads to the page for signing in", async () => {
  await using opened = await openKeys();
  await endSessions();
  await signOut(opened);
  await opened.page.getByLabel("Management key").waitFor();
  expect(unexpectedProblems(opened)).toEqual([]);
});

/** A tab of the same browser in which `key` has just signed in. */
async function signInElsewhere({ page }: TestPage, key: string): Promise<TestPage> {
  const other = await openDashboard(browser, gateway, "/keys", { key });
  await page.context().addCookies(await other.page.context().cookies());
  return other;
}

/** As if the page did not know the token of its session: the gateway refuses its changes. */
async function hideToken({ page }: TestPage): Promise<void> {
  await page.route(/\/v3\/manage\//, (route) => {
    const { "x-switchyard-csrf": _, ...headers } = route.request().headers();
    return route.continue({ headers });
  });
}

test("a person whose sign-out is refused is told so, and the next person is not", async () => {
  await using opened = await openKeys();
  const { page } = opened;
  await hideToken(opened);
  await signOut(opened);
  const alert = page.getByRole("alert");
  await alert.getByText("You are still signed in").waitFor();
  await alert.getByText(/request [0-9a-z-]+/i).waitFor();
  await opened.checkAccessibility();
  await page.unrouteAll({ behavior: "wait" });
  await signOut(opened);
  await page.getByLabel("Management key").waitFor();
  await alert.waitFor({ state: "detached" });
  expect(unexpectedProblems(opened)).toEqual([]);
});

test("a change that is refused for another reason than the role says so", async () => {
  await using opened = await openKeys();
  const { page } = opened;
  await hideToken(opened);
  await page.getByRole("button", { name: "Create key" }).first().click();
  const drawer = page.getByRole("dialog");
  await drawer.getByRole("textbox", { name: "Name" }).fill("refused");
  await drawer.getByRole("button", { name: "Create key" }).click();
  await drawer.getByRole("alert").getByText("The request was refused").waitFor();
  await page.unrouteAll({ behavior: "wait" });
});

test("after the same person has signed in again in another tab, the open form can be sent and the sign-out works", async () => {
  await using opened = await openKeys();
  const { page } = opened;
  await page.getByRole("button", { name: "Create key" }).first().click();
  const drawer = page.getByRole("dialog");
  await drawer.getByRole("textbox", { name: "Name" }).fill("after the second sign-in");
  await using _other = await signInElsewhere(opened, gateway.adminKey);
  await drawer.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("after the second sign-in").first().waitFor();
  await using _third = await signInElsewhere(opened, gateway.adminKey);
  await signOut(opened);
  await page.getByLabel("Management key").waitFor();
  expect(unexpectedProblems(opened)).toEqual([]);
});

test.each([
  "a change",
  "the sign-out",
])("after another person has signed in in another tab, %s is not made, and the page is that of the other person", async (action) => {
  const operator = { name: "Bo", kind: "management", role: "operator", team: "platform" };
  const { key } = (await gateway.manage("POST", "/keys", operator)) as { key: string };
  await using opened = await openKeys();
  const { page } = opened;
  // As the playground leaves it: signing out revokes this key first.
  const stored = JSON.stringify(await gateway.manage("POST", "/keys", { name: "of the playground" }));
  await page.evaluate(`sessionStorage.setItem("switchyard-playground-key", ${JSON.stringify(stored)})`);
  await using other = await signInElsewhere(opened, key);
  if (action === "the sign-out") await signOut(opened);
  else {
    await page.getByRole("button", { name: "Actions for billing-exporter" }).click();
    await page.getByRole("menuitem", { name: "Disable" }).click();
  }
  await page.getByRole("alert").getByText("You are signed in as Bo").waitFor();
  await page.getByRole("button", { name: /^Bo/ }).waitFor();
  await page.getByText("billing-exporter").waitFor({ state: "detached" });
  expect(await page.getByRole("alert").count()).toBe(1);
  await opened.checkAccessibility();
  const { items } = (await gateway.manage("GET", "/keys")) as { items: { name: string; enabled: boolean }[] };
  expect(items.find(({ name }) => name === "billing-exporter")?.enabled).toBe(true);
  await other.page.reload();
  await other.page.getByRole("button", { name: /^Bo/ }).waitFor();
  expect(unexpectedProblems(opened)).toEqual([]);
});

test("a person who disables a team that was deleted meanwhile is told that it does not exist", async () => {
  const { id } = (await gateway.manage("POST", "/teams", { name: "short-lived" })) as { id: string };
  await using opened = await openDashboard(browser, gateway, "/teams");
  const { page } = opened;
  await page.getByRole("button", { name: "Actions for short-lived" }).click();
  await gateway.manage("DELETE", `/teams/${id}`);
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await page.getByRole("alert").getByText("There is no team with this name or id.").waitFor();
  await opened.checkAccessibility();
  expect(unexpectedProblems(opened)).toEqual([]);
});
