// Stop words by language.

import { importPackage } from "../resolve-package.ts";

export const stopWordsPackage = "stopwords-iso";

export async function loadStopWords(): Promise<(language: string) => ReadonlySet<string>> {
  const { default: lists } = await importPackage<{ default: Readonly<Record<string, readonly string[]>> }>(
    stopWordsPackage,
  );
  const sets = new Map<string, ReadonlySet<string>>();
  return (language) => {
    const primary = language.toLowerCase().split(/[-_]/)[0] ?? "en";
    const known = sets.get(primary) ?? new Set(lists[primary] ?? []);
    sets.set(primary, known);
    return known;
  };
}
