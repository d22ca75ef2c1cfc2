/** The cells of a table that is written as text: a row on each line, with a bar between cells. */
export function readTable(text: string): string[][] {
  const lines = text.trim().split("\n");
  return lines.map((line) => line.trim().split(" | "));
}
