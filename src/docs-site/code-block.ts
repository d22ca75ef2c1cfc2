// A block of code with its title. The script of the site adds the button that copies it.

import { type Highlight, languageTitle } from "./highlight.ts";
import { type Html, html } from "./html.ts";

interface CodeBlock {
  readonly code: string;
  readonly language: string;
  readonly highlight: Highlight;
  /** Instead of the name of the language. */
  readonly title?: string;
}

export function renderCode({ code, language, highlight, title }: CodeBlock): Html {
  const caption = title ?? languageTitle(language);
  const name = caption === "" ? "Text" : caption;
  return html`<figure class="code"><figcaption>${name}</figcaption><pre tabindex="0" role="group" aria-label="${name}"><code>${highlight(code.trimEnd(), language)}</code></pre></figure>
`;
}
