// Tables as CSV (RFC 4180) that are safe to open in a spreadsheet.

export type CsvCell = string | number | null;

/** Ends every line with CRLF, as the format requires. Null is an empty cell. */
export function toCsv(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((cells) => `${cells.map(toCell).join(",")}\r\n`).join("");
}

// A spreadsheet takes a text with one of these first characters for a formula and executes it.
const startsFormula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

function toCell(cell: CsvCell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = startsFormula.test(cell) ? `'${cell}` : cell;
  return /[",\r\n']|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
