// The pages of models and providers in a real browser: search and prices, credentials from the form to the provider, roles, and hostile texts.

import { beforeEach, expect, test } from "bun:test";
import { answer, completion, errorBody } from "../support/answers.ts";
import { sharedBrowser, type TestPage } from "../support/browser.ts";
import { type DashboardOptions, fitsWidth, openDashboard, problemsOf } from "../support/dashboard-page.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor, type VendorRequest } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const hostile = `<img src=x onerror="window.hostile=1">`;
const rightKey = "sk-right-key-0123456789";

/** Refuses every key but the right one, with a text that would be markup on a careless page. */
function checkKey({ headers, path }: VendorRequest) {
  const isRight = headers["authorization"] === `Bearer ${rightKey}` || path.startsWith("/mock");
  return isRight ? answer(200, completion("OK")) : answer(401, errorBody(`Incorrect key ${hostile}`));
}

const vendor = await startVendor(checkKey);
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_ENCRYPTION_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64") },
});
// A gateway of a newcomer: without a provider, and without an encryption key.
const withoutKey = { dialect: "openai", base_url: vendor.url, api_key: "${NOT_SET}" };
const newcomer = await sharedGateway({
  config: { providers: { mock: withoutKey, mock2: withoutKey, mockchat: withoutKey } },
});
const browser = await sharedBrowser();
beforeEach(() => vendor.clear());

async function signIn(path: string, options: DashboardOptions = {}, at = gateway): Promise<TestPage> {
  const opened = await openDashboard(browser, at, path, options);
  await opened.page.locator("#content h1").waitFor();
  return opened;
}

async function createManager(request: object): Promise<string> {
  const created = await gateway.manage("POST", "/keys", { name: "a manager", kind: "management", ...request });
  return (created as { key: string }).key;
}

test("models are found by words and abilities, sorted by price, and the address keeps it", async () => {
  await using opened = await signIn("/models?state=all");
  const { page } = opened;
  // Faster than the page is rendered: no letter may be lost.
  await page.getByLabel("Search by model, provider or ability").pressSequentially("opus reasoning");
  await page.getByRole("checkbox", { name: "Vision" }).press("Space");
  await page.getByRole("button", { name: "Output" }).click();
  await page.getByRole("button", { name: "Output" }).click();
  await page.waitForURL(/search=opus.*ability=vision.*sort=-output/);
  await page.locator("[aria-sort=descending]").waitFor();
  const rows = page.getByRole("table", { name: "Models" }).getByRole("row");
  // The rows follow a moment after the heading.
  await waitFor("models in the order of their prices", async () => {
    const prices = (await rows.locator("xpath=./*[7]").allInnerTexts()).slice(1);
    const amounts = prices.filter((text) => text.startsWith("$")).map((text) => Number(text.slice(1)));
    return amounts.length > 1 && amounts.every((amount, index) => index === 0 || amount <= (amounts[index - 1] ?? 0));
  });
  await page.reload();
  await page.locator("#content h1").waitFor();
  expect(await page.getByLabel("Search by model, provider or ability").inputValue()).toBe("opus reasoning");
  expect(problemsOf(opened)).toEqual([]);
});

test("a model opens with the keyboard: price formula, providers, a program that runs, and the playground", async () => {
  await using opened = await signIn("/models?state=all&search=sandbox%2Fecho");
  const { page } = opened;
  await page.getByRole("link", { name: "echo", exact: true }).focus();
  await page.keyboard.press("Enter");
  const drawer = page.getByRole("dialog");
  await drawer.getByText("Cost = (").waitFor();
  await opened.checkAccessibility();
  expect(await drawer.getByRole("link", { name: "Try it" }).getAttribute("href")).toBe(
    "/dashboard/playground?model=sandbox%2Fecho",
  );
  await drawer.getByText("curl", { exact: true }).click();
  const program = await drawer.getByRole("group", { name: "Program" }).innerText();
  const run = Bun.spawn(["sh", "-c", program], {
    env: { PATH: process.env["PATH"] ?? "", SWITCHYARD_KEY: await gateway.createKey() },
    stdout: "pipe",
  });
  expect(JSON.parse(await new Response(run.stdout).text())).toMatchObject({ object: "chat.completion" });
  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "detached" });
  expect(page.url()).not.toContain("model=");
});

test("a provider is set up in the form: a wrong key is shown as refused, the right one works at once", async () => {
  await using opened = await signIn("/providers?search=groq");
  const { page } = opened;
  await page.getByRole("button", { name: "Set up Groq" }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  const key = dialog.getByRole("textbox", { name: "API key" });
  await key.waitFor();
  await opened.checkAccessibility();
  await key.fill("sk-wrong-key-0123456789");
  await dialog.getByRole("textbox", { name: "Address, optional" }).fill("not an address");
  await page.keyboard.press("Enter");
  await dialog.getByText("Input should be an address").first().waitFor();
  await dialog.getByRole("textbox", { name: "Address, optional" }).fill(vendor.url);
  await dialog.getByRole("button", { name: "Save and test" }).click();
  await dialog.getByText("The provider refused the credentials").waitFor();
  await key.fill(rightKey);
  await dialog.getByRole("button", { name: "Save and test" }).click();
  await dialog.getByText("The provider answered").waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("table").getByRole("link", { name: "Groq" }).click();
  await page.getByRole("dialog").getByText("…6789").waitFor();
  expect(await page.content()).not.toContain(rightKey);
  expect(problemsOf(opened).filter((problem) => !problem.includes("422"))).toEqual([]);
});

test("a key is replaced only after a call with it, and credentials are removed", async () => {
  await gateway.manage("PUT", "/providers/cerebras", { api_key: rightKey, base_url: vendor.url });
  await using opened = await signIn("/providers?provider=cerebras");
  const { page } = opened;
  await page.getByRole("button", { name: "Replace the key" }).click();
  const form = page.getByRole("dialog").filter({ hasText: "Test and replace" });
  await form.getByRole("textbox", { name: "API key" }).fill("sk-wrong-key-0123456789");
  await form.getByRole("button", { name: "Test and replace" }).click();
  await form.getByText("The new credentials were not stored").waitFor();
  await form.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.getByText("The provider answered").waitFor();
  await page.getByRole("button", { name: "Remove" }).click();
  await page
    .getByRole("dialog")
    .filter({ hasText: "refused from then on" })
    .getByRole("button", { name: "Remove" })
    .click();
  await page.getByText("Missing: CEREBRAS_API_KEY").waitFor();
  expect(await page.evaluate("window.hostile")).toBeUndefined();
});

test("failures show as circuits, errors and the last message", async () => {
  const key = await gateway.createKey();
  vendor.on("down", answer(500, errorBody(`It broke ${hostile}`)));
  for (let count = 0; count < 2; count++)
    await fetch(`${gateway.url}/v3/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "mock2/down", messages: [{ role: "user", content: "Hi" }] }),
    });
  await using opened = await signIn("/providers?provider=mock2");
  const { page } = opened;
  await page.getByRole("dialog").getByText(hostile).first().waitFor();
  expect(await page.evaluate("window.hostile")).toBeUndefined();
  await page.keyboard.press("Escape");
  const row = page.getByRole("row").filter({ hasText: "mock2" });
  await row.getByText("Failing calls").waitFor();
  expect(problemsOf(opened)).toEqual([]);
});

test("a viewer sees providers without secrets and buttons, and a viewer of a team no calls of others", async () => {
  await gateway.manage("PUT", "/providers/xai", { api_key: "sk-of-xai-0123456789", base_url: vendor.url });
  {
    await using opened = await signIn("/providers?provider=xai", { key: await createManager({ role: "viewer" }) });
    const { page } = opened;
    await page.getByRole("dialog").getByText("…6789").waitFor();
    expect(await page.getByRole("button", { name: /Set up|Test|Replace|Remove/ }).count()).toBe(0);
  }
  await gateway.manage("POST", "/teams", { name: "blue" });
  const key = await createManager({ role: "administrator", team: "blue" });
  await using opened = await signIn("/providers", { key });
  const { page } = opened;
  await page.getByText("mock2").first().waitFor();
  vendor.on("down", answer(500, errorBody("It broke")));
  const caller = await gateway.createKey();
  await waitFor("an open circuit", async () => {
    const response = await fetch(`${gateway.url}/v3/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "mockchat/down", messages: [{ role: "user", content: "Hi" }] }),
    });
    const { items } = (await gateway.manage("GET", "/providers")) as { items: { name: string; healthy: boolean }[] };
    await response.body?.cancel();
    return items.find(({ name }) => name === "mockchat")?.healthy === false;
  });
  await page.reload();
  await page.getByRole("row").filter({ hasText: "mockchat" }).getByText("Circuit open").waitFor();
  expect(await page.getByText("no open circuit").count()).toBe(0);
  expect(await page.getByRole("button", { name: /Set up/ }).count()).toBe(0);
  expect(await page.getByRole("link", { name: "Settings" }).count()).toBe(0);
  expect(problemsOf(opened)).toEqual([]);
});

test("a newcomer is told what to do first, also on a phone", async () => {
  await using opened = await signIn("/providers", { width: 390 }, newcomer);
  const { page } = opened;
  await page.getByText("Set up your first provider").waitFor();
  await opened.checkAccessibility();
  await waitFor("the page to fit", () => fitsWidth(opened));
  await page.getByRole("combobox", { name: "Provider to set up" }).fill("OpenAI");
  await page.getByRole("option", { name: "OpenAI" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("The gateway has no encryption key").waitFor();
  await dialog.getByText("openssl rand -base64 32").waitFor();
  await opened.checkAccessibility();
});

test("a model whose name would be markup is shown as a text", async () => {
  await using opened = await signIn(`/models?state=all&model=${encodeURIComponent(hostile)}`);
  await opened.page.getByText("Not found").waitFor();
  await opened.page.goto(`${gateway.url}/dashboard/providers?provider=${encodeURIComponent(hostile)}`);
  await opened.page.getByText("Not found").waitFor();
  expect(await opened.page.evaluate("window.hostile")).toBeUndefined();
});
