// Recognises the text of a picture with the best engine for its language: PP-OCRv6 if its group is installed, otherwise tesseract.

import { loadOnce } from "../load-once.ts";
import { readPixels } from "../vision/pixels.ts";
import { chooseLanguages, toTesseractLanguage } from "./languages.ts";
import type { Page } from "./page.ts";
import { isTiff, maxPixels, type Picture, readGreyMap } from "./picture.ts";
import { isPpOcrInstalled, loadPpOcr } from "./pp-ocr/index.ts";
import { readsLanguage } from "./pp-ocr/languages.ts";
import { loadTesseract, recogniseUpright } from "./tesseract.ts";

/** Loaded for the first picture, and shared by all engines of a worker. */
export const getRecogniser = loadOnce(loadTesseract);
const getPpOcr = loadOnce(loadPpOcr);

/** Refuses languages that neither engine knows. */
export function checkLanguage(tag: string): void {
  if (!usesPpOcr(tag)) toTesseractLanguage(tag);
}

/** `language` is a BCP-47 tag; null: unknown. */
export async function readPicture(picture: Picture, language: string | null): Promise<Page> {
  if (!usesPpOcr(language)) return recogniseUpright(await getRecogniser(), picture, chooseLanguages(language));
  return (await getPpOcr()).recognise(await toPixels(picture));
}

function usesPpOcr(language: string | null): boolean {
  return isPpOcrInstalled() && (language === null || readsLanguage(language));
}

async function toPixels(picture: Picture) {
  const grey = readGreyMap(picture);
  if (grey !== null) return grey;
  const bytes = isTiff(picture.bytes) ? (await getRecogniser()).toPng(picture) : picture.bytes;
  return readPixels({ name: "", mediaType: "image/png", bytes }, "file", maxPixels);
}
