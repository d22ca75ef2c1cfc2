// The functions of pdfium, compiled to WebAssembly, that we call. The classes of the package hide most of them. The headers of pdfium
// (fpdfview.h, fpdf_text.h, fpdf_edit.h, fpdf_flatten.h) document them.

import { readModelFile } from "../checksums.ts";
import { type Box, toBox } from "./page.ts";

export interface Pdfium {
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
  _FPDFPage_GetRotation(page: number): number;
  _FPDFPage_GetAnnotCount(page: number): number;
  _FPDFPage_Flatten(page: number, usage: number): number;
  _FPDFPage_CountObjects(page: number): number;
  _FPDFPage_GetObject(page: number, index: number): number;
  _FPDFPageObj_GetType(object: number): number;
  _FPDFPageObj_GetBounds(object: number, left: number, bottom: number, right: number, top: number): number;
  _FPDFFormObj_CountObjects(form: number): number;
  _FPDFFormObj_GetObject(form: number, index: number): number;
  _FPDFText_LoadPage(page: number): number;
  _FPDFText_ClosePage(textPage: number): void;
  _FPDFText_CountChars(textPage: number): number;
  _FPDFText_GetUnicode(textPage: number, index: number): number;
  _FPDFText_GetCharAngle(textPage: number, index: number): number;
  _FPDFText_HasUnicodeMapError(textPage: number, index: number): number;
  _FPDFText_GetLooseCharBox(textPage: number, index: number, rectangle: number): number;
  _FPDF_PageToDevice(...values: [...place: number[], x: number, y: number, xOut: number, yOut: number]): number;
  _FPDFBitmap_CreateEx(width: number, height: number, format: number, pixels: number, stride: number): number;
  _FPDFBitmap_FillRect(bitmap: number, left: number, top: number, width: number, height: number, colour: number): void;
  _FPDFBitmap_Destroy(bitmap: number): void;
  _FPDF_RenderPageBitmap(bitmap: number, page: number, ...placeRotationFlags: number[]): void;
}

/** A loaded page. */
export interface PdfPage {
  readonly pdfium: Pdfium;
  readonly handle: number;
  /** 32 bytes for results. */
  readonly scratch: number;
  /** In points, as a viewer shows the page. */
  readonly width: number;
  readonly height: number;
}

/** Left, top, right and bottom in points, measured from the bottom left of the page before its rotation. */
export type Edges = readonly [left: number, top: number, right: number, bottom: number];

export async function loadPdfium(): Promise<Pdfium> {
  const { PDFiumLibrary } = await import("@hyzyla/pdfium");
  const { bytes } = await readModelFile("@hyzyla/pdfium", "dist/pdfium.wasm");
  const library = await PDFiumLibrary.init({ wasmBinary: new Uint8Array(bytes).buffer });
  // The types of the package contain few functions of the module.
  return (library as unknown as { module: Pdfium }).module;
}

/** Float values that a function has written. The heap may have moved since the last call, so its views are not reused. */
export function readFloats({ pdfium, scratch }: PdfPage, count: number): Float32Array {
  return new Float32Array(pdfium.HEAPU8.buffer, scratch, count);
}

/** The box on the page as a viewer shows it: pdfium takes the rotation and cropping of the page into account. */
export function toPageBox({ pdfium, handle, scratch }: PdfPage, [left, top, right, bottom]: Edges): Box {
  const scale = 1_000_000;
  const toDevice = (x: number, y: number): [number, number] => {
    pdfium._FPDF_PageToDevice(handle, 0, 0, scale, scale, 0, x, y, scratch + 16, scratch + 20);
    const [deviceX = 0, deviceY = 0] = new Int32Array(pdfium.HEAPU8.buffer, scratch + 16, 2);
    return [deviceX / scale, deviceY / scale];
  };
  const [x1, y1] = toDevice(left, top);
  const [x2, y2] = toDevice(right, bottom);
  return toBox(Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2));
}
