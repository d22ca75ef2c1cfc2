// Languages as vendors name them, and as we do.

const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });

/** `English` for `en`; what is no language is shown as it came. */
export function nameLanguage(code: string): string {
  try {
    return names.of(code) ?? code;
  } catch {
    return code;
  }
}

/** `en` for `en-US`. */
export function baseLanguage(code: string): string {
  return code.split(/[-_]/, 1)[0]?.toLowerCase() ?? code;
}
