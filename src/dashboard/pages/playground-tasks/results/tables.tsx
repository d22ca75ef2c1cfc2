// The tables of a document.

import { usePages } from "./pages.ts";
import { fileOf, type ResultProps } from "./view.ts";

type Page = NonNullable<ResultProps<"ocr/ocr_tables_async">["output"]["pages"]>[number];
type Table = NonNullable<Page["tables"]>[number];

export function TablesView({ input, output }: ResultProps<"ocr/ocr_tables_async">) {
  const [picture] = usePages(fileOf(input));
  const tables = (output.pages ?? []).flatMap(({ tables: found = [] }, page) =>
    found.map((table) => ({ table, page })),
  );
  return (
    <div className="result-stack">
      {tables.length === 0 && <p className="result-none">No tables were found.</p>}
      {tables.map(({ table, page }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: tables have no name but their place
        <section key={index}>
          <h3>
            Table {index + 1}, page {page + 1}
          </h3>
          <TableGrid table={table} label={`Table ${index + 1}`} />
        </section>
      ))}
      {picture !== undefined && (
        <details>
          <summary>The document</summary>
          <img className="boxed-only" src={picture.url} alt="The document that was sent" />
        </details>
      )}
    </div>
  );
}

function TableGrid({ table, label }: { readonly table: Table; readonly label: string }) {
  return (
    // A part that scrolls has to be reachable with the keyboard.
    <div className="table-scroll" tabIndex={0} role="region" aria-label={label}>
      <table className="result-table">
        <tbody>
          {(table.rows ?? []).map(({ cells = [] }, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no name but their place
            <tr key={row}>
              {cells.map(({ text, is_header, col_span, row_span }, column) => {
                const Cell = is_header === true ? "th" : "td";
                return (
                  <Cell
                    // biome-ignore lint/suspicious/noArrayIndexKey: cells have no name but their place
                    key={column}
                    colSpan={col_span ?? 1}
                    rowSpan={row_span ?? 1}
                    scope={is_header === true ? "col" : undefined}
                  >
                    {text}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
