// A real browser for tests of pages: Chromium from an npm package, driven by Playwright. Start it once per test file:
//
//   const browser = await sharedBrowser();
//   await using page = await browser.openPage(url, { width: 390, theme: "dark" });

import { afterAll } from "bun:test";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page as PlaywrightPage } from "../tools/browser/node_modules/playwright-core";
import { chromium } from "../tools/browser/node_modules/playwright-core";
import { findChromium } from "./chromium.ts";

export interface PageOptions {
  /** In CSS pixels: 1440 is a desktop, 390 a phone. */
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
  readonly reducedMotion?: boolean;
}

export interface TestPage extends AsyncDisposable {
  /** Playwright's page: `page.click`, `page.keyboard`, `page.getByRole` … */
  readonly page: PlaywrightPage;
  /** Messages of the console and uncaught errors, and requests that failed or were refused by a policy. */
  readonly problems: readonly string[];
  /** Fails when axe finds a serious or critical violation of WCAG 2.2 A and AA. */
  checkAccessibility(): Promise<void>;
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
const seriousImpacts = new Set(["serious", "critical"]);

export async function startBrowser(): Promise<TestBrowser> {
  const { executable, environment } = await findChromium();
  const browser = await chromium.launch({
    executablePath: executable,
    env: environment,
    // Containers often lack the privileges of the sandbox; the tests open pages of their own only.
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  return {
    async openPage(
      url,
      { width = 1_440, height = width < 600 ? 844 : 900, theme = "light", reducedMotion = true } = {},
    ) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        reducedMotion: reducedMotion ? "reduce" : "no-preference",
        hasTouch: width < 600,
        permissions: ["clipboard-read", "clipboard-write"],
      });
      const page = await context.newPage();
      const problems: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
      });
      page.on("pageerror", (error) => problems.push(String(error)));
      page.on("requestfailed", (request) => problems.push(`${request.url()}: ${request.failure()?.errorText}`));
      await page.goto(url, { waitUntil: "load" });
      return {
        page,
        problems,
        async checkAccessibility() {
          const violations = (await findViolations(page)).filter(({ impact }) => seriousImpacts.has(impact ?? ""));
          if (violations.length > 0) throw new Error(`${page.url()}\n${violations.map(describe).join("\n")}`);
        },
        async screenshot(file, part = "whole") {
          mkdirSync(dirname(file), { recursive: true });
          await page.screenshot({ path: file, fullPage: part === "whole" });
        },
        [Symbol.asyncDispose]: () => context.close(),
      };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** The browser of all tests of a file: it closes after the last one. */
export async function sharedBrowser(): Promise<TestBrowser> {
  const browser = await startBrowser();
  afterAll(() => browser[Symbol.asyncDispose]());
  return browser;
}

async function findViolations(page: PlaywrightPage): Promise<readonly AxeViolation[]> {
  // Not as an element of the page: a strict policy would refuse it.
  await page.evaluate(await Bun.file(axeFile).text());
  const options = { runOnly: { type: "tag", values: axeTags }, resultTypes: ["violations"] };
  return (await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )) as readonly AxeViolation[];
}

function describe({ id, impact, help, nodes }: AxeViolation): string {
  const places = nodes.slice(0, 5).map(({ target, failureSummary }) => `  ${target.join(" ")}: ${failureSummary}`);
  return `${id} (${impact}): ${help}\n${places.join("\n")}`;
}
