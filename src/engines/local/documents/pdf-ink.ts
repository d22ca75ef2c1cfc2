// Finds out how much of a PDF page is visible but not embedded text: a coarse drawing of the page is divided into cells, and the cells that show
// something are compared with the boxes of the words and of the pictures.

import { mapValues } from "../map-values.ts";
import { createCoverage } from "./coverage.ts";
import type { GreyPixels } from "./grey.ts";
import type { Box } from "./page.ts";
import { type Edges, type PdfPage, readFloats, toPageBox } from "./pdfium.ts";

const maxObjects = 20_000;
const maxFormDepth = 3;
const imageType = 3;
const formType = 5;

/** The boxes of the pictures on the page. A form that contains a picture counts as one. */
export function findPictures(page: PdfPage): Box[] {
  const { pdfium, handle, scratch } = page;
  const boxes: Box[] = [];
  let looked = 0;
  const count = pdfium._FPDFPage_CountObjects(handle);
  for (let index = 0; index < count && looked < maxObjects; index++) {
    const object = pdfium._FPDFPage_GetObject(handle, index);
    if (!isPicture(object, 0)) continue;
    pdfium._FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12);
    const [left = 0, bottom = 0, right = 0, top = 0] = readFloats(page, 4);
    const edges: Edges = [left, top, right, bottom];
    boxes.push(toPageBox(page, edges));
  }
  return boxes;

  function isPicture(object: number, depth: number): boolean {
    looked++;
    const type = pdfium._FPDFPageObj_GetType(object);
    if (type === imageType) return true;
    if (type !== formType || depth >= maxFormDepth) return false;
    const parts = pdfium._FPDFFormObj_CountObjects(object);
    for (let index = 0; index < parts && looked < maxObjects; index++)
      if (isPicture(pdfium._FPDFFormObj_GetObject(object, index), depth + 1)) return true;
    return false;
  }
}

/** Shares of the page's area, 0 to 1. */
export interface Ink {
  /** Pictures without words on them, blank parts included. */
  readonly pictureArea: number;
  /** The parts that show something: in pictures and without words, anywhere without words. */
  readonly pictures: number;
  readonly wordless: number;
  /** Words, and words on pictures. */
  readonly words: number;
  readonly wordsOnPictures: number;
}

const cellPixels = 8;

export function measureInk(drawing: GreyPixels, pictures: readonly Box[], words: readonly Box[]): Ink {
  const columns = Math.ceil(drawing.width / cellPixels);
  const rows = Math.ceil(drawing.height / cellPixels);
  const inPicture = createCoverage(pictures, columns, rows).cells;
  const inWord = createCoverage(words, columns, rows).cells;
  const cells = { pictureArea: 0, pictures: 0, wordless: 0, words: 0, wordsOnPictures: 0 };
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const cell = row * columns + column;
      const isPicture = inPicture[cell] === 1;
      if (inWord[cell] === 1) {
        cells.words++;
        if (isPicture) cells.wordsOnPictures++;
        continue;
      }
      if (isPicture) cells.pictureArea++;
      if (!hasContrast(drawing, column * cellPixels, row * cellPixels)) continue;
      cells.wordless++;
      if (isPicture) cells.pictures++;
    }
  }
  return mapValues(cells, (count: number) => count / (columns * rows));
}

// Of 255. The noise of blank paper has less contrast, pale print has more.
const minContrast = 16;

function hasContrast({ width, height, pixels }: GreyPixels, left: number, top: number): boolean {
  let [darkest, lightest] = [255, 0];
  for (let y = top; y < Math.min(height, top + cellPixels); y++) {
    for (let x = left; x < Math.min(width, left + cellPixels); x++) {
      const value = pixels[y * width + x] ?? 255;
      if (value < darkest) darkest = value;
      if (value > lightest) lightest = value;
    }
  }
  return lightest - darkest >= minContrast;
}
