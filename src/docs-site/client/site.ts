// Everything on a page that needs a script. Without it the pages can be read; these parts are then hidden.

import { addCopyButtons } from "./copy.ts";
import { followContents } from "./follow-contents.ts";
import { openSearch } from "./search.ts";
import { showTabs } from "./tabs.ts";
import { prepareForms } from "./try-it.ts";

const root = document.documentElement;

function prepareThemeButton(): void {
  const button = document.querySelector<HTMLButtonElement>("[data-theme-toggle]");
  if (button === null) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const systemTheme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const theme = (root.dataset["theme"] ?? systemTheme) === "dark" ? "light" : "dark";
    root.dataset["theme"] = theme;
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // The choice then lasts for this page.
    }
  });
}

/** On a phone the menu covers the page, and a link to a part of the same page would leave it open. */
function closeMenuAfterChoice(): void {
  const menu = document.querySelector<HTMLElement>("#site-menu");
  menu?.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("a") !== null && menu.matches(":popover-open"))
      menu.hidePopover();
  });
  menu?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "center" });
  scrollTo(0, scrollY);
}

prepareThemeButton();
closeMenuAfterChoice();
showTabs();
addCopyButtons();
followContents();
openSearch();
prepareForms();
