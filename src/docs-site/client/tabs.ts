// Code samples of one operation as tabs. The choice of a language counts for all operations of the page, and for later pages.

const storageKey = "sample-language";

export function showTabs(): void {
  const groups = [...document.querySelectorAll<HTMLElement>(".tabs")];
  for (const [index, group] of groups.entries()) prepare(group, `samples-${index}`, groups);
  choose(groups, read() ?? "");
}

function prepare(group: HTMLElement, id: string, groups: readonly HTMLElement[]): void {
  const figures = [...group.querySelectorAll<HTMLElement>("figure")];
  const list = document.createElement("div");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language of the example");
  for (const [index, figure] of figures.entries()) {
    const label = figure.querySelector("figcaption")?.textContent ?? "";
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `${id}-tab-${index}`;
    tab.textContent = label;
    tab.dataset["language"] = label;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", `${id}-${index}`);
    tab.addEventListener("click", () => {
      choose(groups, label);
      store(label);
    });
    figure.id = `${id}-${index}`;
    figure.dataset["language"] = label;
    figure.setAttribute("role", "tabpanel");
    figure.setAttribute("aria-labelledby", tab.id);
    list.append(tab);
  }
  list.addEventListener("keydown", (event) => moveByKey(event, list));
  group.prepend(list);
  group.classList.add("ready");
}

/** The arrow keys choose the tab beside the current one. */
function moveByKey(event: KeyboardEvent, list: HTMLElement): void {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (step === 0) return;
  const tabs = [...list.querySelectorAll<HTMLButtonElement>("[role=tab]")];
  const current = tabs.indexOf(document.activeElement as HTMLButtonElement);
  const next = tabs[(current + step + tabs.length) % tabs.length];
  event.preventDefault();
  next?.click();
  next?.focus();
}

function choose(groups: readonly HTMLElement[], wanted: string): void {
  for (const group of groups) {
    const tabs = [...group.querySelectorAll<HTMLElement>("[role=tab]")];
    const chosen = tabs.find((tab) => tab.dataset["language"] === wanted) ?? tabs[0];
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
    }
    for (const figure of group.querySelectorAll<HTMLElement>("figure"))
      figure.hidden = figure.dataset["language"] !== chosen?.dataset["language"];
  }
}

function read(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}

function store(language: string): void {
  try {
    localStorage.setItem(storageKey, language);
  } catch {
    // The choice then lasts for this page.
  }
}
