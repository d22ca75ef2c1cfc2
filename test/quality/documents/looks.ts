// A labelled document as a file: a PDF with text, a clean scan, or what a telephone takes.

import type { PdfReader } from "../../../src/engines/local/documents/pdf.ts";
import { type GreyPicture, photograph, toBitmap, toGreyPicture } from "../ocr/rasters.ts";
import { type PdfPage, writePdf } from "../ocr/write-pdf.ts";
import { createRandom } from "./random.ts";

export type Look = "pdf" | "scan" | "photo";

export const allLooks: readonly Look[] = ["pdf", "scan", "photo"];

export interface MadeFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

export async function toFile(
  pdfs: PdfReader,
  { name, pages }: { readonly name: string; readonly pages: readonly PdfPage[] },
  look: Look,
): Promise<MadeFile> {
  const pdf = writePdf(pages);
  if (look === "pdf") return { name: `${name}.pdf`, mediaType: "application/pdf", bytes: pdf };
  const pictures = drawPages(pdfs, pdf);
  const [first] = pictures;
  if (first === undefined) throw new Error(`${name} has no page.`);
  if (look === "photo") return { name: `${name}.jpg`, mediaType: "image/jpeg", bytes: await takePhoto(first, name) };
  if (pictures.length === 1) {
    const bytes = await new Bun.Image(toBitmap(first)).png().bytes();
    return { name: `${name}.png`, mediaType: "image/png", bytes };
  }
  return { name: `${name}.pdf`, mediaType: "application/pdf", bytes: await toScannedPdf(pictures, pages) };
}

export function drawPages(pdfs: PdfReader, bytes: Uint8Array): GreyPicture[] {
  using pdf = pdfs.open(bytes);
  return Array.from({ length: pdf.pageCount }, (_, index) => toGreyPicture(pdf.draw(index)));
}

/** Slightly different for each document: held by hand, lit from one side, a little out of focus. */
async function takePhoto(picture: GreyPicture, name: string): Promise<Uint8Array> {
  const random = createRandom(`photo ${name}`);
  const between = (low: number, high: number) => low + random.next() * (high - low);
  const photo = photograph(picture, {
    degrees: between(-2.5, 2.5),
    blur: 1,
    noise: between(6, 14),
    shade: between(0.15, 0.4),
    tilt: between(0, 0.04),
  });
  return new Bun.Image(toBitmap(photo)).jpeg({ quality: random.between(72, 88) }).bytes();
}

async function toScannedPdf(pictures: readonly GreyPicture[], pages: readonly PdfPage[]): Promise<Uint8Array> {
  const scanned: PdfPage[] = [];
  for (const [index, picture] of pictures.entries()) {
    const jpeg = await new Bun.Image(toBitmap(picture)).jpeg({ quality: 88 }).bytes();
    const { width = 595, height = 842 } = pages[index] ?? {};
    const mark = { kind: "picture", jpeg, pixelWidth: picture.width, pixelHeight: picture.height } as const;
    scanned.push({ width, height, marks: [mark] });
  }
  return writePdf(scanned);
}
