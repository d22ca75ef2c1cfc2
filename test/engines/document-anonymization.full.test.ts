// ocr/anonymization_async: what is hidden cannot be read in the result, neither as text nor in the picture of the page. The people are invented.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { InputFile } from "../../src/engines/engine.ts";
import { createLocalEngines, type LocalEngines } from "../../src/engines/local/index.ts";
import type { Pixels } from "../../src/engines/local/vision/pixels.ts";
import { createLog } from "../../src/log.ts";
import { pixelsOf } from "../quality/vision/pictures.ts";
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

async function readAgain(bytes: Uint8Array, mediaType: string): Promise<{ text: string; pages: number | undefined }> {
  const file = fileOf(bytes, mediaType);
  const { output, units } = await runLocal(local, "ocr/ocr", { file: "x" }, { files: { file } });
  return { text: String(output["text"]), pages: units["page"] };
}

async function textOf(bytes: Uint8Array, mediaType: string): Promise<string> {
  return (await readAgain(bytes, mediaType)).text;
}

/** As small as its text allows: recognition takes time in proportion to the pixels. */
const letter: PlainPage = {
  size: [230, 112],
  content: [
    write(14, 94, "Minutes of the meeting", { size: 11 }),
    write(14, 76, "Write to camille.moreau@mailbox.example", { size: 10 }),
    write(14, 60, "Card number: 4929 1234 5678 9015", { size: 10 }),
    write(14, 44, "IBAN: GB29 NWBK 6016 1331 9268 19", { size: 10 }),
    write(14, 28, "The harbour is closed until further notice", { size: 10 }),
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
    const { text, pages } = await readAgain(bytes, mediaType);
    expectHidden(text);
    for (const sentence of harmless) expect(text.split(sentence)).toHaveLength(3);
    expect(pages).toBe(2);
  });

  test("that is rotated keeps its look", async () => {
    const { bytes, mediaType } = await anonymize(fileOf(writePlainPdf([{ ...letter, rotate: 90 }]), "application/pdf"));
    expect(Buffer.from(bytes).toString("latin1")).toContain("/MediaBox [0 0 112.000 230.000]");
    expectHidden(await textOf(bytes, mediaType));
  });

  test("with personal data in a small picture beside text has it hidden, too", async () => {
    const picture = await jpegOf("camille.moreau@mailbox.example", [330, 40]);
    const content = `${letter.content}${place(0, 14, 5, 132, 16)}`;
    const page = { ...letter, content, pictures: [picture] };
    const { bytes, mediaType } = await anonymize(fileOf(writePlainPdf([page]), "application/pdf"));
    expectHidden(await textOf(bytes, mediaType));
  });

  test("with values of a form has them hidden", async () => {
    const annotation = {
      rectangle: [14, 5, 220, 23],
      appearance: write(2, 5, "camille.moreau@mailbox.example", { size: 10 }),
    };
    const { bytes, mediaType } = await anonymize(
      fileOf(writePlainPdf([{ ...letter, annotations: [annotation] }]), "application/pdf"),
    );
    expectHidden(await textOf(bytes, mediaType));
  });
});

describe("a picture", () => {
  test("has the personal data hidden, and keeps its format and size: png, jpeg and webp", async () => {
    const image = await pictureOf(letter);
    const shown: Pixels[] = [];
    for (const format of ["png", "jpeg", "webp"] as const) {
      const bytes = await image[format]().bytes();
      const { bytes: hidden, mediaType } = await anonymize(fileOf(bytes, `image/${format}`));
      expect(mediaType).toBe(`image/${format}`);
      const [before, after] = [await new Bun.Image(bytes).metadata(), await new Bun.Image(hidden).metadata()];
      expect([after.width, after.height, after.format]).toEqual([before.width, before.height, before.format]);
      if (format === "png") expectHidden(await textOf(hidden, mediaType));
      shown.push(await pixelsOf(hidden));
    }
    // What is black in the first is black in the others, except at the edges. A value that is not hidden would be a quarter of it.
    const [png, ...others] = shown as [Pixels, ...Pixels[]];
    for (const other of others) expect(brightShare(png, other)).toBeLessThan(0.1);
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

/** The share of the black pixels of one picture that are bright in the other one. */
function brightShare(one: Pixels, other: Pixels): number {
  expect([other.width, other.height]).toEqual([one.width, one.height]);
  let [black, bright] = [0, 0];
  for (let at = 0; at < one.data.length; at += 4) {
    if ((one.data[at] ?? 0) > 40) continue;
    black++;
    if ((other.data[at] ?? 0) > 150) bright++;
  }
  return bright / black;
}

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
