// The fields of a document, beside the document.

import type { ReactNode } from "react";
import { formatPercent } from "../../../lib/format.ts";
import { DataList } from "./data-list.tsx";
import { notePages, pagesOf } from "./page-notes.ts";
import { usePages } from "./pages.ts";
import { fileOf, type ResultProps } from "./view.ts";

type Parser = "ocr/financial_parser" | "ocr/identity_parser" | "ocr/resume_parser" | "ocr/bank_check_parsing";

export function ParsedDocumentView({ input, output }: ResultProps<Parser>) {
  const data: unknown = output.extracted_data;
  const documents: readonly unknown[] = Array.isArray(data) ? data : [data];
  return (
    <BesideDocument file={fileOf(input)} notes={notePages(documents.map(pagesOf), "Document")}>
      {documents.length === 0 && <p className="result-none">No fields were found.</p>}
      {documents.map((document, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: documents have no name but their place
        <section key={index}>
          {documents.length > 1 && <h3>Document {index + 1}</h3>}
          <DataList value={document} />
        </section>
      ))}
    </BesideDocument>
  );
}

export function SplitInvoicesView({ input, output }: ResultProps<"ocr/invoice_splitter_async">) {
  return (
    <BesideDocument
      file={fileOf(input)}
      notes={notePages(
        output.extracted_data.map(({ page_indexes }) => page_indexes),
        "Invoice",
      )}
    >
      <ol className="moment-list" aria-label="Invoices">
        {output.extracted_data.map(({ page_indexes, confidence }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: invoices have no name but their place
          <li key={index} className="moment">
            <span className="boxed-label">
              Invoice {index + 1}
              <span className="boxed-detail">pages {page_indexes.map((page) => page + 1).join(", ")}</span>
            </span>
            <span className="boxed-confidence">{formatPercent(confidence)}</span>
          </li>
        ))}
      </ol>
    </BesideDocument>
  );
}

interface BesideDocumentProps {
  readonly file: File | null;
  /** What is on each page, where the answer says so. */
  readonly notes: ReadonlyMap<number, string>;
  readonly children: ReactNode;
}

function BesideDocument({ file, notes, children }: BesideDocumentProps) {
  const pages = usePages(file);
  if (pages.length === 0) return <div className="result-stack">{children}</div>;
  return (
    <div className="beside-document">
      <div className="beside-document-pages">
        {pages.map(({ url }, index) => (
          <figure key={url}>
            <img src={url} alt="The document that was sent" />
            {notes.has(index) && <figcaption>{notes.get(index)}</figcaption>}
          </figure>
        ))}
      </div>
      <div className="result-stack">{children}</div>
    </div>
  );
}
