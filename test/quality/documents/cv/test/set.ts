// The test split of CVs: no rule is tuned on it, and nobody looks at its cases to change one.

import type { LabelledDocument } from "../../labelled-document.ts";
import { inventResume, toCv } from "../resume.ts";
import { darkLeft, greyRight, halves, marginHeadings, parentheses, ruledTable } from "./layouts.ts";
import { cs, de, en, es, fr, it, pl, pt, sv } from "./locales.ts";

export function cvsToTest(): LabelledDocument[] {
  return [
    ...[en, de, fr, es, pl, sv, pt, cs].map((locale) => toCv("dark-left", darkLeft, inventResume(locale, "dark"))),
    ...[en, it, fr, es, cs, sv, de].map((locale) =>
      toCv("halves", halves, inventResume(locale, "halves", { jobs: 4 })),
    ),
    ...[en, de, it, pl, pt, es, cs].map((locale) =>
      toCv("grey-right", greyRight, inventResume(locale, "grey", { jobs: 2 })),
    ),
    ...[en, de, fr, it, pt, sv, pl].map((locale) =>
      toCv("parentheses", parentheses, inventResume(locale, "parentheses")),
    ),
    ...[de, pl, cs, it, es, en].map((locale) =>
      toCv("ruled-table", ruledTable, inventResume(locale, "table", { hasEnded: true })),
    ),
    ...[en, fr, pt, sv, de, es, it].map((locale) =>
      toCv("margin-headings", marginHeadings, inventResume(locale, "margin", { jobs: 2 })),
    ),
  ];
}
