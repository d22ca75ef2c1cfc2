// Every page of the documentation site, checked by axe. browser.slow.test.ts checks one page of each kind at two widths, with menu and dialogs.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { buildSite } from "../../src/docs-site/site.ts";
import { buildOpenApi } from "../../src/http/openapi/build-openapi.ts";
import { listAllRoutes } from "../support/all-routes.ts";
import { sharedBrowser, type TestPage } from "../support/browser.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { pageOfEachKind } from "./page-kinds.ts";

/** The class of the body decides how the content of a page is laid out. */
const layouts = ["guides", "api"] as const;

test("no page has a serious finding of axe", async () => {
  const root = join(import.meta.dir, "../..");
  const site = await buildSite({ root, openApi: buildOpenApi(listAllRoutes()), target: "gateway" });
  const pages = site.filter(({ contentType, path }) => contentType.startsWith("text/html") && path !== "404");
  expect(pages.length).toBeGreaterThan(100);

  const gateway = await sharedGateway();
  const browser = await sharedBrowser();
  await using opened = await browser.openPage(`${gateway.url}/docs`);
  const checked = new Set(pageOfEachKind.map((path) => `/docs${path}`));
  const findings: string[] = [];
  for (const layout of layouts) {
    const urls = pages.filter(({ text }) => text.includes(` class="${layout}">`)).map(({ url }) => url);
    expect(urls.length).toBeGreaterThan(10);
    await opened.page.goto(`${gateway.url}${urls[0]}`);
    for (const url of urls) {
      if (checked.has(url)) continue;
      checked.add(url);
      await showContent(opened, url);
      await opened.checkAccessibility("main").catch((error: Error) => findings.push(`${url}: ${error.message}`));
    }
  }
  expect(findings).toEqual([]);
  expect(opened.problems).toEqual([]);
  expect(pages.map(({ url }) => url).filter((url) => !checked.has(url))).toEqual([]);
}, 1_500_000);

/** Puts the content of another page between the header and the footer of this one. Loading each page, and axe again, would take as long as the checks. */
async function showContent({ page }: TestPage, url: string): Promise<void> {
  await page.evaluate(`(async () => {
    const response = await fetch(${JSON.stringify(url)});
    const other = new DOMParser().parseFromString(await response.text(), "text/html");
    document.querySelector("main").replaceWith(document.adoptNode(other.querySelector("main")));
  })()`);
}
