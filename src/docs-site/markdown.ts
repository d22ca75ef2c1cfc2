// Renders a page of Markdown: its HTML, its headings, and its text in sections for the search.

import { Marked, type Token, type Tokens } from "marked";
import { renderCode } from "./code-block.ts";
import type { Highlight } from "./highlight.ts";
import { escapeHtml, Html, html } from "./html.ts";

export interface RenderedMarkdown {
  /** The text of the first heading, which `content` leaves out. */
  readonly title: string;
  /** The first paragraph as plain text. */
  readonly summary: string;
  readonly content: Html;
  readonly headings: readonly Heading[];
  readonly sections: readonly TextSection[];
}

export interface Heading {
  readonly depth: number;
  readonly id: string;
  readonly text: string;
}

/** The text from one heading to the next. Without an id: from the top of the page. */
export interface TextSection {
  readonly id: string | null;
  readonly heading: string;
  readonly text: string;
}

export interface MarkdownOptions {
  readonly highlight: Highlight;
  /** The address of a relative link on the site; null when the site has no such page. */
  readonly resolveLink: (href: string) => string | null;
}

export function renderMarkdown(text: string, options: MarkdownOptions): RenderedMarkdown {
  const headings: Heading[] = [];
  const marked = createMarked(options, headings);
  const [first, ...rest] = marked.lexer(text).filter(({ type }) => type !== "space");
  if (first === undefined || !isHeading(first)) throw new Error("A page begins with its title.");
  const summary = rest.find(({ type }) => type === "paragraph");
  // `parser` fills `headings` in the order of the page.
  const content = new Html(marked.parser(rest));
  return {
    title: toPlainText([first]),
    summary: summary === undefined ? "" : toPlainText([summary]),
    content,
    headings,
    sections: splitIntoSections(toPlainText([first]), rest, headings),
  };
}

function createMarked({ highlight, resolveLink }: MarkdownOptions, headings: Heading[]): Marked {
  const toId = createIds();
  return new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }) {
        const text = toPlainText(tokens);
        const id = toId(text);
        headings.push({ depth, id, text });
        const content = new Html(this.parser.parseInline(tokens));
        return html`<h${depth} id="${id}">${content}<a class="anchor" href="#${id}" aria-label="Link to this section: ${text}">#</a></h${depth}>\n`
          .text;
      },
      code({ text, lang = "" }) {
        const [language = ""] = lang.split(/\s/);
        return renderCode({ code: text, language, highlight }).text;
      },
      link({ href, title, tokens }) {
        const content = new Html(this.parser.parseInline(tokens));
        const target = resolveLink(href);
        if (target === null) return content.text;
        const tooltip = title ? html` title="${title}"` : "";
        return html`<a href="${target}"${tooltip}>${content}</a>`.text;
      },
      table({ header, rows }) {
        const cells = (row: Tokens.TableCell[], tag: string, scope: string) =>
          row.map((cell) => `<${tag}${scope}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("");
        const body = rows.map((row) => `<tr>${cells(row, "td", "")}</tr>`).join("\n");
        // Wide tables scroll by themselves; the focus lets a keyboard scroll them.
        return (
          `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${cells(header, "th", ' scope="col"')}</tr></thead>` +
          `<tbody>\n${body}\n</tbody></table></div>\n`
        );
      },
      blockquote({ tokens, text }) {
        const [, kind] = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]/.exec(text) ?? [];
        const inner = this.parser.parse(tokens);
        if (kind === undefined) return `<blockquote>${inner}</blockquote>\n`;
        const title = `${kind.charAt(0)}${kind.slice(1).toLowerCase()}`;
        const content = inner.replace(/\[!\w+\]\s*(?:<br>)?\s*/, "");
        return `<aside class="callout ${kind.toLowerCase()}" aria-label="${title}"><b>${title}</b>${content}</aside>\n`;
      },
      // Comments mark generated parts; no page has other HTML.
      html: ({ text }) => (text.trimStart().startsWith("<!--") ? "" : escapeHtml(text)),
    },
  });
}

/** As GitHub makes them, so that the same link works in the repository and on the site. */
function createIds(): (text: string) => string {
  const used = new Map<string, number>();
  return (text) => {
    const id = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    const count = used.get(id) ?? 0;
    used.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  };
}

function splitIntoSections(title: string, tokens: readonly Token[], headings: readonly Heading[]): TextSection[] {
  const sections: { id: string | null; heading: string; texts: string[] }[] = [{ id: null, heading: title, texts: [] }];
  let passed = 0;
  for (const token of tokens) {
    const heading = isHeading(token) ? headings[passed++] : undefined;
    if (heading === undefined) sections.at(-1)?.texts.push(toPlainText([token]));
    else sections.push({ id: heading.id, heading: heading.text, texts: [] });
  }
  return sections.map(({ id, heading, texts }) => ({ id, heading, text: texts.join(" ").replace(/\s+/g, " ").trim() }));
}

function toPlainText(tokens: readonly Token[]): string {
  return tokens.map(toText).join("");
}

function toText(token: Token): string {
  if (isTable(token))
    return [token.header, ...token.rows].map((row) => row.map(({ tokens }) => toPlainText(tokens)).join(" ")).join(" ");
  if (isList(token)) return token.items.map(({ tokens }) => toPlainText(tokens)).join(" ");
  if (token.type === "html" || token.type === "space") return "";
  if ("tokens" in token && token.tokens !== undefined) return toPlainText(token.tokens);
  return "text" in token ? unescapeHtml(String(token.text)) : " ";
}

const characters = new Map([
  ["&amp;", "&"],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", '"'],
  ["&#39;", "'"],
]);

function unescapeHtml(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => characters.get(entity) ?? entity);
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === "heading";
const isTable = (token: Token): token is Tokens.Table => token.type === "table";
const isList = (token: Token): token is Tokens.List => token.type === "list";
