// A page of the dashboard in a real browser, with a session that has begun. test/dashboard/dashboard-pages.full.test.ts signs in with the form.

import type { Locator } from "../tools/browser/node_modules/playwright-core";
import type { PageOptions, TestBrowser, TestPage } from "./browser.ts";
import { waitFor } from "./wait.ts";

export interface DashboardOptions extends PageOptions {
  /** The management key of the session; default: that of the gateway. */
  readonly key?: string;
}

interface SignedInGateway {
  readonly url: string;
  readonly adminKey: string;
}

/** `path`: below /dashboard. */
export async function openDashboard(
  browser: TestBrowser,
  gateway: SignedInGateway,
  path: string,
  { key = gateway.adminKey, ...options }: DashboardOptions = {},
): Promise<TestPage> {
  const response = await fetch(`${gateway.url}/v3/manage/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key }),
  });
  const cookie = response.headers.get("set-cookie");
  if (cookie === null) throw new Error(`the sign-in was answered with ${response.status}`);
  return await browser.openPage(`${gateway.url}/dashboard${path}`, { ...options, cookie });
}

/** Leads to another page within the application, as a link does: loading the application again would take a second. */
export async function visit({ page }: TestPage, path: string): Promise<void> {
  await page.evaluate(`(() => {
    history.pushState({}, "", ${JSON.stringify(`/dashboard${path}`)});
    dispatchEvent(new PopStateEvent("popstate", { state: {} }));
  })()`);
}

/** Without those of requests that were given up because the test left their page. */
export function problemsOf({ problems }: TestPage): string[] {
  return problems.filter((problem) => !problem.includes("ERR_ABORTED"));
}

/** Those of `problemsOf` without refused calls, which the browser reports, too. */
export function unexpectedProblems(opened: TestPage): string[] {
  return problemsOf(opened).filter((problem) => !/status of (?:4|5)/.test(problem));
}

/** In a playground for conversations. */
export async function sendMessage({ page }: TestPage, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

/**
 * The page is accessible and nothing on it is wider than the window, on a phone in dark colours and on a desktop in light ones. `selector`: the
 * part that is checked for accessibility; the frame around the content is the same on every page.
 */
export async function checkAppearances(opened: TestPage, selector?: string): Promise<void> {
  for (const [width, theme] of [
    [390, "dark"],
    [1_440, "light"],
  ] as const) {
    await opened.setAppearance({ width, theme });
    await opened.checkAccessibility(selector);
    // The page may follow the new size a moment later.
    await waitFor(`${opened.page.url()} to fit into ${width} pixels`, () => fitsWidth(opened));
  }
}

/** Waits until that many elements are there: lists are drawn a moment after their address, their heading or their order has changed. */
export async function waitForCount(elements: Locator, count: number): Promise<void> {
  await waitFor(`${count} elements of ${elements}`, async () => (await elements.count()) === count);
}

export async function fitsWidth({ page }: TestPage): Promise<boolean> {
  return (await page.evaluate("document.documentElement.scrollWidth <= innerWidth")) as boolean;
}
