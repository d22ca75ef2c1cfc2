// Markdown of a model as elements. The text is split into tokens, and only the elements below are made of them: HTML in the text stays text,
// links lead to web and mail addresses only, and pictures are shown only when they are a part of the text.

import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { memo, type ReactNode } from "react";
import { CopyButton } from "../components/copy-button.tsx";

/** Beyond this size, or depth, splitting takes too long and the text is shown as it is. */
const maxLength = 200_000;
const maxDepth = 24;

export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  return <div className="markdown">{render(text)}</div>;
});

function render(text: string): ReactNode {
  if (text.length > maxLength) return <p className="markdown-plain">{text}</p>;
  try {
    return toNodes(lexer(text, { gfm: true, breaks: true }), 0);
  } catch {
    // Nested too deeply.
    return <p className="markdown-plain">{text}</p>;
  }
}

function toNodes(tokens: readonly Token[] | undefined, depth: number): ReactNode[] {
  if (depth > maxDepth) return (tokens ?? []).map(({ raw }) => raw);
  // The order of tokens is all that they have: texts grow at the end.
  // biome-ignore lint/suspicious/noArrayIndexKey: see above
  return (tokens ?? []).map((token, index) => <Node key={index} token={token as MarkedToken} depth={depth + 1} />);
}

function Node({ token, depth }: { readonly token: MarkedToken; readonly depth: number }): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      // Below the headings of the page.
      const Heading = token.depth <= 2 ? "h3" : token.depth === 3 ? "h4" : "h5";
      return <Heading>{toNodes(token.tokens, depth)}</Heading>;
    }
    case "paragraph":
      return <p>{toNodes(token.tokens, depth)}</p>;
    case "text":
      return token.tokens === undefined ? decodeEntities(token.text) : toNodes(token.tokens, depth);
    case "escape":
      return token.text;
    case "strong":
      return <strong>{toNodes(token.tokens, depth)}</strong>;
    case "em":
      return <em>{toNodes(token.tokens, depth)}</em>;
    case "del":
      return <del>{toNodes(token.tokens, depth)}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "hr":
      return <hr />;
    case "code":
      return <CodeBlock token={token} />;
    case "blockquote":
      return <blockquote>{toNodes(token.tokens, depth)}</blockquote>;
    case "list":
      return <List token={token} depth={depth} />;
    case "checkbox":
      return <input type="checkbox" checked={token.checked} disabled aria-label="Done" />;
    case "table":
      return <Table token={token} depth={depth} />;
    case "link":
      return <Link token={token} depth={depth} />;
    case "image":
      return <Picture token={token} />;
    default:
      return token.raw;
  }
}

function CodeBlock({ token: { text, lang } }: { readonly token: Tokens.Code }) {
  return (
    <div className="markdown-code">
      <div className="markdown-code-head">
        <span>{lang?.split(/\s/, 1)[0] ?? ""}</span>
        <CopyButton text={text} label="Copy the code" />
      </div>
      {/* A part that scrolls has to be reachable with the keyboard. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
}

function List({ token: { ordered, start, items }, depth }: { readonly token: Tokens.List; readonly depth: number }) {
  const children = items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items have nothing but their order
    <li key={index}>{toNodes(item.tokens, depth)}</li>
  ));
  if (!ordered) return <ul>{children}</ul>;
  return <ol start={start === "" ? 1 : start}>{children}</ol>;
}

function Table({ token: { header, rows }, depth }: { readonly token: Tokens.Table; readonly depth: number }) {
  const toCells = (cells: readonly Tokens.TableCell[], Cell: "th" | "td") =>
    cells.map(({ tokens, align }, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: cells have nothing but their order
      <Cell key={index} style={{ textAlign: align ?? undefined }}>
        {toNodes(tokens, depth)}
      </Cell>
    ));
  return (
    <div className="markdown-table" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>{toCells(header, "th")}</tr>
        </thead>
        <tbody>
          {rows.map((cells, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have nothing but their order
            <tr key={index}>{toCells(cells, "td")}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Link({ token, depth }: { readonly token: Tokens.Link; readonly depth: number }) {
  const children = toNodes(token.tokens, depth);
  const address = toSafeAddress(token.autolink === true ? token.href : decodeEntities(token.href));
  if (address === null) return <>{children}</>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

/** Null: not the address of a web page or a mailbox. */
function toSafeAddress(href: string): string | null {
  const url = URL.parse(href);
  return url !== null && ["https:", "http:", "mailto:"].includes(url.protocol) ? url.href : null;
}

/** A picture from elsewhere would tell its host what the conversation contains. */
function Picture({ token: { href, text, raw } }: { readonly token: Tokens.Image }) {
  if (/^data:image\/(?:png|jpeg|gif|webp);base64,/.test(href)) return <img src={href} alt={text} />;
  return raw;
}

const namedEntities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return namedEntities[name] ?? whole;
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
