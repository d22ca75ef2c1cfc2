// Builds the documentation site: every page of docs/, the API reference, the search index, style and scripts.

import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { version } from "../version.ts";
import { type ApiPage, listApiPages, renderMethod } from "./api-reference.ts";
import { buildScript } from "./build-script.ts";
import { createHighlighter } from "./highlight.ts";
import { type Html, html } from "./html.ts";
import { type FrameLinks, type MenuSection, type PageFrame, renderFrame } from "./layout.ts";
import { type RenderedMarkdown, renderMarkdown, type TextSection } from "./markdown.ts";
import { homePage, navigation, otherSources } from "./navigation.ts";
import type { OpenApiDocument } from "./openapi.ts";
import type { SearchEntry } from "./search-entry.ts";

export interface SiteOptions {
  /** The folder that holds docs/ and README.md. */
  readonly root: string;
  readonly openApi: OpenApiDocument;
  /** `gateway`: pages are `/docs/<path>`, and operations can be tried. `static`: pages are files, `<path>.html`. */
  readonly target: "gateway" | "static";
}

export interface SiteFile {
  /** From the root of the site; empty for the home page. */
  readonly path: string;
  /** As a URL path: with the prefix of the gateway, or the ending of a file. */
  readonly url: string;
  readonly contentType: string;
  readonly text: string;
}

interface Source {
  readonly name: string;
  readonly path: string;
  /** In the repository. */
  readonly file: string;
  readonly text: string;
}

interface SitePage extends Omit<RenderedMarkdown, "content"> {
  readonly path: string;
  readonly area: PageFrame["area"];
  readonly content: Html;
}

const apiHome = "api";
const decisionsPage = "decisions";
const htmlType = "text/html; charset=utf-8";
const notFoundPath = "404";

const assets = {
  style: "assets/site.css",
  themeScript: "assets/theme.js",
  siteScript: "assets/site.js",
  searchIndex: "assets/search.json",
  icon: "assets/icon.svg",
} as const;

export async function buildSite(options: SiteOptions): Promise<SiteFile[]> {
  const toUrl = options.target === "gateway" ? toGatewayUrl : toFileUrl;
  const sources = readSources(options.root);
  const highlight = createHighlighter();
  const linkFrom = (path: string) => (target: string) => toRelative(toUrl(path), toUrl(target));

  const guides = sources.map(({ path, file, text }): SitePage => {
    const resolveLink = createLinkResolver(file, sources, linkFrom(path));
    const rendered = renderMarkdown(text, { highlight, resolveLink });
    return { ...rendered, path, area: path === apiHome ? "api" : "guides" };
  });
  const decisions = listDecisions(guides, linkFrom(decisionsPage));
  const apiPages = listApiPages(options.openApi);
  const reference = apiPages.map((page): SitePage => {
    const rendering = { highlight, linkTo: linkFrom(page.path), canTry: options.target === "gateway" };
    return { ...page, area: "api", content: page.render(rendering) };
  });
  const pages = [...guides, decisions, ...reference];
  const order = { guides: listGuides(pages), api: [apiHome, ...apiPages.map(({ path }) => path)] };

  const toHtml = (page: SitePage): SiteFile => {
    const link = linkFrom(page.path);
    const menu = page.area === "api" ? toApiMenu(apiPages, link) : toGuideMenu(pages, link);
    const [previous, next] = findNeighbours(order[page.area], page.path);
    const toLink = (path: string | undefined) => {
      const found = pages.find((one) => one.path === path);
      return found === undefined ? null : { href: link(found.path), title: found.title, page: found.path };
    };
    const text = renderFrame({
      ...page,
      menu,
      current: page.path,
      previous: toLink(previous),
      next: toLink(next),
      links: toFrameLinks(link, toUrl(page.path)),
      version,
      isHome: page.path === "",
    });
    return { path: page.path, url: toUrl(page.path), contentType: htmlType, text };
  };

  return [
    ...pages.map(toHtml),
    toHtml(notFound()),
    ...(await listAssets(toSearchIndex(pages, toUrl))).map((asset) => ({ ...asset, url: toUrl(asset.path) })),
  ];
}

function toGatewayUrl(path: string): string {
  return path === "" ? "/docs" : `/docs/${path}`;
}

function toFileUrl(path: string): string {
  if (path === "") return "/index.html";
  return path.startsWith("assets/") ? `/${path}` : `/${path}.html`;
}

function toRelative(from: string, to: string): string {
  const relative = posix.relative(posix.dirname(from), to);
  // `/docs` as seen from `/docs/routing`.
  return relative === "" ? `../${posix.basename(to)}` : relative;
}

function toFrameLinks(link: (path: string) => string, url: string): FrameLinks {
  return {
    home: link(""),
    api: link(apiHome),
    style: link(assets.style),
    themeScript: link(assets.themeScript),
    siteScript: link(assets.siteScript),
    searchIndex: link(assets.searchIndex),
    icon: link(assets.icon),
    root: posix.relative(posix.dirname(url), "/") || ".",
  };
}

/** Every page that is written in Markdown. */
export function readSources(root: string): Source[] {
  const read = (name: string, file: string): Source[] => {
    const text = readIfThere(posix.join(root, file));
    return text === null ? [] : [{ name, path: name === homePage ? "" : name, file, text }];
  };
  return [
    ...listMarkdown(posix.join(root, "docs")).flatMap((name) => read(name, `docs/${name}.md`)),
    ...listMarkdown(posix.join(root, "docs/decisions")).flatMap((name) =>
      read(`decisions/${name}`, `docs/decisions/${name}.md`),
    ),
    ...Object.entries(otherSources).flatMap(([name, file]) => read(name, file)),
  ];
}

function listMarkdown(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => name.slice(0, -".md".length))
    .toSorted();
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

const isAddress = /^(?:[a-z][a-z0-9+.-]*:|#)/i;

/** A link to a file that is no page has no address on the site. */
function createLinkResolver(file: string, sources: readonly Source[], link: (path: string) => string) {
  return (href: string): string | null => {
    if (isAddress.test(href)) return href;
    const [target = "", anchor] = href.split("#", 2);
    const found = sources.find((source) => source.file === posix.join(posix.dirname(file), target));
    const path = found?.path ?? (posix.join(posix.dirname(file), target) === "README.md" ? "" : null);
    if (path === null) return null;
    return anchor === undefined ? link(path) : `${link(path)}#${anchor}`;
  };
}

function listDecisions(guides: readonly SitePage[], link: (path: string) => string): SitePage {
  const decisions = guides.filter(({ path }) => path.startsWith(`${decisionsPage}/`));
  const summary = "Each record states a question, the choice, its reasons and its cost.";
  return {
    path: decisionsPage,
    area: "guides",
    title: "Decisions",
    summary,
    headings: [],
    sections: [],
    content: html`<p class="lead">${summary}</p>
<ul>${decisions.map(({ path, title }) => html`<li><a href="${link(path)}">${title}</a></li>`)}</ul>`,
  };
}

function notFound(): SitePage {
  return {
    path: notFoundPath,
    area: "guides",
    title: "There is no such page",
    summary: "",
    headings: [],
    sections: [],
    content: html`<p class="lead">The address is wrong, or the page has moved. The menu lists all pages, and the search finds texts in them.</p>`,
  };
}

function listGuides(pages: readonly SitePage[]): string[] {
  const listed = navigation.flatMap((section) => section.pages);
  return ["", ...listed.filter((name) => pages.some(({ path }) => path === name))];
}

function toGuideMenu(pages: readonly SitePage[], link: (path: string) => string): MenuSection[] {
  return navigation
    .map(({ title, pages: names }) => ({
      title,
      links: names.flatMap((name) => {
        const page = pages.find(({ path }) => path === name);
        return page === undefined ? [] : [{ href: link(name), title: page.title, page: name }];
      }),
    }))
    .filter(({ links }) => links.length > 0);
}

function toApiMenu(pages: readonly ApiPage[], link: (path: string) => string): MenuSection[] {
  const toLink = (path: string, title: string) => ({ href: link(path), title, page: path });
  const others = pages.filter(({ operations }) => operations.length === 0);
  return [
    {
      title: "API reference",
      links: [toLink(apiHome, "Overview"), ...others.map(({ path, title }) => toLink(path, title))],
    },
    ...pages
      .filter(({ operations }) => operations.length > 0)
      .map(({ path, title, operations }) => ({
        title,
        links: operations.map(({ id, method, summary }) => ({
          href: `${link(path)}#${id}`,
          title: html`${renderMethod(method)}${summary}`,
          page: `${path}#${id}`,
        })),
      })),
  ];
}

function findNeighbours(order: readonly string[], path: string): [string | undefined, string | undefined] {
  const index = order.indexOf(path);
  return index === -1 ? [undefined, undefined] : [order[index - 1], order[index + 1]];
}

function toSearchIndex(pages: readonly SitePage[], toUrl: (path: string) => string): SearchEntry[] {
  const entries = pages.flatMap(({ path, title, sections }) =>
    sections
      .filter(({ id, text }: TextSection) => id === null || text !== "")
      .map(({ id, heading, text }) => ({
        url: `${toUrl(path).slice(1)}${id === null ? "" : `#${id}`}`,
        page: title,
        heading,
        text,
      })),
  );
  return entries.map((entry, id) => ({ id, ...entry }));
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f5fd6"/><path d="M11 26V6M11 20c0-6 10-5 10-12V6" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/><circle cx="21" cy="24" r="2.5" fill="#fff"/></svg>`;

async function listAssets(index: readonly SearchEntry[]): Promise<Omit<SiteFile, "url">[]> {
  const script = "text/javascript; charset=utf-8";
  return [
    {
      path: assets.style,
      contentType: "text/css; charset=utf-8",
      text: readFileSync(sourceFile("client/site.css"), "utf8"),
    },
    { path: assets.themeScript, contentType: script, text: await buildScript(sourceFile("client/theme.ts")) },
    { path: assets.siteScript, contentType: script, text: await buildScript(sourceFile("client/site.ts")) },
    { path: assets.searchIndex, contentType: "application/json", text: JSON.stringify(index) },
    { path: assets.icon, contentType: "image/svg+xml", text: icon },
  ];
}

function sourceFile(name: string): string {
  return posix.join(import.meta.dir, name);
}
