// Languages that a person speaks, named in any of the common languages.

import { foldCase } from "../fold-case.ts";
import { nameLanguages } from "../name-languages.ts";

const codes =
  "en fr de es it pt nl pl ru uk cs sk hu ro bg el tr ar he fa hi ur bn ta te zh ja ko vi th id ms sv nb no da fi is et lv lt sl hr sr bs mk sq ca eu gl ga cy sw af tl mt lb be ka hy az kk ne pa gu mr ml kn si am so yo ig ha zu xh la gd ku ps fy br oc fo eo jv my km lo mn uz ky tg tk tt rw mg mi sm ht yi sn st tn wo lg ln qu gn".split(
    " ",
  );
/** Other names that are common in CVs. */
const others: Readonly<Record<string, string>> = {
  mandarin: "zh",
  mandarino: "zh",
  cantonese: "zh",
  castellano: "es",
  flemish: "nl",
  vlaams: "nl",
  flamand: "nl",
  farsi: "fa",
  tagalog: "tl",
  filipino: "tl",
  valenciano: "ca",
  anglais: "en",
  brasileiro: "pt",
  punjabi: "pa",
  swahili: "sw",
  moldovan: "ro",
  suahili: "sw",
};
const byName = new Map(Object.entries(others));
for (const language of [...nameLanguages, "ca"]) {
  const names = new Intl.DisplayNames([language], { type: "language" });
  for (const code of codes) {
    const name = foldCase(names.of(code) ?? "");
    // Names of several words are not found word by word.
    if (/^\p{L}{3,}$/u.test(name) && !byName.has(name)) byName.set(name, code === "nb" ? "no" : code);
  }
}

/** Each language once, with its name as printed. Levels are ignored, because the answer has no member for them. */
export function findLanguages(lines: readonly string[]): { name: string; code: string }[] {
  const found = new Map<string, string>();
  for (const line of lines)
    for (const [word] of line.matchAll(/\p{L}{3,}/gu)) {
      const code = byName.get(foldCase(word));
      if (code !== undefined && !found.has(code)) found.set(code, word);
    }
  return Array.from(found, ([code, name]) => ({ name, code }));
}
