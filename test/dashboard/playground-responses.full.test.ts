// The playground for responses in a real browser: a chain, retrieval, deletion, calls of functions, and texts of hostile models.

import { expect, test } from "bun:test";
import {
  answer,
  chatChunk,
  doneText,
  errorBody,
  event,
  httpChunk,
  lastHttpChunk,
  streamHead,
  until,
} from "../support/answers.ts";
import { sharedBrowser, type TestPage } from "../support/browser.ts";
import { checkAppearances, openDashboard, sendMessage as send, unexpectedProblems } from "../support/dashboard-page.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const gateway = await sharedGateway();
const { vendor } = gateway;
const browser = await sharedBrowser();

async function openPlayground({ model = "sandbox/transcript" } = {}): Promise<TestPage> {
  const address = new URLSearchParams({ model });
  const opened = await openDashboard(browser, gateway, `/playground/responses?${address}`);
  await opened.page.getByLabel("Message", { exact: true }).waitFor();
  return opened;
}

function responses({ page }: TestPage) {
  return page.getByRole("article", { name: /^Response/ });
}

/** The id of the last response, once it is complete. */
async function lastId(opened: TestPage, count: number): Promise<string> {
  const last = responses(opened).nth(count - 1);
  await last.getByText("completed", { exact: true }).waitFor();
  return (await last.getAttribute("aria-label"))?.replace("Response ", "") ?? "";
}

test("responses are chained, found again after a reload, continued from an earlier one, and deleted", async () => {
  await using opened = await openPlayground();
  const { page } = opened;
  await send(opened, "the word is heron");
  const first = await lastId(opened, 1);
  await send(opened, "which word?");
  const second = await lastId(opened, 2);
  // The sandbox repeats the whole conversation, so it had it.
  await responses(opened).nth(1).getByText("user: the word is heron").waitFor();
  const figures = await responses(opened).nth(1).locator(".figures").innerText();
  expect(figures).toMatch(/First token.*Total.*Tokens\s+\d+ → \d+.*Cost\s+\$0\.00/s);
  await page.waitForURL(new RegExp(`id=${second}`));
  await page.reload();
  await lastId(opened, 2);
  expect(await page.locator(".question-text").allInnerTexts()).toEqual(["the word is heron", "which word?"]);
  await responses(opened).first().getByRole("button", { name: "Continue from here" }).click();
  await send(opened, "a branch");
  await responses(opened).nth(1).getByText("user: a branch").waitFor();
  const branch = await lastId(opened, 2);
  expect(await responses(opened).count()).toBe(2);
  expect(await responses(opened).nth(1).innerText()).not.toContain("which word?");
  await page.getByRole("button", { name: `Delete ${branch}` }).click();
  await responses(opened).nth(1).getByText("deleted", { exact: true }).waitFor();
  // What was deleted cannot be retrieved; what was not, can, with its chain.
  const field = page.getByRole("textbox", { name: "Response id" });
  await field.fill(branch);
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  expect(await page.getByRole("alert").innerText()).toMatch(/Request \S+/);
  await field.fill(second);
  await page.keyboard.press("Enter");
  await page.getByRole("article", { name: `Response ${second}` }).waitFor();
  await page.getByRole("article", { name: `Response ${first}` }).waitFor();
  expect(unexpectedProblems(opened)).toEqual([]);
});

test("a call of a function is shown with its arguments, and its result continues the chain", async () => {
  await using opened = await openPlayground({ model: "sandbox/echo" });
  const { page } = opened;
  await page.getByRole("switch", { name: "Tools" }).click();
  await send(opened, "How is the weather?");
  const call = responses(opened).first();
  await call.getByLabel("Arguments of get_weather").getByText('"Vienna"').waitFor();
  await call.getByRole("textbox", { name: "Result of get_weather" }).fill("21 degrees");
  await call.getByRole("button", { name: "Send the result" }).click();
  await responses(opened).nth(1).getByText("get_weather answered: 21 degrees").waitFor();
});

test("text is shown while it arrives, reasoning apart, and a response that is not stored says so", async () => {
  const { promise: rest, resolve: release } = Promise.withResolvers<void>();
  vendor.on("gated", [
    streamHead(),
    event(chatChunk({ role: "assistant", reasoning_content: "A thought." })),
    event(chatChunk({ content: "The first half" })),
    until(rest),
    event(chatChunk({ content: " and the second." })),
    event(chatChunk({}, "stop")),
    httpChunk(doneText),
    lastHttpChunk,
  ]);
  // mockchat lacks the API, so the request becomes a chat completion.
  await using opened = await openPlayground({ model: "mockchat/gated" });
  await send(opened, "Begin");
  const response = responses(opened).first();
  await response.getByText("The first half", { exact: true }).waitFor();
  release();
  await response.getByText("The first half and the second.", { exact: true }).waitFor();
  await response.getByText("not stored", { exact: true }).waitFor();
  await response.getByRole("button", { name: /^Reasoning/ }).click();
  await response.getByText("A thought.").waitFor();
  expect(await response.getByRole("button", { name: "Continue from here" }).count()).toBe(0);
});

test("errors have the id of the request, and no text is taken for markup", async () => {
  const hostile = `<img src=x onerror="window.hostile=1"> [link](javascript:window.hostile=1)`;
  vendor.on("failing", answer(400, errorBody(hostile)));
  vendor.on("hostile", [
    streamHead(),
    event(chatChunk({ role: "assistant", reasoning_content: hostile })),
    event(chatChunk({ content: hostile })),
    event(
      chatChunk({
        tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: hostile, arguments: hostile } }],
      }),
    ),
    event(chatChunk({}, "tool_calls")),
    httpChunk(doneText),
    lastHttpChunk,
  ]);
  await using opened = await openPlayground({ model: "mockchat/failing" });
  const { page } = opened;
  await send(opened, hostile);
  await page.getByRole("alert").waitFor();
  expect(await page.getByRole("alert").innerText()).toMatch(/onerror.*Request \S+/s);
  await page.goto(`${gateway.url}/dashboard/playground/responses?model=mockchat%2Fhostile`);
  await send(opened, hostile);
  const response = responses(opened).first();
  await response.getByText("completed", { exact: true }).waitFor();
  await response.getByText("Response as JSON").click();
  await response.getByRole("button", { name: /^Reasoning/ }).click();
  expect(await page.locator("#content img").count()).toBe(0);
  expect(await response.locator("a[href^=javascript]").count()).toBe(0);
  expect(await page.evaluate("window.hostile")).toBeUndefined();
});

test("the page is accessible and fits, at 1440 pixels in light and at 390 pixels in dark colours", async () => {
  await using opened = await openPlayground();
  await checkAppearances(opened);
  await send(opened, "y".repeat(300));
  await lastId(opened, 1);
  await checkAppearances(opened, "#content");
  expect(unexpectedProblems(opened)).toEqual([]);
});
