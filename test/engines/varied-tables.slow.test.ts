// Random tables in six looks, as PDFs, and tables of short figures, as pictures: nearly every cell is at its row and column.

import { expect, test } from "bun:test";
import { readGrey } from "../../src/engines/local/documents/grey.ts";
import { turnUpright } from "../../src/engines/local/documents/page.ts";
import { loadPdfReader } from "../../src/engines/local/documents/pdf.ts";
import { toGreyMap } from "../../src/engines/local/documents/picture.ts";
import { readPicture } from "../../src/engines/local/documents/read-picture.ts";
import { toReadingOrder } from "../../src/engines/local/documents/reading-order.ts";
import { findRules } from "../../src/engines/local/documents/rules.ts";
import type { Table } from "../../src/engines/local/documents/table.ts";
import { findTables } from "../../src/engines/local/documents/tables.ts";
import { drawPages } from "../quality/documents/looks.ts";
import { countCells, type FoundCell } from "../quality/ocr/pages/score.ts";
import { figureTable } from "../quality/ocr/pages/tune/figure-tables.ts";
import { variedTable } from "../quality/ocr/pages/tune/varied-tables.ts";
import { writePdf } from "../quality/ocr/write-pdf.ts";

// Some of each look, with empty cells, cells of several lines, totals and text around the table.
const seeds = [41, 45, 49, 107, 113, 143, 152, 156, 187, 190, 198, 235];

test("random tables with and without rules have at least 99 of 100 cells right", async () => {
  const pdfs = await loadPdfReader();
  let [found, all] = [0, 0];
  for (const { page, cells = [] } of seeds.map((seed) => variedTable(seed))) {
    using pdf = pdfs.open(writePdf([page]));
    const grey = await readGrey(pdf.draw(0));
    if (grey === null) throw new Error("The page cannot be drawn.");
    const tables = findTables(toReadingOrder(pdf.readText(0, false).page), findRules(grey, null));
    found += countCells(toCells(tables), cells);
    all += cells.flat().length;
  }
  expect(found / all).toBeGreaterThanOrEqual(0.99);
});

// Marks such as "5.2", and a register of single figures: their boxes are higher than wide.
test.each([
  26, 25,
])("every cell of a picture of the table %d, whose cells are short figures, is right", async (seed) => {
  const { page, cells = [] } = figureTable(seed);
  const [picture] = drawPages(await loadPdfReader(), writePdf([page]));
  if (picture === undefined) throw new Error("The page cannot be drawn.");
  const { width, height, pixels } = picture;
  const read = turnUpright(await readPicture({ width, height, bytes: toGreyMap(width, height, pixels) }, "en"));
  const tables = findTables(toReadingOrder(read), findRules(picture, read.turned));
  expect(countCells(toCells(tables), cells)).toBe(cells.flat().length);
});

function toCells(tables: readonly Table[]): FoundCell[][] {
  return tables.map(({ rows }) =>
    rows.flatMap((row, row_index) =>
      row.map((cell, col_index) => ({ text: cell?.text ?? null, row_index, col_index })),
    ),
  );
}
