// Reads any file as pages of text: PDFs by their embedded text or, for scans, by OCR; pictures; office files; plain text.

import { ValidationError } from "../../../errors.ts";
import { refuseInput } from "../../../providers/task.ts";
import { loadOnce } from "../load-once.ts";
import type { LocalFile } from "../local-engine.ts";
import { type MergeOptions, mergeText } from "./merge-text.ts";
import { decodeEntities, readOfficeText } from "./office-text.ts";
import { asSent, type Page, toBox, toLine, turnPage, turnUpright } from "./page.ts";
import { loadPdfReader, type PaintedPage, type Pdf, type ReadPage } from "./pdf.ts";
import { type Picture, preparePictures } from "./picture.ts";
import { checkLanguage, readPicture } from "./read-picture.ts";
import { toReadingOrder } from "./reading-order.ts";

export interface ReadOptions {
  /** BCP-47; null: all languages that are installed. */
  readonly language: string | null;
  readonly limits: PageLimits;
  /** Every picture on a page of a PDF is recognised, however small. Otherwise only those that may contain much text. */
  readonly isThorough?: boolean;
  /** The share of the file that has been read, 0 to 1. */
  onProgress(share: number): void;
}

export interface PageLimits {
  readonly pages: number;
  /** Recognition takes seconds per page. */
  readonly scannedPages: number;
  /** Follows the sentence that states the limit. */
  readonly advice: string;
}

const officeTypes = [
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  "application/vnd.ms-word.document.macroenabled.12",
  "application/vnd.oasis.opendocument.text",
  "application/vnd.oasis.opendocument.presentation",
  "application/zip",
];

export const readerPackages = ["tesseract.js-core", "@tesseract.js-data/eng", "@hyzyla/pdfium"];

const getPdfReader = loadOnce(loadPdfReader);

export async function readDocument(file: LocalFile | undefined, options: ReadOptions): Promise<Page[]> {
  if (file === undefined) return refuseInput("file", "The file is missing.", "missing");
  if (file.bytes.length === 0) refuseInput("file", "The file is empty.");
  if (options.language !== null) checkLanguage(options.language);
  const kind = findKind(file);
  switch (kind) {
    case "pdf":
      return readPdf(file.bytes, options);
    case "office":
      return [toFlowPage(readOfficeText(file.bytes))];
    case "text":
    case "html":
      return [toFlowPage(readPlainText(file.bytes, kind === "html"))];
    case "picture":
      return readPictures(await preparePictures(file.bytes), options);
  }
}

/** The first pages of a PDF or a picture file; of other files none. */
export async function drawPages(file: LocalFile | undefined, maxPages: number): Promise<Picture[]> {
  const pictures: Picture[] = [];
  for await (const picture of drawEachPage(file)) {
    pictures.push(picture);
    if (pictures.length >= maxPages) break;
  }
  return pictures;
}

/** The pages of a PDF or a picture file, one after the other; of other files none. */
export async function* drawEachPage(file: LocalFile | undefined): AsyncGenerator<Picture> {
  if (file === undefined) return;
  const kind = findKind(file);
  if (kind === "picture") yield* await preparePictures(file.bytes);
  if (kind !== "pdf") return;
  using pdf = (await getPdfReader()).open(file.bytes);
  for (let index = 0; index < pdf.pageCount; index++) yield pdf.draw(index);
}

/** The pages of a PDF in colour, one after the other, because each takes megabytes. */
export async function* paintPages(bytes: Uint8Array): AsyncGenerator<PaintedPage> {
  using pdf = (await getPdfReader()).open(bytes);
  for (let index = 0; index < pdf.pageCount; index++) yield pdf.paint(index);
}

/** The bytes determine the type; the file name only distinguishes HTML and CSV from other text. */
export function findKind(file: LocalFile): "pdf" | "picture" | "office" | "text" | "html" {
  const type = file.mediaType.toLowerCase();
  const head = Buffer.from(file.bytes.subarray(0, 1024)).toString("latin1");
  if (head.includes("%PDF-")) return "pdf";
  if (type === "application/pdf") refuseInput("file", "The PDF is damaged, or not a PDF.");
  if (head.startsWith("PK\x03\x04") && (officeTypes.includes(type) || type === "application/octet-stream"))
    return "office";
  if (type.startsWith("image/")) return "picture";
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (type.startsWith("text/")) return "text";
  const supported = "Send a PDF, a picture, .docx, .odt, .pptx or text.";
  return refuseInput("file", `Files of the type ${file.mediaType} cannot be read here. ${supported}`);
}

async function readPictures(pictures: readonly Picture[], options: ReadOptions): Promise<Page[]> {
  checkScans(pictures.length, options.limits);
  const pages: Page[] = [];
  for (const picture of pictures) {
    pages.push(toReadingOrder(await recognise(picture, options)));
    options.onProgress(pages.length / pictures.length);
  }
  return pages;
}

async function recognise(picture: Picture, { language }: ReadOptions): Promise<Page> {
  return turnUpright(await readPicture(picture, language));
}

async function readPdf(bytes: Uint8Array, options: ReadOptions): Promise<Page[]> {
  using pdf = (await getPdfReader()).open(bytes);
  const read = readPdfText(pdf, options);
  const plan = planRecognition(read, options);
  const toRecognise = plan.filter((step) => step === "required" || step === "optional").length;
  let recognised = 0;
  const pages: Page[] = [];
  for (const [index, { page, slanted, pictures }] of read.entries()) {
    const whole = await readPictureText(index, page, toMergeOptions(pictures === "most", options));
    const ordered = toReadingOrder(whole);
    const across = turnPage({ ...asSent(ordered), lines: slanted }, ordered.turned);
    pages.push({ ...ordered, lines: [...ordered.lines, ...across.lines] });
  }
  return pages;

  async function readPictureText(index: number, embedded: Page, merge: MergeOptions): Promise<Page> {
    const step = plan[index];
    if (step === "skipped") return { ...embedded, hasUnreadPictures: true };
    if (step === "none") return embedded;
    try {
      return mergeText(embedded, await recognise(pdf.draw(index), options), merge);
    } catch (error) {
      // The language of the pictures may not be installed. The embedded text is readable all the same.
      if (step === "required" || !(error instanceof ValidationError)) throw error;
      return { ...embedded, hasUnreadPictures: true };
    } finally {
      // Only recognised pages count, because pages with embedded text take hardly any time.
      recognised++;
      options.onProgress(recognised / toRecognise);
    }
  }
}

const minConfidenceBesideText = 0.5;

/** Photographs and drawings beside text are recognised as words with a low confidence. */
function toMergeOptions(isScan: boolean, { isThorough = false }: ReadOptions): MergeOptions {
  return { isScan, minConfidence: isScan || isThorough ? 0 : minConfidenceBesideText };
}

type RecognitionStep = "none" | "required" | "optional" | "skipped";

/** Scans are refused beyond the limit. The pictures of pages with embedded text are recognised as far as the limit allows. */
function planRecognition(read: readonly ReadPage[], { limits, isThorough = false }: ReadOptions): RecognitionStep[] {
  const isRequired = ({ pictures }: ReadPage) => (isThorough ? pictures !== "none" : pictures === "most");
  const required = read.filter(isRequired).length;
  checkScans(required, limits);
  let remaining = limits.scannedPages - required;
  return read.map((page) => {
    if (isRequired(page)) return "required";
    if (page.pictures !== "large") return "none";
    remaining--;
    return remaining >= 0 ? "optional" : "skipped";
  });
}

function readPdfText(pdf: Pdf, { limits: { pages, advice }, isThorough = false }: ReadOptions): ReadPage[] {
  const { pageCount } = pdf;
  if (pageCount === 0) refuseInput("file", "The PDF has no pages.");
  if (pageCount > pages)
    refuseInput("file", `The PDF has ${pageCount} pages; at most ${pages} can be read here. ${advice}`);
  let characters = 0;
  return Array.from({ length: pageCount }, (_, index) => {
    const read = pdf.readText(index, isThorough);
    characters += read.page.lines.reduce((total, line) => total + line.text.length, 0);
    checkCharacters(characters);
    return read;
  });
}

function checkScans(count: number, limits: PageLimits): void {
  if (count <= limits.scannedPages) return;
  const limit = `at most ${limits.scannedPages} can be recognised here`;
  refuseInput("file", `${count} pages are pictures; ${limit}. ${limits.advice}`);
}

// About a thousand pages of prose. The parsers are made for documents and not for books.
const maxCharacters = 2_000_000;

function checkCharacters(count: number): void {
  if (count > maxCharacters) refuseInput("file", `The document has more than ${maxCharacters} characters. Split it.`);
}

const maxTextBytes = 5_000_000;

function readPlainText(bytes: Uint8Array, isHtml: boolean): string[] {
  if (bytes.length > maxTextBytes) refuseInput("file", `The text has more than ${maxTextBytes / 1e6} MB.`);
  const text = new TextDecoder("utf-8").decode(bytes);
  const plain = isHtml ? stripHtml(text) : text;
  return plain.split(/\r\n|\n|\r/).filter((line) => line.trim() !== "");
}

const htmlBreaks = new Set(["p", "div", "tr", "li", "table", "br", "h1", "h2", "h3", "h4", "h5", "h6"]);

/** A single pass, because regular expressions for comments and scripts can take hours on hostile input. */
function stripHtml(html: string): string {
  const lower = html.toLowerCase();
  let text = "";
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open < 0) return decodeEntities(text + html.slice(at).replace(/\s+/g, " "));
    text += html.slice(at, open).replace(/\s+/g, " ");
    const name = /^\/?[a-z0-9]+/.exec(lower.slice(open + 1, open + 20))?.[0] ?? "";
    const end = findEnd(lower, open, name);
    if (end < 0) break;
    at = end;
    if (htmlBreaks.has(name.replace("/", ""))) text += "\n";
    if (name === "/td" || name === "/th") text += "\t";
  }
  return decodeEntities(text);
}

/** The offset at which the text continues after a tag; -1 if it does not. */
function findEnd(lower: string, open: number, name: string): number {
  const after = (mark: string, from: number) => {
    const found = lower.indexOf(mark, from);
    return found < 0 ? -1 : found + mark.length;
  };
  if (lower.startsWith("<!--", open)) return after("-->", open + 4);
  if (["script", "style", "head"].includes(name)) return after(`</${name}>`, open);
  return after(">", open);
}

/** Positions as in a fixed-width font, so that columns of the text are found as columns. */
function toFlowPage(lines: readonly string[]): Page {
  checkCharacters(lines.reduce((total, line) => total + line.length, 0));
  const tabWidth = 24;
  const expanded = lines.map((line) => line.replace(/\t+/g, (tabs) => " ".repeat(tabs.length * tabWidth)).trimEnd());
  const columns = expanded.reduce((widest, line) => Math.max(widest, line.length), 80);
  const height = Math.max(1, expanded.length);
  const placed = expanded.map((text, row) => {
    const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
      text: word,
      box: toBox(index / columns, row / height, (index + word.length) / columns, (row + 0.8) / height),
      confidence: null,
    }));
    return toLine(words);
  });
  const lined = placed.filter((line) => line.words.length > 0);
  return { width: columns * 6, height: height * 12, source: "flow", turned: null, lines: lined };
}
