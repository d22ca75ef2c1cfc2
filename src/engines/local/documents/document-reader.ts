// Reads any file as pages of text: PDFs by their embedded text or, for scans, by OCR; pictures; office files; plain text.

import type { LocalFile } from "../local-engine.ts";
import { chooseLanguages, toTesseractLanguage } from "./languages.ts";
import { decodeEntities, readOfficeText } from "./office-text.ts";
import { type Page, toBox, toLine } from "./page.ts";
import type { PdfReader } from "./pdf.ts";
import { loadPdfReader } from "./pdf.ts";
import { maxPixels, type Picture, preparePictures, toPortableGreymap } from "./picture.ts";
import { loadRecogniser, type Recogniser, recogniseUpright } from "./recogniser.ts";
import { refuseFile } from "./refuse.ts";

export interface DocumentReader {
  read(file: LocalFile | undefined, options: ReadOptions): Promise<Page[]>;
  /** The file as pictures: of a PDF each page, up to a limit. */
  draw(file: LocalFile, maxPages: number): Promise<Picture[]>;
  readonly recogniser: () => Promise<Recogniser>;
}

export interface ReadOptions {
  /** BCP-47; null: whichever is installed. */
  readonly language: string | null;
  readonly limits: PageLimits;
  /** How much of the file has been read, 0..1. */
  readonly onProgress?: (share: number) => void;
}

export interface PageLimits {
  readonly pages: number;
  /** Recognising takes seconds a page. */
  readonly scannedPages: number;
  /** What to do about it, after the sentence that names the limit. */
  readonly advice: string;
}

export const limitsNow: PageLimits = {
  pages: 200,
  scannedPages: 20,
  advice: "Split it, or run it as a job with ocr/ocr_async.",
};
export const limitsOfJobs: PageLimits = { pages: 2_000, scannedPages: 200, advice: "Split it." };

const maxTextBytes = 5_000_000;
// A thousand pages of prose. What reads rows and fields is made for documents, not for libraries.
const maxCharacters = 2_000_000;
const officeTypes = [
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  "application/vnd.ms-word.document.macroenabled.12",
  "application/vnd.oasis.opendocument.text",
  "application/vnd.oasis.opendocument.presentation",
  "application/zip",
];

/** The packages that are needed to read documents. */
export const readerPackages = ["tesseract.js-core", "@tesseract.js-data/eng", "@hyzyla/pdfium"];

/** The parts are loaded when the first file needs them, once for all tasks of a worker. */
export function createDocumentReader(): DocumentReader {
  const pdfReader = once(loadPdfReader);
  const recogniser = once(loadRecogniser);

  return {
    recogniser,
    async read(file, { language, limits, onProgress = ignore }) {
      if (file === undefined) throw refuseFile("The file is missing.", "missing");
      if (file.bytes.length === 0) throw refuseFile("The file is empty.");
      if (language !== null) toTesseractLanguage(language);
      const kind = findKind(file);
      if (kind === "pdf") return readPdf(await pdfReader(), recogniser, file.bytes, { language, limits, onProgress });
      if (kind === "office") return [toFlowPage(readOfficeText(file.bytes))];
      if (kind === "text" || kind === "html") return [toFlowPage(readPlainText(file.bytes, kind === "html"))];
      const pictures = await preparePictures(file.bytes);
      checkScans(pictures.length, limits);
      const pages: Page[] = [];
      for (const picture of pictures) {
        pages.push(recogniseUpright(await recogniser(), picture, chooseLanguages(language)));
        onProgress(pages.length / pictures.length);
      }
      return pages;
    },
    async draw(file, maxPages) {
      const kind = findKind(file);
      if (kind === "picture") return (await preparePictures(file.bytes)).slice(0, maxPages);
      if (kind !== "pdf") return [];
      const pdf = (await pdfReader()).open(file.bytes);
      try {
        return Array.from({ length: Math.min(maxPages, pdf.pageCount) }, (_, index) => drawPage(pdf, index));
      } finally {
        pdf.close();
      }
    },
  };
}

/** The bytes determine the type; the file name only distinguishes HTML and CSV from other text. */
function findKind(file: LocalFile): "pdf" | "picture" | "office" | "text" | "html" {
  const type = file.mediaType.toLowerCase();
  const head = Buffer.from(file.bytes.subarray(0, 1024)).toString("latin1");
  if (head.includes("%PDF-")) return "pdf";
  if (type === "application/pdf") throw refuseFile("The PDF is damaged, or not a PDF.");
  if (head.startsWith("PK\x03\x04") && (officeTypes.includes(type) || type === "application/octet-stream"))
    return "office";
  if (type.startsWith("image/")) return "picture";
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (type.startsWith("text/")) return "text";
  throw refuseFile(
    `Files of the type ${file.mediaType} cannot be read here. Send a PDF, a picture, .docx, .odt, .pptx or text.`,
  );
}

async function readPdf(
  reader: PdfReader,
  recogniser: () => Promise<Recogniser>,
  bytes: Uint8Array,
  { language, limits, onProgress = ignore }: ReadOptions,
): Promise<Page[]> {
  const pdf = reader.open(bytes);
  try {
    if (pdf.pageCount === 0) throw refuseFile("The PDF has no pages.");
    if (pdf.pageCount > limits.pages) {
      throw refuseFile(
        `The PDF has ${pdf.pageCount} pages; at most ${limits.pages} can be read here. ${limits.advice}`,
      );
    }
    const read = [];
    let characters = 0;
    for (let index = 0; index < pdf.pageCount; index++) {
      const next = pdf.readText(index);
      characters += next.page.lines.reduce((total, line) => total + line.text.length, 0);
      checkCharacters(characters);
      read.push(next);
    }
    const scans = read.filter((page) => page.isScan).length;
    checkScans(scans, limits);
    let recognisedScans = 0;
    const pages: Page[] = [];
    for (const [index, { page, isScan }] of read.entries()) {
      if (!isScan) {
        pages.push(page);
        continue;
      }
      const languages = chooseLanguages(language);
      const recognised = recogniseUpright(await recogniser(), drawPage(pdf, index), languages);
      // The little text that a scan has may be all that there is to read.
      pages.push(recognised.lines.length > 0 ? recognised : page);
      // Pages with text of their own took no time beside these.
      recognisedScans++;
      onProgress(recognisedScans / scans);
    }
    return pages;
  } finally {
    pdf.close();
  }
}

function drawPage(pdf: ReturnType<PdfReader["open"]>, index: number): Picture {
  const { width, height, pixels } = pdf.draw(index, maxPixels);
  return { width, height, bytes: toPortableGreymap(width, height, pixels) };
}

function checkScans(count: number, limits: PageLimits): void {
  if (count <= limits.scannedPages) return;
  throw refuseFile(
    `${count} pages are pictures; at most ${limits.scannedPages} can be recognised here. ${limits.advice}`,
  );
}

function checkCharacters(count: number): void {
  if (count > maxCharacters) throw refuseFile(`The document has more than ${maxCharacters} characters. Split it.`);
}

function readPlainText(bytes: Uint8Array, isHtml: boolean): string[] {
  if (bytes.length > maxTextBytes) throw refuseFile(`The text has more than ${maxTextBytes / 1e6} MB.`);
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

/** Places as in a text of fixed width, so that what looks like columns is found as columns. */
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

function ignore(): void {}

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}
