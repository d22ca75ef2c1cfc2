// The documentation site: every page of the repository is on it, every link leads somewhere, and data is escaped.

import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { createHighlighter } from "../../src/docs-site/highlight.ts";
import { html, prose } from "../../src/docs-site/html.ts";
import { renderMarkdown } from "../../src/docs-site/markdown.ts";
import { homePage, navigation } from "../../src/docs-site/navigation.ts";
import { buildSite, readSources, type SiteFile } from "../../src/docs-site/site.ts";
import { errorCatalogue } from "../../src/errors.ts";
import { buildOpenApi } from "../../src/http/openapi/build-openapi.ts";
import { listAllRoutes } from "../support/all-routes.ts";

const root = join(import.meta.dir, "../..");
const sources = readSources(root);
const routes = listAllRoutes();
const openApi = buildOpenApi(routes);
const sites = {
  gateway: await buildSite({ root, openApi, target: "gateway" }),
  static: await buildSite({ root, openApi, target: "static" }),
};

const pagesOf = (files: readonly SiteFile[]) => files.filter(({ contentType }) => contentType.startsWith("text/html"));
const idsOf = ({ text }: SiteFile) => Array.from(text.matchAll(/\sid="([^"]*)"/g), ([, id = ""]) => id);
const decode = (text: string) => text.replaceAll("&amp;", "&").replaceAll("&#39;", "'").replaceAll("&quot;", '"');

test("every page of docs/ is in one section of the menu", () => {
  const listed = navigation.flatMap(({ pages }) => pages);
  expect(new Set(listed).size).toBe(listed.length);
  // The home page and the overview of the API are linked in the header; the page of decisions lists its own.
  const elsewhere = new Set([homePage, "api"]);
  const missing = sources
    .map(({ name }) => name)
    .filter((name) => !listed.includes(name) && !elsewhere.has(name) && !name.startsWith("decisions/"));
  expect(missing).toEqual([]);
});

test("every page that the home page names exists", () => {
  const home = sources.find(({ name }) => name === homePage);
  const linked = Array.from(home?.text.matchAll(/\]\(([\w-]+)\.md\)/g) ?? [], ([, name = ""]) => name);
  expect(linked.length).toBeGreaterThan(20);
  for (const name of linked) expect(sources.map((source) => source.name)).toContain(name);
});

test("every relative link of a page leads to a file of the repository", () => {
  for (const { file, text } of sources) {
    const withoutCode = text.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "");
    for (const [, target = ""] of withoutCode.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g))
      expect([file, target, existsSync(join(root, dirname(file), target))]).toEqual([file, target, true]);
  }
});

describe.each(["gateway", "static"] as const)("the %s site", (target) => {
  const files = sites[target];
  const byUrl = new Map(files.map((file) => [file.url, file]));

  test("leads from every page to the first one", () => {
    const first = files.find(({ path }) => path === "")?.url;
    for (const { url, path, text } of pagesOf(files).filter((page) => page.path !== "")) {
      const targets = Array.from(text.matchAll(/\shref="([^"#]+)"/g), ([, address = ""]) =>
        posix.join(posix.dirname(url), decode(address)),
      );
      expect([path, targets.includes(first ?? "")]).toEqual([path, true]);
    }
  });

  test("has no broken link, also to parts of pages, and loads nothing from elsewhere", () => {
    let links = 0;
    for (const page of pagesOf(files)) {
      for (const [, attribute = "", raw = ""] of page.text.matchAll(/\s(href|src)="([^"]*)"/g)) {
        const address = decode(raw);
        if (/^[a-z]+:/i.test(address)) {
          expect([page.url, attribute, address.startsWith("http")]).toEqual([page.url, "href", true]);
          continue;
        }
        const [path = "", anchor] = address.split("#", 2);
        const url = path === "" ? page.url : posix.join(posix.dirname(page.url), path);
        const found = byUrl.get(url);
        expect([page.url, address, found !== undefined]).toEqual([page.url, address, true]);
        if (anchor !== undefined && found !== undefined)
          expect([page.url, address, idsOf(found).includes(decodeURIComponent(anchor))]).toEqual([
            page.url,
            address,
            true,
          ]);
        links += 1;
      }
    }
    expect(links).toBeGreaterThan(2_000);
  });

  test("has no two elements with one id, one main heading, and nothing that a strict policy refuses", () => {
    for (const page of pagesOf(files)) {
      const ids = idsOf(page);
      expect([page.url, ids.filter((id, index) => ids.indexOf(id) !== index)]).toEqual([page.url, []]);
      expect([page.url, page.text.match(/<h1/g)?.length]).toEqual([page.url, 1]);
      const tags = page.text.match(/<[a-z][^>]*>/gi) ?? [];
      const inline = tags.filter((tag) =>
        /^<style|\son\w+="|\sstyle="|="javascript:|^<script(?![^>]*\ssrc=)/i.test(tag),
      );
      expect([page.url, inline]).toEqual([page.url, []]);
    }
  });

  test("finds every page with the search", () => {
    const index = JSON.parse(files.find(({ path }) => path === "assets/search.json")?.text ?? "[]") as {
      url: string;
    }[];
    const found = new Set(index.map(({ url }) => `/${url.split("#")[0]}`));
    for (const { url, path } of pagesOf(files))
      if (path !== "404" && path !== "decisions") expect(found).toContain(url);
  });
});

test("each guide leads to the one before and the one after it in the menu", () => {
  const names = navigation.flatMap(({ pages }) => pages);
  const [before, page, after] = names.slice(1, 4);
  const text = sites.gateway.find(({ path }) => path === page)?.text ?? "";
  const leadsTo = (relation: string) => new RegExp(`<a rel="${relation}" href="([^"]+)"`).exec(text)?.[1];
  expect([leadsTo("prev"), leadsTo("next")]).toEqual([before, after]);
});

test("the menu marks the area and the page that are open", () => {
  const markedIn = (path: string) => {
    const text = sites.static.find((file) => file.path === path)?.text ?? "";
    return [...text.matchAll(/<a [^>]*aria-current="(\w+)"[^>]*>([^<]*)/g)].map(([, kind, title]) => [kind, title]);
  };
  expect(markedIn("api/errors")).toContainEqual(["true", "API reference"]);
  expect(markedIn("api/errors")).not.toContainEqual(["true", "Guides"]);
  expect(markedIn(navigation[0]?.pages[1] ?? "")).toContainEqual(["true", "Guides"]);
});

test("pages can be tried only where a gateway serves them", () => {
  const chat = (target: keyof typeof sites) => sites[target].find(({ path }) => path === "api/chat")?.text ?? "";
  expect(chat("gateway")).toContain('data-path="/v3/chat/completions"');
  expect(chat("static")).not.toContain("data-path");
});

describe("the API reference", () => {
  const pages = new Map(sites.gateway.map((file) => [file.path, file]));

  test("has a section for every route, with examples in three languages", () => {
    for (const { id, tag, summary } of routes) {
      const page = pages.get(`api/${tag.toLowerCase()}`)?.text ?? "";
      const section = page.slice(page.indexOf(`<section class="operation" id="${id}"`));
      expect([id, section.includes(html`${summary}`.text)]).toEqual([id, true]);
      for (const label of ["curl", "TypeScript", "Python"])
        expect([id, section.includes(`<figcaption>${label}</figcaption>`)]).toEqual([id, true]);
    }
  });

  test("shows what an operation answers apart from its errors", () => {
    const chat = pages.get("api/chat")?.text ?? "";
    const [answers = "", errors = ""] = chat
      .slice(chat.indexOf("<h3>Answers</h3>"), chat.indexOf('<div class="samples">'))
      .split('<details class="errors">');
    const statusesOf = (part: string) => [...part.matchAll(/<b>(\d{3})<\/b>/g)].map(([, status]) => Number(status));
    expect(statusesOf(answers)).toEqual([200]);
    expect(statusesOf(errors)).toContain(400);
    expect(statusesOf(errors).every((status) => status >= 400)).toBe(true);
  });

  test("has every error code", () => {
    const ids = idsOf(pages.get("api/errors") as SiteFile);
    for (const code of Object.keys(errorCatalogue)) expect(ids).toContain(code);
  });

  test("says nothing about the operator's aliases", async () => {
    const secret = buildOpenApi(listAllRoutes(new Set(["secret-project"])));
    const files = await buildSite({ root, openApi: secret, target: "gateway" });
    expect(files.some(({ text }) => text.includes("secret-project"))).toBe(false);
  });
});

describe("Markdown", () => {
  const render = (text: string) =>
    renderMarkdown(text, { highlight: createHighlighter(), resolveLink: (href) => (href === "gone.md" ? null : href) });

  test("headings have the ids that GitHub gives them, and repeated ones a number", () => {
    const { title, headings } = render("# The `title`\n\n## A `b_c`, d & e\n\n## Twice\n\n### Twice\n");
    expect(title).toBe("The title");
    expect(headings.map(({ id }) => id)).toEqual(["a-b_c-d--e", "twice", "twice-1"]);
  });

  test("HTML and code of a page are shown, never executed", () => {
    const attack = '<img src=x onerror="alert(1)">';
    const { content } = render(
      `# T\n\n${attack}\n\nInline ${attack} and \`${attack}\`\n\n\`\`\`sh\n${attack}\n\`\`\`\n`,
    );
    expect(content.text).not.toContain("<img");
    expect(content.text).toContain("&lt;img");
  });

  test("a link without a page is text, and comments are left out", () => {
    const { content } = render("# T\n\n[source](gone.md)\n\n<!-- begin -->\n");
    expect(content.text.trim()).toBe("<p>source</p>");
  });

  test("a note is marked as one", () => {
    const { content } = render("# T\n\n> [!WARNING]\n> Keep it secret.\n");
    expect(content.text).toContain('<aside class="callout warning"');
    expect(content.text).not.toContain("[!WARNING]");
  });

  test("the text from one heading to the next is a section of the search", () => {
    const { sections, summary } = render(
      "# T\n\nFirst.\n\n## Part\n\n| a | `b` |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n",
    );
    expect(summary).toBe("First.");
    expect(sections).toEqual([
      { id: null, heading: "T", text: "First." },
      { id: "part", heading: "Part", text: "a b 1 2 one two" },
    ]);
  });
});

test("all data of the OpenAPI document is escaped", async () => {
  const attack = `<script>alert("x")</script>'&`;
  const described = {
    operationId: "attack",
    summary: attack,
    description: `${attack} \`${attack}\``,
    tags: ["Service"],
    security: [],
    parameters: [{ name: attack, in: "query", required: true, description: attack, schema: { enum: [attack, "b"] } }],
    requestBody: {
      required: true,
      content: {
        "application/json": { schema: { properties: { [attack]: { const: attack } } }, example: { [attack]: attack } },
      },
    },
    responses: { "200": { description: attack, content: { [attack]: { schema: {} } } } },
    "x-codeSamples": [{ lang: "Shell", label: attack, source: attack }],
  };
  const document = { ...openApi, paths: { [attack]: { post: described } } };
  const files = await buildSite({ root, openApi: document, target: "gateway" });
  const page = files.find(({ path }) => path === "api/service")?.text ?? "";
  expect(page).toContain("&lt;script&gt;");
  expect(page).not.toContain("<script>");
  expect(page).not.toContain('alert("x")');
  expect(prose("a `<b>` & c").text).toBe("a <code>&lt;b&gt;</code> &amp; c");
});
