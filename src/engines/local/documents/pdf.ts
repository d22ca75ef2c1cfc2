// Reads PDFs with pdfium, compiled to WebAssembly: the text with the position of every word, and pages rendered as grey pictures. The classes
// of the package hide the positions of characters, so its functions are called directly.

import { refuseInput } from "../../../providers/task.ts";
import { readModelFile } from "../checksums.ts";
import { type Box, type Page, toBox, toLine, type Word } from "./page.ts";
import { maxPixels, type Picture, toGreyMap } from "./picture.ts";

export interface PdfReader {
  /** Throws a ValidationError if the file is not a PDF, is damaged, or needs a password. */
  open(bytes: Uint8Array): Pdf;
}

export interface Pdf extends Disposable {
  readonly pageCount: number;
  /** A page is a scan if it shows something, but has hardly any readable text. */
  readText(index: number): { readonly page: Page; readonly isScan: boolean };
  /** As a grey picture. */
  draw(index: number): Picture;
}

interface Pdfium {
  readonly HEAPU8: Uint8Array;
  readonly wasmExports: { malloc(size: number): number; free(pointer: number): void };
  _FPDF_LoadMemDocument(bytes: number, size: number, password: number): number;
  _FPDF_CloseDocument(document: number): void;
  _FPDF_GetLastError(): number;
  _FPDF_GetPageCount(document: number): number;
  _FPDF_LoadPage(document: number, index: number): number;
  _FPDF_ClosePage(page: number): void;
  _FPDF_GetPageWidth(page: number): number;
  _FPDF_GetPageHeight(page: number): number;
  _FPDFPage_CountObjects(page: number): number;
  _FPDFText_LoadPage(page: number): number;
  _FPDFText_ClosePage(textPage: number): void;
  _FPDFText_CountChars(textPage: number): number;
  _FPDFText_GetUnicode(textPage: number, index: number): number;
  _FPDFText_HasUnicodeMapError(textPage: number, index: number): number;
  _FPDFText_GetLooseCharBox(textPage: number, index: number, rectangle: number): number;
  _FPDF_PageToDevice(...values: [...place: number[], x: number, y: number, xOut: number, yOut: number]): number;
  _FPDFBitmap_CreateEx(width: number, height: number, format: number, pixels: number, stride: number): number;
  _FPDFBitmap_FillRect(bitmap: number, left: number, top: number, width: number, height: number, colour: number): void;
  _FPDFBitmap_Destroy(bitmap: number): void;
  _FPDF_RenderPageBitmap(bitmap: number, page: number, ...placeRotationFlags: number[]): void;
}

// 200 dots per inch. Measured on the samples: more takes longer and does not improve the recognition.
const dotsPerPoint = 200 / 72;
// A scan often has a page number or a stamp as embedded text.
const fewCharacters = 20;
const maxCharactersPerPage = 200_000;
const wrongPassword = 4;
const unsupportedSecurity = 5;
const greyFormat = 1;
const drawAnnotations = 0x01;
const drawGrey = 0x08;

export async function loadPdfReader(): Promise<PdfReader> {
  const { PDFiumLibrary } = await import("@hyzyla/pdfium");
  const { bytes } = await readModelFile("@hyzyla/pdfium", "dist/pdfium.wasm");
  const library = await PDFiumLibrary.init({ wasmBinary: new Uint8Array(bytes).buffer });
  // The types of the package contain few functions of the module.
  const { module: pdfium } = library as unknown as { module: Pdfium };
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
  return {
    pageCount: pdfium._FPDF_GetPageCount(document),
    readText: (index) => withPage(pdfium, document, index, (page) => readText(pdfium, page, scratch)),
    draw: (index) => withPage(pdfium, document, index, (page) => draw(pdfium, page)),
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

function withPage<T>(pdfium: Pdfium, document: number, index: number, use: (page: number) => T): T {
  const page = pdfium._FPDF_LoadPage(document, index);
  if (page === 0) refuseInput("file", `Page ${index + 1} of the PDF is damaged.`);
  try {
    return use(page);
  } finally {
    pdfium._FPDF_ClosePage(page);
  }
}

function readText(pdfium: Pdfium, page: number, scratch: number): { page: Page; isScan: boolean } {
  const width = pdfium._FPDF_GetPageWidth(page);
  const height = pdfium._FPDF_GetPageHeight(page);
  const textPage = pdfium._FPDFText_LoadPage(page);
  const empty: Page = { width, height, source: "text", turned: null, lines: [] };
  if (textPage === 0) return { page: empty, isScan: true };
  try {
    const { words, characters, unreadable } = readWords(pdfium, page, textPage, scratch);
    const readable = characters - unreadable;
    const isScan = pdfium._FPDFPage_CountObjects(page) > 0 && (readable < fewCharacters || unreadable > readable / 2);
    return { page: { ...empty, lines: words.map(toLine) }, isScan };
  } finally {
    pdfium._FPDFText_ClosePage(textPage);
  }
}

/** The words of each line. pdfium inserts spaces and line breaks according to the layout. */
function readWords(pdfium: Pdfium, page: number, textPage: number, scratch: number) {
  const count = pdfium._FPDFText_CountChars(textPage);
  if (count > maxCharactersPerPage)
    refuseInput("file", `A page of the PDF has ${count} characters; at most ${maxCharactersPerPage} can be read.`);
  const lines: Word[][] = [];
  let line: Word[] = [];
  let word: { text: string; box: number[] } | null = null;
  let characters = 0;
  let unreadable = 0;

  const endWord = () => {
    if (word !== null)
      line.push({ text: word.text, box: toPageBox(pdfium, page, scratch, word.box), confidence: null });
    word = null;
  };
  const endLine = () => {
    endWord();
    if (line.length > 0) lines.push(line);
    line = [];
  };
  for (let index = 0; index < count; index++) {
    const code = pdfium._FPDFText_GetUnicode(textPage, index);
    if (code === 10 || code === 13) {
      endLine();
      continue;
    }
    const character = toCharacter(code);
    if (character.trim() === "") {
      endWord();
      continue;
    }
    characters++;
    if (character === "\ufffd" || pdfium._FPDFText_HasUnicodeMapError(textPage, index) === 1) unreadable++;
    const box = readCharacterBox(pdfium, textPage, index, scratch);
    word = word === null ? { text: character, box } : { text: word.text + character, box: union(word.box, box) };
  }
  endLine();
  return { words: lines, characters, unreadable };
}

function toCharacter(code: number): string {
  // pdfium uses these codes for a hyphen at the end of a line.
  if (code === 2 || code === 0xfffe) return "-";
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return "\ufffd";
  return code < 32 ? " " : String.fromCodePoint(code);
}

/** Left, top, right and bottom in points, measured from the bottom left. */
function readCharacterBox(pdfium: Pdfium, textPage: number, index: number, scratch: number): number[] {
  pdfium._FPDFText_GetLooseCharBox(textPage, index, scratch);
  // The heap may have moved since the last call, so its views are not reused.
  const [left = 0, top = 0, right = 0, bottom = 0] = new Float32Array(pdfium.HEAPU8.buffer, scratch, 4);
  return [left, top, right, bottom];
}

function union(first: readonly number[], second: readonly number[]): number[] {
  const [l1 = 0, t1 = 0, r1 = 0, b1 = 0] = first;
  const [l2 = 0, t2 = 0, r2 = 0, b2 = 0] = second;
  return [Math.min(l1, l2), Math.max(t1, t2), Math.max(r1, r2), Math.min(b1, b2)];
}

/** pdfium takes the rotation and cropping of the page into account. */
function toPageBox(
  pdfium: Pdfium,
  page: number,
  scratch: number,
  [left = 0, top = 0, right = 0, bottom = 0]: number[],
): Box {
  const scale = 1_000_000;
  const toDevice = (x: number, y: number): [number, number] => {
    pdfium._FPDF_PageToDevice(page, 0, 0, scale, scale, 0, x, y, scratch + 16, scratch + 20);
    const [deviceX = 0, deviceY = 0] = new Int32Array(pdfium.HEAPU8.buffer, scratch + 16, 2);
    return [deviceX / scale, deviceY / scale];
  };
  const [x1, y1] = toDevice(left, top);
  const [x2, y2] = toDevice(right, bottom);
  return toBox(Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2));
}

function draw(pdfium: Pdfium, page: number): Picture {
  const { malloc, free } = pdfium.wasmExports;
  const points = { width: pdfium._FPDF_GetPageWidth(page), height: pdfium._FPDF_GetPageHeight(page) };
  const scale = Math.min(dotsPerPoint, Math.sqrt(maxPixels / (points.width * points.height)));
  const width = Math.max(1, Math.floor(points.width * scale));
  const height = Math.max(1, Math.floor(points.height * scale));
  const start = malloc(width * height);
  if (start === 0) refuseInput("file", "A page of the PDF is too large to be drawn here.");
  const bitmap = pdfium._FPDFBitmap_CreateEx(width, height, greyFormat, start, width);
  try {
    pdfium._FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xffffffff);
    pdfium._FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, drawAnnotations | drawGrey);
    return { width, height, bytes: toGreyMap(width, height, pdfium.HEAPU8.subarray(start, start + width * height)) };
  } finally {
    pdfium._FPDFBitmap_Destroy(bitmap);
    free(start);
  }
}
