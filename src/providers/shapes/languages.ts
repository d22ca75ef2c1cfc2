// Languages that vendors tell in codes of two or three letters, as BCP-47.

/** `en` for `en`, `eng` and `EN`; null for what is no code. */
export function asLanguage(value: unknown): string | null {
  if (typeof value !== "string" || value.trim() === "") return null;
  try {
    return Intl.getCanonicalLocales(value.trim().replaceAll("_", "-"))[0] ?? null;
  } catch {
    return null;
  }
}
