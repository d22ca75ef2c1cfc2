// ocr/financial_parser: invoices and receipts.

import type { TaskInput } from "../../../contract/tasks.ts";
import { fillMembers } from "../fill-members.ts";
import type { LocalCall } from "../local-engine.ts";
import { loadBarcodeReader } from "./barcodes.ts";
import type { AddDetails } from "./document-engine.ts";
import { drawPages } from "./document-reader.ts";
import { joinPages } from "./document-text.ts";
import { readFinancialDocument } from "./financial-document.ts";
import { readIds } from "./financial-numbers.ts";
import type { Page } from "./page.ts";

// The search for barcodes takes a tenth of a second per page, and they are on the first pages.
const pagesWithBarcodes = 3;

export async function loadFinancialParser() {
  const readBarcodes = await loadBarcodeReader();
  return async (
    pages: readonly Page[],
    { input: { document_type: stated }, files }: LocalCall<TaskInput<"ocr/financial_parser">>,
    addDetails: AddDetails,
  ) => {
    const pictures = await drawPages(files["file"], pagesWithBarcodes);
    const barcodes = await Promise.all(pictures.map(readBarcodes));
    const documents = splitDocuments(pages);
    const read = documents.map((parts) => readFinancialDocument(joinPages(parts), pages));
    addDetails({ documents: read.map((document) => document.report) });
    const extracted = read.map(({ isReceipt, report: _, id: __, financial_document_information, ...entry }, index) => {
      const firstPage = documents[index]?.[0]?.index ?? 0;
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
    return fillMembers("ocr/financial_parser", { extracted_data: extracted });
  };
}

/** A page starts a new document if its document number differs from that of the page before. */
function splitDocuments(pages: readonly Page[]): { page: Page; index: number }[][] {
  const documents: { parts: { page: Page; index: number }[]; id: string | null }[] = [];
  for (const [index, page] of pages.entries()) {
    const id =
      pages.length === 1 ? null : (readIds(joinPages([{ page, index }])).ids.invoice_receipt_id?.value ?? null);
    const current = documents.at(-1);
    if (current === undefined || (id !== null && current.id !== null && id !== current.id)) {
      documents.push({ parts: [{ page, index }], id });
      continue;
    }
    current.parts.push({ page, index });
    current.id ??= id;
  }
  return documents.map(({ parts }) => parts);
}
