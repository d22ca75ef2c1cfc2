// The pictures of a PDF file's pages. The drawing itself needs a browser: see playground-tasks.full.test.ts.

import { expect, test } from "bun:test";
import { join } from "node:path";

interface DrawPdf {
  drawPdf(file: Blob, options: { onPage: (png: Blob) => void; signal: AbortSignal }): Promise<void>;
}

// Imported by its path, because the types of a browser belong to the program of the dashboard alone.
const { drawPdf } = (await import(join(import.meta.dir, "../../src/dashboard/pdf/draw-pdf.ts"))) as DrawPdf;

test("a file that was deleted after it was chosen has no pages, and is no error", async () => {
  const pages: Blob[] = [];
  const options = { onPage: (png: Blob) => void pages.push(png), signal: new AbortController().signal };
  await drawPdf(Bun.file(join(import.meta.dir, `deleted-${crypto.randomUUID()}.pdf`)), options);
  expect(pages).toEqual([]);
});
