// Writes the sample documents of examples/tasks/ocr, from the labelled documents of test/quality/ocr. They are committed; run this
// after those were changed.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { loadPdfReader } from "../src/engines/local/documents/pdf.ts";
import { packageFolder } from "../src/engines/local/resolve-package.ts";
import { drawPage, makeFile } from "../test/quality/ocr/measure.ts";
import { toBitmap } from "../test/quality/ocr/rasters.ts";
import { financialSamples, identitySamples, resumeSamples, storyPage } from "../test/quality/ocr/samples.ts";
import { text, writePdf } from "../test/quality/ocr/write-pdf.ts";
import { writeDocx } from "../test/quality/ocr/write-zip.ts";

const folder = join(import.meta.dir, "..", "examples", "tasks", "ocr");
const pdfs = await loadPdfReader();
const [invoice, , , , receipt] = financialSamples;
const [passport] = identitySamples;
const [resume] = resumeSamples;
if (!invoice || !receipt || !passport || !resume) throw new Error("A labelled document is missing.");

mkdirSync(folder, { recursive: true });
await write("invoice.pdf", writePdf([invoice.page]));
await write("invoice.png", await toPng(writePdf([invoice.page])));
await write("receipt.jpg", (await makeFile(pdfs, receipt.page, "photo")).bytes);
await write("passport.png", await toPng(writePdf([passport.page])));
await write("resume.pdf", writePdf([resume.page]));
await write("page.png", await toPng(writePdf([storyPage])));
await write(
  "letter.docx",
  writeDocx(["Dear Ms Moreau,", "the parcel left our house on 3 May 2026.", "Northwind Joinery Ltd"]),
);
await write("ticket-with-qr-code.png", await drawTicket());

async function write(name: string, bytes: Uint8Array): Promise<void> {
  await Bun.write(join(folder, name), bytes);
  console.log(`${name}  ${Math.ceil(bytes.length / 1024)} KB`);
}

/** Sixteen shades are enough for print, and a third of the size. */
async function toPng(pdf: Uint8Array): Promise<Uint8Array> {
  return new Bun.Image(toBitmap(drawPage(pdfs, pdf))).png({ palette: true, colors: 16, compressionLevel: 9 }).bytes();
}

async function drawTicket(): Promise<Uint8Array> {
  const { prepareZXingModule, writeBarcode } = await import("zxing-wasm/writer");
  const wasm = join(packageFolder("zxing-wasm"), "dist", "writer", "zxing_writer.wasm");
  prepareZXingModule({ overrides: { wasmBinary: await Bun.file(wasm).arrayBuffer() } });
  const { symbol } = await writeBarcode("https://tickets.example/t/8F3K-22", { format: "QRCode" });
  const marks = [
    text(20, 30, "Riverside Cinema", { font: "bold", size: 14 }),
    text(20, 50, "Receipt no: T-5521"),
    text(20, 64, "9 May 2026 19:30"),
    text(20, 84, "Adult ticket"),
    text(180, 84, "12.50", { align: "end" }),
    text(20, 102, "TOTAL", { font: "bold" }),
    text(180, 102, "£12.50", { align: "end", font: "bold" }),
  ];
  const page = drawPage(pdfs, writePdf([{ width: 200, height: 260, marks }]));
  const module = Math.floor(280 / symbol.width);
  for (let y = 0; y < symbol.height * module; y++) {
    for (let x = 0; x < symbol.width * module; x++) {
      const shade = symbol.data[Math.floor(y / module) * symbol.width + Math.floor(x / module)] ?? 255;
      page.pixels[(y + 340) * page.width + x + 130] = shade;
    }
  }
  return new Bun.Image(toBitmap(page)).png({ palette: true, colors: 16, compressionLevel: 9 }).bytes();
}
