// HTML templates: every value is escaped, unless it is the result of another template.

import { lookUp } from "../lib/look-up.ts";

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | readonly Part[];

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, index) => `${text}${toText(parts[index - 1] ?? "")}${string}`));
}

export const nothing = new Html("");

function toText(part: Part): string {
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(toText).join("");
  return escapeHtml(String(part));
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => lookUp(entities, character) ?? character);
}

/** Text in which `backticks` mark code. */
export function prose(text: string): Html {
  return new Html(escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>"));
}
