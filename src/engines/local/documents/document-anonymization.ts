// ocr/anonymization_async: blacks out personal data. The pages of a PDF become pictures, so that nothing of the hidden text remains in the file.
// Faces, handwriting and codes are not hidden.

import { refuseInput } from "../../../providers/task.ts";
import { defineEngine, type LocalFile } from "../local-engine.ts";
import { phonePackage } from "../text/phone-numbers.ts";
import type { Span } from "../text/sentences.ts";
import { type Pixels, readPixels, writePixels } from "../vision/pixels.ts";
import { findKind, paintPages, type ReadOptions, readDocument, readerPackages } from "./document-reader.ts";
import { asSent, type Box, type Page, type Word } from "./page.ts";
import { type PicturePage, writePicturePdf } from "./picture-pdf.ts";

type FindData = (text: string) => readonly Span[];

interface Redacted {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly pages: number;
  readonly hidden: number;
}

const limits = { pages: 200, scannedPages: 200, advice: "Split it." };
const maxPicturePixels = 16_000_000;
const maxTextBytes = 1_000_000;
// Relative to the height of a word: boxes can be a little too small.
const margin = 0.15;
// Reading the pages takes far longer than drawing them.
const shareOfReading = 0.9;
/** A line of the machine-readable zone of a passport or an identity card. */
const zoneLine = /^(?=.{28,})[A-Z0-9<«‹ ]*[<«‹]{2}[A-Z0-9<«‹ ]*$/u;

export const documentAnonymization = defineEngine({
  task: "ocr/anonymization_async",
  packages: [...readerPackages, phonePackage],
  timeLimit: "job",
  async load() {
    const { loadPersonalData } = await import("../text/personal-data.ts");
    const findData = await loadPersonalData();
    return async ({ files, onProgress }) => {
      const file = files["file"] ?? refuseInput("file", "The file is missing.", "missing");
      const { bytes, mediaType, pages, hidden } = await redactFile(file, findData, onProgress);
      return {
        output: {},
        original: { engine: "text recognition and rules for personal data", pages, hidden },
        units: { page: pages, file: 1 },
        binaries: [{ base64Path: ["document"], urlPath: ["document_url"], bytes, mediaType }],
      };
    };
  },
});

async function redactFile(file: LocalFile, findData: FindData, onProgress: (share: number) => void): Promise<Redacted> {
  const kind = findKind(file);
  const options: ReadOptions = {
    language: null,
    limits,
    isThorough: true,
    onProgress: (share) => onProgress(share * shareOfReading),
  };
  switch (kind) {
    case "pdf":
      return redactPdf(file, findData, options);
    case "picture":
      return redactPicture(file, findData, options);
    case "text":
      return redactText(file, findData);
    default:
      return refuseInput(
        "file",
        "Personal data can be hidden in a PDF, a picture or plain text. Save the file as PDF.",
      );
  }
}

async function redactPdf(file: LocalFile, findData: FindData, options: ReadOptions): Promise<Redacted> {
  const read = await readDocument(file, options);
  const pages: PicturePage[] = [];
  let hidden = 0;
  for await (const { width, height, pixels: data, points } of paintPages(file.bytes)) {
    const page = read[pages.length];
    // A page that was not read must not be passed on.
    if (page === undefined) throw new Error("The PDF has more pages than were read");
    const boxes = findBoxes(page, findData);
    hidden += boxes.length;
    const pixels: Pixels = { width, height, data, colourProfile: null, format: "jpeg" };
    for (let index = 3; index < data.length; index += 4) data[index] = 255;
    blackOut(pixels, boxes);
    const { bytes: jpeg } = await writePixels(pixels);
    pages.push({ jpeg, pixelWidth: width, pixelHeight: height, ...points });
    options.onProgress(1);
  }
  return { bytes: writePicturePdf(pages), mediaType: "application/pdf", pages: pages.length, hidden };
}

async function redactPicture(file: LocalFile, findData: FindData, options: ReadOptions): Promise<Redacted> {
  if (/^image\/tiff?$/.test(file.mediaType))
    refuseInput("file", "Personal data cannot be hidden in a TIFF here. Send it as PDF, PNG or JPEG.");
  const pixels = await readPixels(file, "file", maxPicturePixels);
  const [page] = await readDocument(file, options);
  const boxes = page === undefined ? [] : findBoxes(page, findData);
  blackOut(pixels, boxes);
  return { ...(await writePixels(pixels)), pages: 1, hidden: boxes.length };
}

function redactText({ bytes, mediaType }: LocalFile, findData: FindData): Redacted {
  if (bytes.length > maxTextBytes) refuseInput("file", `The text has more than ${maxTextBytes / 1e6} MB. Split it.`);
  const text = new TextDecoder("utf-8").decode(bytes);
  const isHidden = new Uint8Array(text.length);
  const spans = findData(text);
  for (const { start, text: datum } of spans) isHidden.fill(1, start, start + datum.length);
  let result = "";
  let at = 0;
  for (const character of text) {
    const isCovered = isHidden[at] === 1 && character.trim() !== "";
    result += isCovered ? "*" : character;
    at += character.length;
  }
  return { bytes: Buffer.from(result), mediaType, pages: 1, hidden: spans.length };
}

/** The boxes of all words that contain a part of personal data, on the page as it was sent. */
function findBoxes(page: Page, findData: FindData): Box[] {
  const slant = Math.abs(Math.sin(page.turned?.radians ?? 0));
  const { lines } = asSent(page);
  const places: { readonly word: Word; readonly start: number }[] = [];
  let text = "";
  const hiddenLines: Word[] = [];
  for (const line of lines) {
    if (zoneLine.test(line.text)) hiddenLines.push(...line.words);
    for (const word of line.words) {
      places.push({ word, start: text.length });
      text += `${word.text} `;
    }
    text = `${text.slice(0, -1)}\n`;
  }
  const spans = findData(text).toSorted((one, other) => one.start - other.start);
  const hidden = new Set(hiddenLines);
  let first = 0;
  for (const { start, text: datum } of spans) {
    while (first > 0 && (places[first]?.start ?? 0) > start) first--;
    while (first < places.length && endOf(places[first]) <= start) first++;
    for (let index = first; index < places.length && (places[index]?.start ?? 0) < start + datum.length; index++) {
      const place = places[index];
      if (place !== undefined) hidden.add(place.word);
    }
  }
  return [...hidden].map(({ box }) => grow(box, page, slant));
}

function endOf(place: { readonly word: Word; readonly start: number } | undefined): number {
  return place === undefined ? Number.POSITIVE_INFINITY : place.start + place.word.text.length;
}

/** A word on a slanted line extends above and below its box. */
function grow({ left, top, width, height }: Box, page: Page, slant: number): Box {
  const aspect = page.height / page.width;
  const [across, down] = [margin * Math.min(height * aspect, width), margin * height + (slant * width) / aspect / 2];
  return { left: left - across, top: top - down, width: width + 2 * across, height: height + 2 * down };
}

function blackOut({ width, height, data }: Pixels, boxes: readonly Box[]): void {
  const row = Buffer.alloc(width * 4);
  for (let index = 3; index < row.length; index += 4) row[index] = 255;
  for (const box of boxes) {
    const left = Math.max(0, Math.floor(box.left * width) - 1);
    const right = Math.min(width, Math.ceil((box.left + box.width) * width) + 1);
    const bottom = Math.min(height, Math.ceil((box.top + box.height) * height) + 1);
    for (let y = Math.max(0, Math.floor(box.top * height) - 1); y < bottom; y++)
      data.set(row.subarray(0, (right - left) * 4), (y * width + left) * 4);
  }
}
