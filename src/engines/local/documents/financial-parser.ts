// ocr/financial_parser: invoices and receipts.

import { fillMembers } from "../fill-members.ts";
import { barcodePackage, loadBarcodeReader } from "./barcodes.ts";
import { createDocumentEngine } from "./document-engine.ts";
import { drawPages } from "./document-reader.ts";
import { readFinancialDocument } from "./financial-document.ts";
import type { Page } from "./page.ts";
import { type Row, toRows } from "./rows.ts";

const task = "ocr/financial_parser";
// The search for barcodes takes a tenth of a second per page, and they are on the first pages.
const pagesWithBarcodes = 3;

export const financialParser = createDocumentEngine({
  task,
  packages: [barcodePackage],
  async load() {
    const readBarcodes = await loadBarcodeReader();
    return async (pages, { input: { document_type: stated }, files }) => {
      const pictures = await drawPages(files["file"], pagesWithBarcodes);
      const barcodes = await Promise.all(pictures.map(readBarcodes));
      const documents = splitDocuments(pages);
      const extracted = documents.map(({ firstPage, rows }, index) => {
        const { isReceipt, financial_document_information, ...entry } = readFinancialDocument(rows);
        const ownBarcodes = documents.length === 1 ? barcodes.flat() : (barcodes[firstPage] ?? []);
        const detected = isReceipt ? "receipt" : "invoice";
        return {
          ...entry,
          financial_document_information: { ...financial_document_information, barcodes: ownBarcodes },
          document_metadata: {
            document_index: index + 1,
            document_page_number: firstPage + 1,
            document_type: stated === "receipt" ? stated : detected,
          },
        };
      });
      return fillMembers(task, { extracted_data: extracted });
    };
  },
});

/** A page starts a new document if its document number differs from that of the page before. */
function splitDocuments(pages: readonly Page[]): { firstPage: number; rows: Row[] }[] {
  const documents: { firstPage: number; rows: Row[]; id: string | null }[] = [];
  for (const [index, page] of pages.entries()) {
    const rows = toRows(page);
    const id =
      pages.length === 1 ? null : readFinancialDocument(rows).financial_document_information.invoice_receipt_id;
    const current = documents.at(-1);
    if (current === undefined || (id !== null && current.id !== null && id !== current.id)) {
      documents.push({ firstPage: index, rows, id });
      continue;
    }
    const offset = (current.rows.at(-1)?.bottom ?? 0) + 1;
    for (const row of rows) current.rows.push({ ...row, top: row.top + offset, bottom: row.bottom + offset });
    current.id ??= id;
  }
  return documents;
}
