// Dates as people write them.

/** `D`, `DD`, `M`, `MM`, `MMM`, `MMMM`, `YY` and `YYYY` stand for parts of the date; `2026-03` has no day. */
export function fillDate(pattern: string, date: string, months: readonly string[]): string {
  const [year = "", month = "", day = ""] = date.split("-");
  const name = months[Number(month) - 1] ?? "";
  const parts: Readonly<Record<string, string>> = {
    D: String(Number(day)),
    DD: day,
    M: String(Number(month)),
    MM: month,
    MMM: name.slice(0, 3),
    MMMM: name,
    YY: year.slice(2),
    YYYY: year,
  };
  return pattern.replace(/D+|M+|Y+/g, (part) => parts[part] ?? part);
}
