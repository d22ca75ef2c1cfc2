// Opens PDFs with pdfium: their embedded text, what their pages show besides it, and pages drawn as pictures.

import { refuseInput } from "../../../providers/task.ts";
import { asSent, type Line, type Page } from "./page.ts";
import { findPictures, measureInk } from "./pdf-ink.ts";
import { type PdfText, readPdfText } from "./pdf-text.ts";
import { loadPdfium, type Pdfium, type PdfPage } from "./pdfium.ts";
import { maxPixels, type Picture, toGreyMap } from "./picture.ts";

export interface PdfReader {
  /** Throws a ValidationError if the file is not a PDF, is damaged, or needs a password. */
  open(bytes: Uint8Array): Pdf;
}

export interface Pdf extends Disposable {
  readonly pageCount: number;
  /** `isThorough`: also looks for letters that are drawn as shapes on pages with much text. */
  readText(index: number, isThorough: boolean): ReadPage;
  /** As a grey picture. */
  draw(index: number): Picture;
  /** In colour, and the size of the page in points. */
  paint(index: number): PaintedPage;
}

export interface ReadPage {
  readonly page: Page;
  /** Lines across the page, such as a watermark. */
  readonly slanted: readonly Line[];
  /** How much the page shows besides its embedded text. */
  readonly pictures: PictureShare;
}

/**
 * `most`: the page is a scan, or its text is not readable. `large`: a picture beside the text may contain text. `small`: a logo, a signature or
 * letters that are drawn. `none`: the embedded text is all there is to read.
 */
export type PictureShare = "most" | "large" | "small" | "none";

export interface PaintedPage {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and an unused byte for each pixel. */
  readonly pixels: Uint8Array;
  readonly points: { readonly width: number; readonly height: number };
}

// 200 dots per inch. Measured on the samples: more takes longer and does not improve the recognition.
const dotsPerPoint = 200 / 72;
const paintedDotsPerPoint = 150 / 72;
const maxPaintedPixels = 4_000_000;
// A quarter of a megapixel is enough to see where a page shows something.
const maxCoarsePixels = 250_000;
const coarseDotsPerPoint = 0.5;
// Pages may be a thousand times as wide as high.
const maxSide = 16_000;
// A scan often has a page number or a stamp as embedded text.
const fewCharacters = 20;
const someCharacters = 200;
// Shares of the area of the page.
const largePicture = 0.1;
const smallPicture = 0.0005;
// About a line and a half of text.
const line = 0.012;
// A scan whose text another program has recognised has words nearly wherever it shows something.
const layerShare = 0.25;
// Rules and frames of tables show less.
const drawnLetters = 0.02;
const wrongPassword = 4;
const unsupportedSecurity = 5;
const formats = { grey: { code: 1, bytes: 1 }, colour: { code: 3, bytes: 4 } } as const;
const drawAnnotations = 0x01;
const drawGrey = 0x08;
const reverseByteOrder = 0x10;
const forDisplay = 0;
const flattened = 1;

export async function loadPdfReader(): Promise<PdfReader> {
  const pdfium = await loadPdfium();
  return { open: (bytes) => openPdf(pdfium, bytes) };
}

function openPdf(pdfium: Pdfium, bytes: Uint8Array): Pdf {
  const { malloc, free } = pdfium.wasmExports;
  const start = malloc(bytes.length);
  if (start === 0) refuseInput("file", "The PDF is too large to be read here.");
  pdfium.HEAPU8.set(bytes, start);
  const document = pdfium._FPDF_LoadMemDocument(start, bytes.length, 0);
  if (document === 0) {
    const reason = pdfium._FPDF_GetLastError();
    free(start);
    refuseInput("file", describeError(reason));
  }
  const scratch = malloc(32);
  const withPage = <T>(index: number, use: (page: PdfPage) => T): T => {
    const handle = loadPage(pdfium, document, index);
    try {
      const width = pdfium._FPDF_GetPageWidth(handle);
      return use({ pdfium, handle, scratch, width, height: pdfium._FPDF_GetPageHeight(handle) });
    } finally {
      pdfium._FPDF_ClosePage(handle);
    }
  };
  return {
    pageCount: pdfium._FPDF_GetPageCount(document),
    readText: (index, isThorough) => withPage(index, (page) => readPage(page, isThorough)),
    draw: (index) => withPage(index, draw),
    paint: (index) => withPage(index, paint),
    [Symbol.dispose]() {
      pdfium._FPDF_CloseDocument(document);
      free(scratch);
      free(start);
    },
  };
}

function describeError(code: number): string {
  if (code === wrongPassword) return "The PDF asks for a password. Send it without one.";
  if (code === unsupportedSecurity) return "The PDF is encrypted in a way that cannot be read. Send it decrypted.";
  return "The PDF is damaged, or not a PDF.";
}

/** The fields of forms and other annotations become a part of the page, so that their text is read. */
function loadPage(pdfium: Pdfium, document: number, index: number): number {
  const load = () => {
    const page = pdfium._FPDF_LoadPage(document, index);
    if (page === 0) refuseInput("file", `Page ${index + 1} of the PDF is damaged.`);
    return page;
  };
  const page = load();
  if (pdfium._FPDFPage_GetAnnotCount(page) === 0 || pdfium._FPDFPage_Flatten(page, forDisplay) !== flattened)
    return page;
  pdfium._FPDF_ClosePage(page);
  return load();
}

function readPage(page: PdfPage, isThorough: boolean): ReadPage {
  const text = readPdfText(page);
  return { page: text.page, slanted: text.slanted, pictures: findPictureShare(page, text, isThorough) };
}

function findPictureShare(page: PdfPage, text: PdfText, isThorough: boolean): PictureShare {
  const { characters, unreadable } = text;
  if (page.pdfium._FPDFPage_CountObjects(page.handle) === 0) return "none";
  const readable = characters - unreadable;
  if (unreadable > readable / 2) return "most";
  const pictures = findPictures(page);
  // Drawing takes time, so pages of plain text are not drawn.
  if (pictures.length === 0 && readable >= someCharacters && !isThorough) return "none";
  const { width, height, pixels } = render(page, { dots: coarseDotsPerPoint, maxPixels: maxCoarsePixels }, "grey");
  const words = asSent(text.page).lines.flatMap((line) => line.words.map((word) => word.box));
  const ink = measureInk({ width, height, pixels }, pictures, words);
  if (readable < fewCharacters) return ink.wordless > 0 ? "most" : "none";
  if (ink.pictureArea >= largePicture && ink.pictures >= line && ink.pictures > layerShare * ink.wordsOnPictures)
    return ink.pictures > ink.words ? "most" : "large";
  if (readable < someCharacters && ink.wordless >= largePicture && ink.wordless > ink.words) return "most";
  return ink.pictures >= smallPicture || ink.wordless >= drawnLetters ? "small" : "none";
}

function draw(page: PdfPage): Picture {
  const { width, height, pixels } = render(page, { dots: dotsPerPoint, maxPixels }, "grey");
  return { width, height, bytes: toGreyMap(width, height, pixels) };
}

function paint(page: PdfPage): PaintedPage {
  const size = { dots: paintedDotsPerPoint, maxPixels: maxPaintedPixels };
  return { ...render(page, size, "colour"), points: { width: page.width, height: page.height } };
}

interface DrawingSize {
  readonly dots: number;
  readonly maxPixels: number;
}

/** pdfium applies the rotation of the page. */
function render({ pdfium, handle, ...points }: PdfPage, size: DrawingSize, kind: keyof typeof formats) {
  const { malloc, free } = pdfium.wasmExports;
  const fitting = Math.sqrt(size.maxPixels / (points.width * points.height));
  const scale = Math.min(size.dots, fitting, maxSide / points.width, maxSide / points.height);
  const width = Math.max(1, Math.floor(points.width * scale));
  const height = Math.max(1, Math.floor(points.height * scale));
  const { code, bytes } = formats[kind];
  const start = malloc(width * height * bytes);
  if (start === 0) refuseInput("file", "A page of the PDF is too large to be drawn here.");
  const bitmap = pdfium._FPDFBitmap_CreateEx(width, height, code, start, width * bytes);
  try {
    pdfium._FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xffffffff);
    const flags = drawAnnotations | (kind === "grey" ? drawGrey : reverseByteOrder);
    pdfium._FPDF_RenderPageBitmap(bitmap, handle, 0, 0, width, height, 0, flags);
    return { width, height, pixels: pdfium.HEAPU8.slice(start, start + width * height * bytes) };
  } finally {
    pdfium._FPDFBitmap_Destroy(bitmap);
    free(start);
  }
}
