// Management keys in a real browser: their roles in the form and in the list, and the name of the team that a role is limited to.

import { expect, test } from "bun:test";
import { sharedBrowser } from "../support/browser.ts";
import { checkAppearances, openDashboard, problemsOf } from "../support/dashboard-page.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const gateway = await sharedGateway();
const browser = await sharedBrowser();
await gateway.manage("POST", "/teams", { name: "platform" });

async function roleOf(name: string): Promise<string | null | undefined> {
  const { items } = (await gateway.manage("GET", "/keys")) as { items: { name: string; role: string | null }[] };
  return items.find((key) => key.name === name)?.role;
}

test("a management key is a viewer unless another role is chosen, the list shows the role, and it can be changed", async () => {
  await using opened = await openDashboard(browser, gateway, "/keys");
  const { page } = opened;
  const drawer = page.getByRole("dialog");
  const choose = async (field: string, option: RegExp) => {
    await drawer.getByRole("combobox", { name: field }).click();
    await page.getByRole("option", { name: option }).click();
  };
  const row = page.getByRole("row").filter({ hasText: "on-call" });
  await page.getByRole("button", { name: "Create key" }).first().click();
  await drawer.getByRole("textbox", { name: "Name" }).fill("on-call");
  expect(await drawer.getByRole("combobox", { name: "Role" }).count()).toBe(0);
  await choose("Kind", /^Management/);
  expect(await drawer.getByRole("combobox", { name: "Role" }).inputValue()).toStartWith("Viewer");
  await checkAppearances(opened);
  await drawer.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await row.getByText("viewer", { exact: true }).waitFor();
  expect(await roleOf("on-call")).toBe("viewer");

  await page.getByRole("button", { name: "Actions for on-call" }).click();
  await page.getByRole("menuitem", { name: "Change" }).click();
  expect(await drawer.getByRole("combobox", { name: "Role" }).inputValue()).toStartWith("Viewer");
  await choose("Role", /^Operator/);
  await drawer.getByRole("button", { name: "Save" }).click();
  await row.getByText("operator", { exact: true }).waitFor();
  expect(await roleOf("on-call")).toBe("operator");
  await checkAppearances(opened, "#content");
  expect(problemsOf(opened)).toEqual([]);
});

test("an operator of a team sees the name of the team", async () => {
  const operator = { name: "Ada", kind: "management", role: "operator", team: "platform" };
  const { key } = (await gateway.manage("POST", "/keys", operator)) as { key: string };
  await using opened = await openDashboard(browser, gateway, "/keys", { key });
  const { page } = opened;
  await page.getByText("operator of platform").waitFor();
  await page.getByRole("button", { name: "Create key" }).first().click();
  await page.getByRole("dialog").getByPlaceholder("platform", { exact: true }).waitFor();
  expect(problemsOf(opened)).toEqual([]);
});
