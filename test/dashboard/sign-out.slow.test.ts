// The end of a session in a real browser: what the next person sees.

import { expect, test } from "bun:test";
import { sharedBrowser, type TestPage } from "../support/browser.ts";
import { openDashboard, unexpectedProblems, visit } from "../support/dashboard-page.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const gateway = await sharedGateway();
const browser = await sharedBrowser();
await gateway.manage("POST", "/teams", { name: "platform" });
await gateway.manage("POST", "/keys", { name: "program of nobody else" });

async function openKeys(): Promise<TestPage> {
  const opened = await openDashboard(browser, gateway, "/keys");
  await opened.page.getByText("program of nobody else").waitFor();
  return opened;
}

/** As an administrator does it: the pages learn of it with their next request. */
async function endSessions(): Promise<void> {
  const { items } = (await gateway.manage("GET", "/sessions")) as { items: { id: string }[] };
  for (const { id } of items) await gateway.manage("DELETE", `/sessions/${id}`);
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
  const kept = page.getByText("program of nobody else");
  await page.getByRole("status", { name: "Loading" }).or(kept).first().waitFor();
  expect(await kept.count()).toBe(0);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  expect(unexpectedProblems(opened)).toEqual([]);
});
