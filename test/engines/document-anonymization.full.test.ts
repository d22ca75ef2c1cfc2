// ocr/anonymization_async: what is hidden cannot be read in the result, neither as text nor in the picture of the page. The people are invented.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { InputFile } from "../../src/engines/engine.ts";
import { createLocalEngines, type LocalEngines } from "../../src/engines/local/index.ts";
import { createLog } from "../../src/log.ts";
import { type PlainPage, place, write, writePlainPdf } from "../support/plain-pdf.ts";
import { longTimeLimitsMs, refusalOf, runLocal } from "./local-call.ts";

const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });
const secrets = ["camille.moreau@mailbox.example", "4929 1234 5678 9015", "GB29 NWBK 6016 1331 9268 19"];
const harmless = ["Minutes of the meeting", "The harbour is closed until further notice"];
let local: LocalEngines;

beforeAll(() => {
  local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
});
afterAll(() => local.close());

function fileOf(bytes: Uint8Array, mediaType: string): InputFile {
  return { name: "file", mediaType, size: bytes.length, read: async () => bytes };
}

async function anonymize(file: InputFile): Promise<{ bytes: Uint8Array; mediaType: string }> {
  const { binaries = [] } = await runLocal(local, "ocr/anonymization_async", { file: "x" }, { files: { file } });
  const [document] = binaries;
  if (document === undefined) throw new Error("no document came back");
  expect(document.base64Path).toEqual(["document"]);
  expect(document.urlPath).toEqual(["document_url"]);
  return { bytes: document.bytes, mediaType: document.mediaType };
}

async function textOf(bytes: Uint8Array, mediaType: string): Promise<string> {
  const { output } = await runLocal(local, "ocr/ocr", { file: "x" }, { files: { file: fileOf(bytes, mediaType) } });
  return String(output["text"]);
}

const letter: PlainPage = {
  size: [420, 170],
  content: [
    write(20, 140, "Minutes of the meeting", { size: 14 }),
    write(20, 112, "Write to camille.moreau@mailbox.example before Friday.", { size: 12 }),
    write(20, 92, "Card number: 4929 1234 5678 9015", { size: 12 }),
    write(20, 72, "IBAN: GB29 NWBK 6016 1331 9268 19", { size: 12 }),
    write(20, 44, "The harbour is closed until further notice, nobody knows why.", { size: 12 }),
  ].join(""),
};

function expectHidden(text: string): void {
  const compact = text.replace(/\s/g, "");
  for (const secret of secrets) expect(compact).not.toContain(secret.replace(/\s/g, ""));
  for (const part of ["camille", "moreau", "4929", "9015", "NWBK", "9268"]) expect(compact).not.toContain(part);
  for (const sentence of harmless) expect(text).toContain(sentence);
}

describe("a PDF", () => {
  test("comes back as pictures of its pages, without the personal data in text, picture or bytes", async () => {
    const { bytes, mediaType } = await anonymize(fileOf(writePlainPdf([letter, letter]), "application/pdf"));
    expect(mediaType).toBe("application/pdf");
    const raw = Buffer.from(bytes).toString("latin1");
    for (const secret of secrets) expect(raw).not.toContain(secret);
    expect(raw).not.toContain("/Font");
    expectHidden(await textOf(bytes, mediaType));
    const { units } = await runLocal(local, "ocr/ocr", {}, { files: { file: fileOf(bytes, mediaType) } });
    expect(units).toEqual({ page: 2 });
  });

  test("that is rotated keeps its look", async () => {
    const { bytes, mediaType } = await anonymize(fileOf(writePlainPdf([{ ...letter, rotate: 90 }]), "application/pdf"));
    expect(Buffer.from(bytes).toString("latin1")).toContain("/MediaBox [0 0 170.000 420.000]");
    expectHidden(await textOf(bytes, mediaType));
  });

  test("with personal data in a small picture beside text has it hidden, too", async () => {
    const picture = await jpegOf("camille.moreau@mailbox.example", [330, 40]);
    const content = `${letter.content}${place(0, 20, 8, 165, 20)}`;
    const page = { ...letter, content, pictures: [picture] };
    const { bytes, mediaType } = await anonymize(fileOf(writePlainPdf([page]), "application/pdf"));
    expectHidden(await textOf(bytes, mediaType));
  });

  test("with values of a form has them hidden", async () => {
    const annotation = {
      rectangle: [20, 8, 400, 28],
      appearance: write(2, 5, "camille.moreau@mailbox.example", { size: 12 }),
    };
    const { bytes, mediaType } = await anonymize(
      fileOf(writePlainPdf([{ ...letter, annotations: [annotation] }]), "application/pdf"),
    );
    expectHidden(await textOf(bytes, mediaType));
  });
});

describe("a picture", () => {
  test.each(["png", "jpeg", "webp"] as const)("in the format %s keeps its format and size", async (format) => {
    const image = await pictureOf(letter);
    const bytes = await image[format]().bytes();
    const { bytes: hidden, mediaType } = await anonymize(fileOf(bytes, `image/${format}`));
    expect(mediaType).toBe(`image/${format}`);
    const [before, after] = [await new Bun.Image(bytes).metadata(), await new Bun.Image(hidden).metadata()];
    expect([after.width, after.height, after.format]).toEqual([before.width, before.height, before.format]);
    expectHidden(await textOf(hidden, mediaType));
  });

  test("that lies on its side is hidden in the right places, and stays on its side", async () => {
    const bytes = await (await pictureOf(letter)).rotate(90).png().bytes();
    const { bytes: hidden } = await anonymize(fileOf(bytes, "image/png"));
    const { width, height } = await new Bun.Image(hidden).metadata();
    expect(height).toBeGreaterThan(width);
    expectHidden(await textOf(hidden, "image/png"));
  });
});

test("plain text comes back with asterisks, and its other lines as they were", async () => {
  const text =
    "Minutes of the meeting\r\nIBAN: GB29 NWBK 6016 1331 9268 19\r\nThe harbour is closed until further notice\r\n";
  const { bytes, mediaType } = await anonymize(fileOf(Buffer.from(text), "text/plain"));
  expect(mediaType).toBe("text/plain");
  expect(Buffer.from(bytes).toString()).toBe(
    text.replace("GB29 NWBK 6016 1331 9268 19", "**** **** **** **** **** **"),
  );
});

test("an office file is refused with advice, and so is a missing file", async () => {
  const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
  const refusal = await refusalOf(
    runLocal(local, "ocr/anonymization_async", {}, { files: { file: fileOf(Buffer.from("PK\x03\x04rest"), docx) } }),
  );
  expect(refusal.message).toBe("Personal data can be hidden in a PDF, a picture or plain text. Save the file as PDF.");
  const missing = await refusalOf(runLocal(local, "ocr/anonymization_async", {}));
  expect(missing.problems[0].loc).toEqual(["body", "input", "file"]);
});

async function pictureOf(page: PlainPage): Promise<Bun.Image> {
  const { loadPdfReader } = await import("../../src/engines/local/documents/pdf.ts");
  using pdf = (await loadPdfReader()).open(writePlainPdf([page]));
  const { toBitmap, toGreyPicture } = await import("../quality/ocr/rasters.ts");
  return new Bun.Image(toBitmap(toGreyPicture(pdf.draw(0))));
}

async function jpegOf(text: string, size: readonly [number, number]) {
  const image = await pictureOf({ content: write(8, 12, text, { size: 20 }), size });
  const bytes = await image.jpeg({ quality: 90 }).bytes();
  return { bytes, width: image.width, height: image.height };
}
