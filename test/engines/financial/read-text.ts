// Reads an invoice or receipt that is written as plain text, as the engine does.

import { readDocument } from "../../../src/engines/local/documents/document-reader.ts";
import { joinPages } from "../../../src/engines/local/documents/document-text.ts";
import {
  type FinancialDocument,
  readFinancialDocument,
} from "../../../src/engines/local/documents/financial-document.ts";
import type { Page } from "../../../src/engines/local/documents/page.ts";

const limits = { pages: 10, scannedPages: 0, advice: "" };

/** Each text is a page. */
export async function readText(...texts: readonly string[]): Promise<FinancialDocument> {
  const pages = await readPages(texts);
  return readFinancialDocument(joinPages(pages.map((page, index) => ({ page, index }))), pages);
}

export function readPages(texts: readonly string[]): Promise<Page[]> {
  return Promise.all(
    texts.map(async (text) => {
      const file = { name: "page.txt", mediaType: "text/plain", bytes: Buffer.from(text) };
      const [page] = await readDocument(file, { language: null, limits, onProgress: () => {} });
      if (page === undefined) throw new Error("There is no page.");
      return page;
    }),
  );
}
