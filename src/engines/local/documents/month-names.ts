// The names of months in the languages of identity documents and CVs, as the runtime knows them.

import { foldCase } from "./fold-case.ts";

/** Of two languages that use a word for different months, the first wins. */
const languages = "en de fr es it pt nl pl sv da nb fi cs sk hu ro tr el ru uk bg ca sl et lv id hr".split(" ");
/** Short forms that are printed but that the runtime does not know. */
const others: Readonly<Record<string, number>> = {
  sept: 9,
  fev: 2,
  fevr: 2,
  mrz: 3,
  marz: 3,
  mrt: 3,
  mei: 5,
  jui: 6,
  juil: 7,
  jul: 7,
  aou: 8,
  set: 9,
  okt: 10,
  dez: 12,
  dic: 12,
};

const numbers = new Map<string, number>();
for (const language of languages) {
  // Many languages have another form of the name beside a day.
  const forms: Intl.DateTimeFormatOptions[] = [
    { month: "long" },
    { month: "short" },
    { month: "long", day: "numeric" },
    { month: "short", day: "numeric" },
  ];
  for (const form of forms) {
    const format = new Intl.DateTimeFormat(language, { ...form, timeZone: "UTC" });
    for (let month = 1; month <= 12; month++) {
      const part = format.formatToParts(Date.UTC(2024, month - 1, 15)).find(({ type }) => type === "month");
      const name = foldCase(part?.value ?? "").replaceAll(".", "");
      if (/^\p{L}{3,}$/u.test(name) && !numbers.has(name)) numbers.set(name, month);
    }
  }
}
for (const [name, month] of Object.entries(others)) if (!numbers.has(name)) numbers.set(name, month);

/** 1 to 12; null: not a month. */
export function findMonth(name: string): number | null {
  return numbers.get(foldCase(name).replaceAll(".", "")) ?? null;
}
