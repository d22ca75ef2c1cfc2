// Colours of code blocks: spans with classes, made once when a page is rendered.

import { createRequire } from "node:module";
import { escapeHtml, Html } from "./html.ts";

/** The part of highlight.js that is used. Its own types declare the whole DOM for every file of this program. */
interface Highlighter {
  newInstance(): Highlighter;
  registerLanguage(name: string, language: unknown): void;
  getLanguage(name: string): unknown;
  highlight(code: string, options: { readonly language: string }): { readonly value: string };
}

const require = createRequire(import.meta.url);
const highlighter = require("highlight.js/lib/core") as Highlighter;

interface Language {
  readonly title: string;
  /** The name that highlight.js has for it. */
  readonly file: string;
}

/** By their names in Markdown. */
const languages = new Map<string, Language>([
  ["sh", { title: "Shell", file: "bash" }],
  ["js", { title: "JavaScript", file: "typescript" }],
  ["ts", { title: "TypeScript", file: "typescript" }],
  ["python", { title: "Python", file: "python" }],
  ["yaml", { title: "YAML", file: "yaml" }],
  ["json", { title: "JSON", file: "json" }],
  ["http", { title: "HTTP", file: "http" }],
  ["ini", { title: "INI", file: "ini" }],
  ["nginx", { title: "nginx", file: "nginx" }],
  ["sql", { title: "SQL", file: "sql" }],
]);

export type Highlight = (code: string, language: string) => Html;

export function createHighlighter(): Highlight {
  const known = highlighter.newInstance();
  for (const [name, { file }] of languages) known.registerLanguage(name, require(`highlight.js/lib/languages/${file}`));
  return (code, language) =>
    new Html(known.getLanguage(language) === undefined ? escapeHtml(code) : known.highlight(code, { language }).value);
}

/** The title of a code block. */
export function languageTitle(language: string): string {
  return languages.get(language)?.title ?? language;
}
