// The local engines for documents, in their real workers: what they read, and how they refuse what cannot be read.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import type { InputFile } from "../../src/engines/engine.ts";
import { createLocalEngines, type LocalEngines } from "../../src/engines/local/index.ts";
import { ValidationError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { drawPage, measureDocumentQuality } from "../quality/ocr/measure.ts";
import { type GreyPicture, toBitmap } from "../quality/ocr/rasters.ts";
import { financialSamples } from "../quality/ocr/samples.ts";
import { type PdfPage, text, writePdf } from "../quality/ocr/write-pdf.ts";
import { writeDocx, writeZip } from "../quality/ocr/write-zip.ts";
import { rejectionOf } from "../support/thrown.ts";
import { toTiff } from "../support/tiff.ts";
import { fitsTask, longTimeLimitsMs, runLocal } from "./local-call.ts";

type Members = Readonly<Record<string, unknown>>;

const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });
const samples = join(import.meta.dir, "..", "..", "examples", "tasks", "ocr");
const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
let local: LocalEngines;

beforeAll(() => {
  local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
});
afterAll(() => local.close());

function fileOf(bytes: Uint8Array, mediaType: string, name = "file"): InputFile {
  return { name, mediaType, size: bytes.length, read: async () => bytes };
}

async function sampleOf(name: string, mediaType: string): Promise<InputFile> {
  return fileOf(await Bun.file(join(samples, name)).bytes(), mediaType, name);
}

async function outputOf(task: string, file: InputFile, input: Members = {}): Promise<Members> {
  const { output } = await runLocal(
    local,
    task,
    { file: "https://files.example/x", ...input },
    { files: { file }, withinMs: 110_000 },
  );
  expect(fitsTask(task, output)).toBe(true);
  return output;
}

async function refusalOf(file: InputFile, input: Members = {}, task = "ocr/ocr"): Promise<string> {
  const answer = runLocal(local, task, { file: "https://files.example/x", ...input }, { files: { file } });
  const { problems, message } = await rejectionOf(answer, ValidationError);
  expect(problems[0].loc.slice(0, 2)).toEqual(["body", "input"]);
  return message;
}

function pdfOf(pages: readonly PdfPage[]): InputFile {
  return fileOf(writePdf(pages), "application/pdf");
}

/** Only the header of a picture of this size, which is all that may be looked at. */
function hugePng(width: number, height: number): Uint8Array {
  const header = Buffer.alloc(33);
  header.write("\x89PNG\r\n\x1a\n", "latin1");
  header.writeUInt32BE(13, 8);
  header.write("IHDR", 12);
  header.writeUInt32BE(width, 16);
  header.writeUInt32BE(height, 20);
  header.set([8, 2, 0, 0, 0], 24);
  header.writeUInt32BE(Bun.hash.crc32(header.subarray(12, 29)), 29);
  return header;
}

/** A page with little text, because recognition takes time in proportion to the pixels. */
const note: PdfPage = {
  width: 260,
  height: 140,
  marks: [
    text(16, 24, "The Thursday ferry", { size: 14 }),
    text(16, 46, "drew away from the quay with seven"),
    text(16, 62, "passengers on board."),
  ],
};

async function drawNote(): Promise<GreyPicture> {
  const { loadPdfReader } = await import("../../src/engines/local/documents/pdf.ts");
  return drawPage(await loadPdfReader(), writePdf([note]));
}

async function photographNote(): Promise<Bun.Image> {
  return new Bun.Image(toBitmap(await drawNote()));
}

describe("ocr/ocr", () => {
  test("the embedded text of a PDF is read exactly, with boxes within the page", async () => {
    const output = await outputOf("ocr/ocr", await sampleOf("invoice.pdf", "application/pdf"));
    expect(output["text"]).toContain("Oak chair with leather seat 12 £145.50 £1,746.00");
    for (const box of output["bounding_boxes"] as { left: number; top: number; width: number; height: number }[]) {
      expect(Math.min(box.left, box.top, box.width, box.height)).toBeGreaterThanOrEqual(0);
      expect(Math.max(box.left + box.width, box.top + box.height)).toBeLessThanOrEqual(1.000001);
    }
  });

  test("a picture of a page is read", async () => {
    const output = await outputOf("ocr/ocr", await sampleOf("page.png", "image/png"));
    expect(output["text"]).toContain("drew away from the quay with seven passengers on board.");
    const [title] = output["bounding_boxes"] as { text: string; left: number; top: number }[];
    expect(title?.text).toBe("The Thursday ferry");
    expect(title?.left).toBeCloseTo(60 / 595, 1);
  });

  test("a photograph that is slanted, dark in a corner and noisy is read", async () => {
    const output = await outputOf("ocr/ocr", await sampleOf("receipt.jpg", "image/jpeg"));
    expect(output["text"]).toContain("Sourdough loaf 3.20");
    expect(output["text"]).toContain("CHANGE £0.81");
  });

  test("a rotated picture is read, and its boxes refer to the picture as it was sent", async () => {
    const turned = await (await photographNote()).rotate(90).png().bytes();
    const output = await outputOf("ocr/ocr", fileOf(turned, "image/png"));
    expect(output["text"]).toContain("The Thursday ferry");
    const [title] = output["bounding_boxes"] as { left: number; width: number; height: number }[];
    expect(title?.left).toBeGreaterThan(0.8);
    expect(title?.height).toBeGreaterThan(title?.width ?? 1);
  });

  test("a scanned PDF is recognised, and its pages are counted", async () => {
    const picture = (await photographNote()).jpeg({ quality: 80 });
    const jpeg = await picture.bytes();
    const scan: PdfPage = {
      ...note,
      marks: [{ kind: "picture", jpeg, pixelWidth: picture.width, pixelHeight: picture.height }],
    };
    const file = pdfOf([scan, { marks: [text(60, 80, "A second page, with text of its own.")] }]);
    const { output, units, original } = await runLocal(local, "ocr/ocr", { file: "x" }, { files: { file } });
    expect(output["text"]).toContain("The Thursday ferry");
    expect(output["text"]).toContain("A second page, with text of its own.");
    expect(units).toEqual({ page: 2 });
    expect(original).toMatchObject({ pages: [{ source: "scan" }, { source: "text", confidence: null }] });
  });

  test("every page of a TIFF is read", async () => {
    const grey = await drawNote();
    const { output, units } = await runLocal(
      local,
      "ocr/ocr",
      {},
      { files: { file: fileOf(toTiff([grey, grey]), "image/tiff") } },
    );
    expect(String(output["text"]).match(/The Thursday ferry/g)?.length).toBe(2);
    expect(units).toEqual({ page: 2 });
  });

  test("Word documents are read, tables included", async () => {
    expect((await outputOf("ocr/ocr", await sampleOf("letter.docx", docx)))["text"]).toContain(
      "the parcel left our house on 3 May 2026.",
    );
    const bytes = writeDocx(
      ["Prices & terms"],
      [
        ["Oak", "12.50"],
        ["Ash", "9.00"],
      ],
    );
    expect((await outputOf("ocr/ocr", fileOf(bytes, docx)))["text"]).toBe("Prices & terms\nOak 12.50\nAsh 9.00");
  });

  test("plain text and web pages are read without their tags", async () => {
    const html =
      "<html><head><title>x</title></head><body><script>if (a < b) {}</script><p>Caf&eacute;?</p><p>a &lt; b</p></body></html>";
    expect((await outputOf("ocr/ocr", fileOf(Buffer.from(html), "text/html")))["text"]).toBe("Caf&eacute;?\na < b");
  });
});

describe("jobs", () => {
  test("pages, lines and words come with boxes and confidence", async () => {
    const png = await (await photographNote()).png().bytes();
    const output = await outputOf("ocr/ocr_async", fileOf(png, "image/png"));
    const [page] = output["pages"] as {
      lines: { text: string; confidence: number; words: { confidence: number }[] }[];
    }[];
    const [line] = page?.lines ?? [];
    expect(output["number_of_pages"]).toBe(1);
    expect(line?.confidence).toBeGreaterThan(0.5);
    expect(line?.words[0]?.confidence).toBeLessThanOrEqual(1);
  });

  test("a table's rows and columns are found, and its head", async () => {
    const output = await outputOf("ocr/ocr_tables_async", await sampleOf("invoice.pdf", "application/pdf"));
    type Cells = { text: string; is_header: boolean; row_index: number; col_index: number }[];
    const [{ tables }] = output["pages"] as [{ tables: { num_cols: number; rows: { cells: Cells }[] }[] }];
    const table = tables.find((one) => one.num_cols === 4);
    expect(table?.rows.map(({ cells }) => cells.map((cell) => cell.text))).toContainEqual([
      "Fitting on site",
      "6",
      "£48.00",
      "£288.00",
    ]);
    expect(table?.rows[0]?.cells.map((cell) => [cell.text, cell.is_header])).toEqual([
      ["Description", true],
      ["Quantity", true],
      ["Unit price", true],
      ["Amount", true],
    ]);
  });
});

describe("parsers", () => {
  test("an invoice's fields and lines are found", async () => {
    const output = await outputOf("ocr/financial_parser", await sampleOf("invoice.pdf", "application/pdf"));
    expect(output["extracted_data"]).toMatchObject([
      {
        merchant_information: { name: "Northwind Joinery Ltd", zip_code: "BS1 6UX" },
        customer_information: { name: "Harbour Hotels Group" },
        payment_information: { total: 5440.8, total_tax: 906.8, tax_rate: 20 },
        bank: { iban: "GB29NWBK60161331926819" },
        item_lines: financialSamples[0]?.items,
        document_metadata: { document_type: "invoice", document_page_number: 1 },
      },
    ]);
  });

  test("two invoices in one file are two entries", async () => {
    const [first, , third] = financialSamples;
    const file = pdfOf([first?.page ?? { marks: [] }, third?.page ?? { marks: [] }]);
    const output = await outputOf("ocr/financial_parser", file);
    const ids = (output["extracted_data"] as { financial_document_information: Members }[]).map(
      (entry) => entry.financial_document_information["invoice_receipt_id"],
    );
    expect(ids).toEqual(["NJ-2026-0417", "R-20261105"]);
  });

  test("the codes printed on a receipt are read", async () => {
    const file = await sampleOf("ticket-with-qr-code.png", "image/png");
    const output = await outputOf("ocr/financial_parser", file, { document_type: "auto-detect" });
    expect(output["extracted_data"]).toMatchObject([
      {
        payment_information: { total: 12.5 },
        financial_document_information: { barcodes: [{ value: "https://tickets.example/t/8F3K-22" }] },
        document_metadata: { document_type: "receipt" },
      },
    ]);
  });

  test("a passport's machine-readable lines are read and checked", async () => {
    const output = await outputOf("ocr/identity_parser", await sampleOf("passport.png", "image/png"));
    expect(output["extracted_data"]).toMatchObject([
      {
        last_name: { value: "MOREAU" },
        given_names: [{ value: "CAMILLE" }, { value: "JEANNE" }],
        birth_date: { value: "1989-06-21", confidence: 0.99 },
        document_id: { value: "20FV48713" },
        country: { alpha2: "FR", alpha3: "FRA" },
      },
    ]);
  });

  test("a page that is not an identity document has no entry", async () => {
    const output = await outputOf(
      "ocr/identity_parser",
      pdfOf([{ marks: [text(60, 80, "Minutes of the meeting in March, all present.")] }]),
    );
    expect(output["extracted_data"]).toEqual([]);
  });

  test("a curriculum vitae's person, jobs and studies are found", async () => {
    const output = await outputOf("ocr/resume_parser", await sampleOf("resume.pdf", "application/pdf"));
    expect(output["extracted_data"]).toMatchObject({
      personal_infos: {
        name: { first_name: "Priya", last_name: "Raghavan" },
        mails: ["priya.raghavan@mailbox.example"],
      },
      work_experience: { entries: [{ company: "Parcelway Ltd" }, { company: "Bright Grocers plc" }] },
    });
  });

  test("the rules read the PDFs that they were written for, and most of the others", async () => {
    const measured = await measureDocumentQuality({ looks: ["pdf"] });
    const share = (task: string, set: string) => {
      const found = measured.find(
        (one) => one.task === task && one.measure.includes(set) && one.measure.includes("fields right"),
      );
      const [right = 0, all = 1] = (found?.result.match(/\d+/g) ?? []).map(Number);
      return right / all;
    };
    expect(share("ocr/financial_parser", "were made with")).toBeGreaterThan(0.97);
    expect(share("ocr/financial_parser", "were not made with")).toBeGreaterThan(0.7);
    expect(share("ocr/identity_parser", "pdf")).toBe(1);
    expect(share("ocr/resume_parser", "were made with")).toBeGreaterThan(0.95);
  });
});

describe("unreadable files are refused with the reason", () => {
  test("an empty file", async () => {
    expect(await refusalOf(fileOf(new Uint8Array(), "application/pdf"))).toBe("The file is empty.");
  });

  test("a damaged PDF, and a file that is not a PDF", async () => {
    expect(await refusalOf(fileOf(Buffer.from("%PDF-1.7\nnothing of use"), "application/pdf"))).toContain("damaged");
    expect(await refusalOf(fileOf(Buffer.from("hello"), "application/pdf"))).toContain("not a PDF");
    const half = writePdf([{ marks: [text(60, 80, "half")] }]).slice(0, 300);
    expect(await refusalOf(fileOf(half, "application/pdf"))).toContain("damaged");
  });

  test("a PDF with a password", async () => {
    const plain = Buffer.from(writePdf([{ marks: [text(60, 80, "secret")] }])).toString("latin1");
    const key = `<${"5a".repeat(32)}>`;
    const security = `/Encrypt << /Filter /Standard /V 1 /R 2 /O ${key} /U ${key} /P -4 >> /ID [${key} ${key}]`;
    const locked = plain.replace("/Root 1 0 R >>", `/Root 1 0 R ${security} >>`);
    expect(await refusalOf(fileOf(Buffer.from(locked, "latin1"), "application/pdf"))).toContain("password");
  });

  test("a PDF without pages", async () => {
    expect(await refusalOf(pdfOf([]))).toMatch(/no pages|damaged/);
  });

  test("too many pages, with the limit and advice", async () => {
    const pages = Array.from({ length: 201 }, () => ({ marks: [text(60, 80, "one of many pages with enough text")] }));
    expect(await refusalOf(pdfOf(pages))).toBe(
      "The PDF has 201 pages; at most 200 can be read here. Split it, or run it as a job with ocr/ocr_async.",
    );
  });

  test("too many scanned pages, before the first is recognised", async () => {
    const jpeg = await new Bun.Image(join(samples, "passport.png")).resize(20, 20).jpeg().bytes();
    const scan: PdfPage = { marks: [{ kind: "picture", jpeg, pixelWidth: 20, pixelHeight: 20 }] };
    expect(await refusalOf(pdfOf(Array.from({ length: 21 }, () => scan)))).toContain(
      "at most 20 can be recognised here",
    );
  });

  test("a picture that is too large, before it is decoded", async () => {
    expect(await refusalOf(fileOf(hugePng(60_000, 60_000), "image/png"))).toMatch(/megapixels/);
    expect(await refusalOf(fileOf(hugePng(30_000, 10), "image/png"))).toContain("30000 × 10");
    const tiff = Buffer.from(toTiff([{ width: 2, height: 2, pixels: new Uint8Array(4) }]));
    tiff.writeUInt32LE(900_000, 12 + 2 + 8);
    expect(await refusalOf(fileOf(tiff, "image/tiff"))).toMatch(/megapixels|damaged/);
  });

  test("a truncated picture, and a file that is not a picture", async () => {
    const png = await Bun.file(join(samples, "passport.png")).bytes();
    expect(await refusalOf(fileOf(png.slice(0, 2_000), "image/png"))).toContain("damaged");
    expect(await refusalOf(fileOf(Buffer.from("GIF89a"), "image/gif"))).toContain("damaged");
  });

  test("an office file that unpacks to gigabytes, or is truncated", async () => {
    const bomb = writeZip([{ name: "word/document.xml", content: new Uint8Array(60_000_000) }]);
    expect(bomb.length).toBeLessThan(100_000);
    expect(await refusalOf(fileOf(bomb, docx))).toContain("unpacks to more than 50 MB");
    expect(await refusalOf(fileOf(writeDocx(["x"]).slice(0, 200), docx))).toContain("damaged");
    expect(await refusalOf(fileOf(writeZip([{ name: "a.txt", content: deflateRawSync("x") }]), docx))).toContain(
      "neither",
    );
  });

  test("a text that is far too long", async () => {
    expect(await refusalOf(fileOf(Buffer.alloc(2_100_000, "word "), "text/plain"))).toContain("characters");
  });

  test("a file of another kind", async () => {
    expect(await refusalOf(fileOf(Buffer.from("RIFF"), "audio/wav"))).toContain("audio/wav");
  });

  test("a language that is not installed, with the command that installs it, and an unknown language, but not for a PDF with text", async () => {
    const picture = await sampleOf("passport.png", "image/png");
    expect(await refusalOf(picture, { language: "th" })).toContain("npx switchyard-gateway engines add ocr-tha");
    expect(await refusalOf(picture, { language: "tlh" })).toContain('"tlh"');
    const output = await outputOf("ocr/ocr", await sampleOf("invoice.pdf", "application/pdf"), { language: "fr-FR" });
    expect(output["text"]).toContain("INVOICE");
  });

  test("the worker still works after all of these", async () => {
    expect((await outputOf("ocr/ocr", await sampleOf("letter.docx", docx)))["text"]).toContain("Northwind");
  });
});
