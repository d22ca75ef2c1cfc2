// A real browser for tests of pages: Chromium from an npm package, driven by Playwright. Start it once per test file:
//
//   const browser = await sharedBrowser();
//   await using page = await browser.openPage(url, { width: 390, theme: "dark" });

import { afterAll } from "bun:test";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type {
  CDPSession,
  ConsoleMessage,
  Page as PlaywrightPage,
  Request,
} from "../tools/browser/node_modules/playwright-core";
import { chromium } from "../tools/browser/node_modules/playwright-core";
import { findChromium } from "./chromium.ts";
import { waitFor } from "./wait.ts";

export interface Appearance {
  /** In CSS pixels: 1440 is a desktop, 390 a phone. */
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
  readonly reducedMotion?: boolean;
}

export interface PageOptions extends Appearance {
  /** A cookie that the browser has already, as a `Set-Cookie` header states it. */
  readonly cookie?: string;
}

export interface TestPage extends AsyncDisposable {
  /** Playwright's page: `page.click`, `page.keyboard`, `page.getByRole` … */
  readonly page: PlaywrightPage;
  /** Messages of the console and uncaught errors, and requests that failed or were refused by a policy. */
  readonly problems: readonly string[];
  /** Shows the same page as another device would. */
  setAppearance(appearance: Appearance): Promise<void>;
  /**
   * Fails when axe finds a serious or critical violation of WCAG 2.2 A and AA. `selector`: the part that is checked, which takes half of the time
   * where the rest of the page was checked before; without it, the whole page.
   */
  checkAccessibility(selector?: string): Promise<void>;
  /** Writes a PNG of the whole page, or of what is visible. */
  screenshot(file: string, part?: "whole" | "visible"): Promise<void>;
}

export interface TestBrowser extends AsyncDisposable {
  openPage(url: string, options?: PageOptions): Promise<TestPage>;
}

interface AxeViolation {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

const axeFile = join(import.meta.dir, "../tools/browser/node_modules/axe-core/axe.min.js");
const axeTags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** Playwright gives up after 30 seconds, which is too short on a machine that is busy with other programs. */
const timeoutMs = 280_000;
const seriousImpacts = new Set(["serious", "critical"]);

export async function startBrowser(): Promise<TestBrowser> {
  const { executable, environment } = await findChromium();
  const browser = await chromium.launch({
    executablePath: executable,
    env: environment,
    timeout: timeoutMs,
    // Containers often lack the privileges of the sandbox; the tests open pages of their own only.
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  const idle: Tab[] = [];

  async function createTab(): Promise<Tab> {
    const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    context.setDefaultTimeout(timeoutMs);
    const page = await context.newPage();
    return { page, developerTools: await context.newCDPSession(page) };
  }

  return {
    async openPage(url, { cookie, ...appearance } = {}) {
      const tab = idle.pop() ?? (await createTab());
      const { page } = tab;
      await setAppearance(tab, appearance);
      if (cookie !== undefined) await page.context().addCookies([readCookie(cookie, new URL(url))]);
      const problems: string[] = [];
      const stopWatching = watch(page, problems);
      await page.goto(url, { waitUntil: "load" });
      return {
        page,
        problems,
        async setAppearance(changed) {
          await setAppearance(tab, changed);
          const hasSettled = () => page.evaluate(`${settle}(${JSON.stringify(changed.theme ?? "light")})`);
          await waitFor("the page to show the theme", hasSettled);
        },
        async checkAccessibility(selector) {
          const found = await findViolations(page, selector);
          const violations = found.filter(({ impact }) => seriousImpacts.has(impact ?? ""));
          if (violations.length > 0) throw new Error(`${page.url()}\n${violations.map(describe).join("\n")}`);
        },
        async screenshot(file, part = "whole") {
          mkdirSync(dirname(file), { recursive: true });
          await page.screenshot({ path: file, fullPage: part === "whole" });
        },
        async [Symbol.asyncDispose]() {
          stopWatching();
          if (await clear(tab, new URL(url).origin)) idle.push(tab);
          else await page.context().close();
        },
      };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** A tab of the browser, in a context of its own. The next test uses it again, because a new one would load and compile every script again. */
interface Tab {
  readonly page: PlaywrightPage;
  readonly developerTools: CDPSession;
}

async function setAppearance({ page, developerTools }: Tab, appearance: Appearance): Promise<void> {
  const { width = 1_440, height = width < 600 ? 844 : 900, theme = "light", reducedMotion = true } = appearance;
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: reducedMotion ? "reduce" : "no-preference" });
  await developerTools.send("Emulation.setTouchEmulationEnabled", { enabled: width < 600 });
}

/**
 * True when a page that sets the theme itself has done so; colours that would change gradually have then changed. Mantine names the theme in an
 * attribute.
 */
const settle = `((theme) => {
  if ((document.documentElement.dataset.mantineColorScheme ?? theme) !== theme) return false;
  for (const animation of document.getAnimations()) if (animation instanceof CSSTransition) animation.finish();
  return true;
})`;

/** For all paths of the server, whatever the line says. */
function readCookie(line: string, { origin }: URL) {
  const [pair = ""] = line.split(";");
  const [name = "", value = ""] = pair.split("=");
  return { name, value, url: origin, httpOnly: true, sameSite: "Strict" } as const;
}

/** Collects problems until the returned function is called. */
function watch(page: PlaywrightPage, problems: string[]): () => void {
  const onConsole = (message: ConsoleMessage) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  };
  const onError = (error: Error) => void problems.push(String(error));
  const onFailure = (request: Request) => void problems.push(`${request.url()}: ${request.failure()?.errorText}`);
  page.on("console", onConsole).on("pageerror", onError).on("requestfailed", onFailure);
  return () => void page.off("console", onConsole).off("pageerror", onError).off("requestfailed", onFailure);
}

/** Removes everything that a test has left in its tab. False: the tab cannot be used again. */
async function clear({ page, developerTools }: Tab, origin: string): Promise<boolean> {
  const context = page.context();
  if (page.isClosed() || new URL(page.url()).origin !== origin) return false;
  for (const other of context.pages()) if (other !== page) await other.close();
  await page.evaluate("sessionStorage.clear()");
  await page.goto("about:blank");
  await page.mouse.move(0, 0);
  await context.clearCookies();
  await developerTools.send("Storage.clearDataForOrigin", { origin, storageTypes: "local_storage,indexeddb" });
  return true;
}

/** The text on the clipboard, once it contains `part`: a button copies a moment after it was pressed. */
export function waitForCopied({ page }: TestPage, part: string): Promise<string> {
  return waitFor(`a copied text with ${part}`, async () => {
    const text = String(await page.evaluate("navigator.clipboard.readText()"));
    return text.includes(part) ? text : null;
  });
}

/** The browser of all tests of a file: it closes after the last one. */
export async function sharedBrowser(): Promise<TestBrowser> {
  const browser = await startBrowser();
  afterAll(() => browser[Symbol.asyncDispose]());
  return browser;
}

async function findViolations(page: PlaywrightPage, selector: string | undefined): Promise<readonly AxeViolation[]> {
  // Not as an element of the page: a strict policy would refuse it.
  if (await page.evaluate(`typeof axe === "undefined"`)) await page.evaluate(await Bun.file(axeFile).text());
  const options = { runOnly: { type: "tag", values: axeTags }, resultTypes: ["violations"] };
  const part = selector === undefined ? "document" : JSON.stringify(selector);
  return (await page.evaluate(
    `axe.run(${part}, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )) as readonly AxeViolation[];
}

function describe({ id, impact, help, nodes }: AxeViolation): string {
  const places = nodes.slice(0, 5).map(({ target, failureSummary }) => `  ${target.join(" ")}: ${failureSummary}`);
  return `${id} (${impact}): ${help}\n${places.join("\n")}`;
}
