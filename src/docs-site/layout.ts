// The frame of every page: header, navigation, contents of the page, previous and next page.

import { type Html, html, nothing } from "./html.ts";
import type { Heading, RenderedMarkdown } from "./markdown.ts";

/** Pages without headings have no contents. */
export interface PageFrame extends Omit<RenderedMarkdown, "sections"> {
  readonly menu: readonly MenuSection[];
  /** The menu's link of the page itself; absent for the home page. */
  readonly current: string | null;
  readonly area: "guides" | "api";
  readonly previous: MenuLink | null;
  readonly next: MenuLink | null;
  readonly links: FrameLinks;
  readonly version: string;
  readonly isHome: boolean;
}

/** Addresses relative to the page, so that the site works under any prefix. */
export interface FrameLinks {
  readonly home: string;
  readonly api: string;
  readonly style: string;
  readonly themeScript: string;
  readonly siteScript: string;
  readonly searchIndex: string;
  readonly icon: string;
  /** The address to which paths of the search index are added. */
  readonly root: string;
}

export interface MenuSection {
  readonly title: string;
  readonly links: readonly MenuLink[];
}

export interface MenuLink {
  readonly href: string;
  readonly title: string | Html;
  /** The name of the page. */
  readonly page: string;
}

export function renderFrame(frame: PageFrame): string {
  const { title, summary, links, area, isHome } = frame;
  const fullTitle = isHome ? "Switchyard documentation" : `${title} · Switchyard`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${fullTitle}</title>
<meta name="description" content="${shorten(summary)}">
<meta name="color-scheme" content="light dark">
<link rel="icon" type="image/svg+xml" href="${links.icon}">
<link rel="stylesheet" href="${links.style}">
<script src="${links.themeScript}"></script>
<script type="module" src="${links.siteScript}"></script>
</head>
<body data-root="${links.root}" data-search-index="${links.searchIndex}" class="${isHome ? "home" : area}">
<a class="skip" href="#site-content">Skip to content</a>
<header class="top">
<button class="icon menu-button" type="button" popovertarget="site-menu" aria-label="Menu"><svg viewBox="0 0 20 20" aria-hidden="true"><path d="M3 5h14M3 10h14M3 15h14"/></svg></button>
<a class="brand" href="${links.home}">${logo}<span>Switchyard</span> <small>${frame.version}</small></a>
<nav class="areas" aria-label="Areas"><a href="${links.home}"${area === "guides" ? html` aria-current="true"` : nothing}>Guides</a><a href="${links.api}"${area === "api" ? html` aria-current="true"` : nothing}>API reference</a></nav>
<button class="search-button" type="button" data-search hidden><svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="9" cy="9" r="5.5"/><path d="m13 13 4 4"/></svg><span>Search</span><kbd>/</kbd></button>
<button class="icon" type="button" data-theme-toggle hidden aria-label="Change between light and dark"><svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="6.5"/><path class="fill" d="M10 3.5a6.5 6.5 0 0 1 0 13z"/></svg></button>
</header>
<div class="page">
<nav class="menu" id="site-menu" popover aria-label="Pages">${renderMenu(frame)}</nav>
<main id="site-content" tabindex="-1">
<article>
<h1>${title}</h1>
${frame.headings.length > 1 ? renderShortContents(frame.headings) : nothing}
${frame.content}
</article>
${renderNeighbours(frame)}
</main>
${frame.headings.length > 1 ? html`<nav class="contents" aria-label="On this page"><p>On this page</p>${renderContents(frame.headings)}</nav>` : nothing}
</div>
</body>
</html>
`.text;
}

const logo = html`<svg class="logo" viewBox="0 0 20 24" aria-hidden="true"><path d="M4 21V3M4 16c0-5 10-4 10-10V3"/><circle cx="14" cy="20" r="2"/></svg>`;

function renderMenu({ menu, current, links, area }: PageFrame): Html {
  return html`<div class="menu-inner">
<p class="menu-areas"><a href="${links.home}"${area === "guides" ? html` aria-current="true"` : nothing}>Guides</a><a href="${links.api}"${area === "api" ? html` aria-current="true"` : nothing}>API reference</a></p>
${menu.map(
  ({ title, links: shown }) => html`<h2>${title}</h2>
<ul>${shown.map(
    (link) =>
      html`<li><a href="${link.href}"${link.page === current ? html` aria-current="page"` : nothing}>${link.title}</a></li>`,
  )}</ul>`,
)}</div>`;
}

function renderShortContents(headings: readonly Heading[]): Html {
  return html`<details class="short-contents"><summary>On this page</summary>${renderContents(headings)}</details>`;
}

function renderContents(headings: readonly Heading[]): Html {
  return html`<ul>${headings
    .filter(({ depth }) => depth <= 3)
    .map(({ id, text, depth }) => html`<li class="depth-${depth}"><a href="#${id}">${text}</a></li>`)}</ul>`;
}

function renderNeighbours({ previous, next }: PageFrame): Html {
  if (previous === null && next === null) return nothing;
  return html`<nav class="neighbours" aria-label="Previous and next page">
${previous === null ? html`<span></span>` : html`<a rel="prev" href="${previous.href}"><small>Previous</small>${previous.title}</a>`}
${next === null ? nothing : html`<a rel="next" href="${next.href}"><small>Next</small>${next.title}</a>`}
</nav>`;
}

const maxSummaryLength = 160;

function shorten(text: string): string {
  if (text.length <= maxSummaryLength) return text;
  return `${text.slice(0, text.lastIndexOf(" ", maxSummaryLength))} …`;
}
