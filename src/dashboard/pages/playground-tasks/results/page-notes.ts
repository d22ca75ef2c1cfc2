// On which page of a file a document was found, where the answer says so. Parsers of documents state no places within a page.

/** Counted from 0. */
export function pagesOf(document: unknown): readonly number[] {
  const { document_metadata } = (document ?? {}) as { readonly document_metadata?: { document_page_number?: unknown } };
  const page = document_metadata?.document_page_number;
  return typeof page === "number" && Number.isInteger(page) && page >= 1 ? [page - 1] : [];
}

/** What is on each page, by its index. A file with one document needs no notes. */
export function notePages(documents: readonly (readonly number[])[], noun: string): ReadonlyMap<number, string> {
  const onPage = new Map<number, number[]>();
  if (documents.length > 1)
    for (const [index, pages] of documents.entries())
      for (const page of pages) onPage.set(page, [...(onPage.get(page) ?? []), index + 1]);
  return new Map(
    [...onPage].map(([page, numbers]) => [page, `${noun}${numbers.length > 1 ? "s" : ""} ${numbers.join(", ")}`]),
  );
}
