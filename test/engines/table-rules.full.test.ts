// Rules and tables in drawings of pages, from the file to the answer of ocr/ocr_tables_async.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { InputFile } from "../../src/engines/engine.ts";
import { loadPdfReader } from "../../src/engines/local/documents/pdf.ts";
import { findRules } from "../../src/engines/local/documents/rules.ts";
import { createLocalEngines, type LocalEngines } from "../../src/engines/local/index.ts";
import { createLog } from "../../src/log.ts";
import { photograph, toBitmap, toGreyPicture } from "../quality/ocr/rasters.ts";
import { write, writePlainPdf } from "../support/plain-pdf.ts";
import { longTimeLimitsMs, runLocal } from "./local-call.ts";

const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });
let local: LocalEngines;

beforeAll(() => {
  local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
});
afterAll(() => local.close());

const rows = [
  ["Machine", "Remark of the inspector", "Due"],
  ["Pump", "Checked on the first floor/and sealed again", "March"],
  ["Valve", "", "April"],
  ["Generator", "Replace the filter", "May"],
];
// The page is as small as its text allows: recognition takes time in proportion to the pixels.
const size = [350, 160] as const;
const xs = [12, 82, 282, 338];
const ys = [120, 98, 64, 42, 20];

/** A table with rules, a cell of two lines and an empty cell. */
function drawTable(): string {
  const rules = [
    ...ys.map((y) => `0.7 w ${xs[0]} ${y} m ${xs[3]} ${y} l S\n`),
    ...xs.map((x) => `0.7 w ${x} ${ys[0]} m ${x} ${ys[4]} l S\n`),
  ];
  const texts = rows.flatMap((row, index) =>
    row.flatMap((cell, column) =>
      cell.split("/").map((line, part) => write((xs[column] ?? 0) + 6, (ys[index] ?? 0) - 16 - part * 13, line)),
    ),
  );
  return [...rules, ...texts, write(12, 136, "Inspection of the machines in the hall", { size: 14 })].join("");
}

async function tableOf(file: InputFile): Promise<(string | null)[][]> {
  const { output } = await runLocal(local, "ocr/ocr_tables_async", { file: "x" }, { files: { file } });
  type Tables = { rows: { cells: { text: string | null }[] }[] }[];
  const [page] = output["pages"] as [{ tables: Tables }];
  return page.tables[0]?.rows.map(({ cells }) => cells.map((cell) => cell.text)) ?? [];
}

const expected = rows.map((row) => row.map((cell) => (cell === "" ? null : cell.replace("/", " "))));

test("a ruled table of a PDF has its cells, empty ones and those of several lines included", async () => {
  const bytes = writePlainPdf([{ content: drawTable(), size }]);
  const file = { name: "a.pdf", mediaType: "application/pdf", size: bytes.length, read: async () => bytes };
  expect(await tableOf(file)).toEqual(expected);
});

test("the same table in a picture has the same cells", async () => {
  using pdf = (await loadPdfReader()).open(writePlainPdf([{ content: drawTable(), size }]));
  const bytes = await new Bun.Image(toBitmap(toGreyPicture(pdf.draw(0)))).png().bytes();
  const file = { name: "a.png", mediaType: "image/png", size: bytes.length, read: async () => bytes };
  expect(await tableOf(file)).toEqual(expected);
});

test("rules are found in a noisy photograph that is a little slanted, and lines of text are none", async () => {
  using pdf = (await loadPdfReader()).open(writePlainPdf([{ content: `1 0 0 1 48 580 cm ${drawTable()}` }]));
  const photo = photograph(toGreyPicture(pdf.draw(0)), { degrees: 0.2, blur: 1, noise: 12, shade: 0.3 });
  const { horizontal, vertical } = findRules(photo, null);
  expect(horizontal).toHaveLength(ys.length);
  expect(vertical).toHaveLength(xs.length);
});
