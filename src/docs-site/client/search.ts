// Search over all pages: a dialog that opens with `/` or Ctrl+K and works by keyboard. The index is loaded when it is first opened.

import MiniSearch from "minisearch";
import type { SearchEntry } from "../search-entry.ts";

interface Found {
  readonly url: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
  readonly terms: readonly string[];
}

type Search = (query: string) => Found[];

const maxResults = 12;
const excerptLength = 130;
/** Shorter words are compared exactly: with one wrong letter, they would match too much. */
const minFuzzyLength = 5;

export function openSearch(): void {
  const button = document.querySelector<HTMLButtonElement>("[data-search]");
  if (button === null) return;
  button.hidden = false;
  const dialog = createDialog();
  document.body.append(dialog.element);
  button.addEventListener("click", dialog.open);
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select") !== null;
    const isShortcut = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
    if (!isShortcut && (event.key !== "/" || isTyping)) return;
    event.preventDefault();
    dialog.open();
  });
}

function createDialog() {
  const element = document.createElement("dialog");
  element.className = "search";
  element.setAttribute("aria-label", "Search the documentation");
  const input = document.createElement("input");
  // Not a search field: there, Escape empties the field before it closes the dialog.
  input.type = "text";
  input.placeholder = "Search the documentation";
  setAttributes(input, {
    "aria-label": "Search the documentation",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "search-results",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
  });
  const list = document.createElement("div");
  setAttributes(list, { id: "search-results", role: "listbox", "aria-label": "Results" });
  const message = document.createElement("p");
  message.setAttribute("role", "status");
  const hint = document.createElement("footer");
  hint.textContent = "↑ ↓ to choose, Enter to open, Esc to close";
  element.append(input, message, list, hint);

  let search: Promise<Search> | undefined;
  let selected = -1;

  async function show(): Promise<void> {
    const query = input.value.trim();
    search ??= loadIndex();
    let find: Search;
    try {
      find = await search;
    } catch {
      search = undefined;
      message.textContent = "The search index could not be loaded.";
      return;
    }
    // Another letter was typed meanwhile.
    if (query !== input.value.trim()) return;
    const found = query === "" ? [] : find(query);
    list.replaceChildren(...found.map(toItem));
    message.textContent = query === "" ? "" : found.length === 0 ? `Nothing found for “${query}”.` : "";
    select(found.length > 0 ? 0 : -1);
  }

  function select(index: number): void {
    const items = [...list.children];
    selected = items.length === 0 ? -1 : (index + items.length) % items.length;
    for (const [position, item] of items.entries()) item.setAttribute("aria-selected", String(position === selected));
    const item = items[selected];
    if (item === undefined) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", item.id);
    item?.scrollIntoView({ block: "nearest" });
  }

  input.addEventListener("input", () => void show());
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") select(selected + 1);
    else if (event.key === "ArrowUp") select(selected - 1);
    else if (event.key === "Enter") (list.children[selected] as HTMLElement | undefined)?.click();
    else return;
    event.preventDefault();
  });
  // A click on the backdrop is a click on the dialog itself.
  element.addEventListener("click", (event) => {
    if (event.target === element) element.close();
    if (event.target instanceof Element && event.target.closest("a") !== null) element.close();
  });

  return {
    element,
    open(): void {
      if (element.open) return;
      element.showModal();
      input.select();
      void show();
    },
  };
}

async function loadIndex(): Promise<Search> {
  const { searchIndex = "", root = "" } = document.body.dataset;
  const response = await fetch(searchIndex);
  if (!response.ok) throw new Error(`The search index answered ${response.status}.`);
  const entries = (await response.json()) as SearchEntry[];
  const index = new MiniSearch<SearchEntry>({
    fields: ["heading", "page", "text"],
    storeFields: ["url", "page", "heading", "text"],
    searchOptions: {
      boost: { heading: 4, page: 2 },
      prefix: true,
      fuzzy: (term) => (term.length < minFuzzyLength ? false : 0.2),
      combineWith: "AND",
    },
  });
  index.addAll(entries);
  return (query) =>
    index
      .search(query)
      .slice(0, maxResults)
      .map((result) => ({
        url: `${root}/${String(result["url"])}`,
        page: String(result["page"]),
        heading: String(result["heading"]),
        text: String(result["text"]),
        terms: result.terms,
      }));
}

function toItem({ url, page, heading, text, terms }: Found, index: number): HTMLElement {
  const link = document.createElement("a");
  setAttributes(link, { role: "option", id: `search-result-${index}` });
  link.href = url;
  link.tabIndex = -1;
  const title = document.createElement("b");
  title.textContent = heading;
  const place = document.createElement("span");
  place.textContent = page === heading ? "" : page;
  const excerpt = document.createElement("small");
  excerpt.append(...toExcerpt(text, terms));
  link.append(title, place, excerpt);
  return link;
}

/** The text around the first word that was found, with the words marked. */
function toExcerpt(text: string, terms: readonly string[]): (string | HTMLElement)[] {
  const pattern = new RegExp(`(${terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
  const first = Math.max(0, text.search(pattern));
  const start = first < excerptLength / 2 ? 0 : text.indexOf(" ", first - excerptLength / 2) + 1;
  const shown = `${start === 0 ? "" : "… "}${text.slice(start, start + excerptLength)}`;
  return shown.split(pattern).map((part, index) => {
    if (index % 2 === 0) return part;
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
}

function setAttributes(element: Element, attributes: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}
