// Marks the part of the page that is being read in the contents beside it, and in the menu of the API reference.

export function followContents(): void {
  const links = new Map<string, HTMLAnchorElement>();
  for (const link of document.querySelectorAll<HTMLAnchorElement>(".contents a, body.api .menu a")) {
    const url = new URL(link.href);
    if (url.pathname === location.pathname && url.hash !== "") links.set(decodeURIComponent(url.hash.slice(1)), link);
  }
  const targets = [...links.keys()].flatMap((id) => document.getElementById(id) ?? []);
  if (targets.length === 0) return;
  let current: HTMLAnchorElement | undefined;
  const mark = () => {
    const line = innerHeight / 4;
    const passed = targets.filter((target) => target.getBoundingClientRect().top <= line).at(-1) ?? targets[0];
    const link = links.get(passed?.id ?? "");
    if (link === current) return;
    current?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "location");
    current = link;
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}
