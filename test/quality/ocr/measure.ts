// How well the engines for documents read, measured on the labelled samples of this folder: as PDFs with text, as scans, and as
// photographs by hand. Run it alone, or by scripts/quality.ts.

import { loadPdfReader, type PdfReader } from "../../../src/engines/local/documents/pdf.ts";
import { localEngines } from "../../../src/engines/local/list.ts";
import type { LocalFile, LocalRun } from "../../../src/engines/local/local-engine.ts";
import type { QualityLine } from "../quality.ts";
import { type GreyPicture, photograph, toBitmap, toGreyPicture } from "./rasters.ts";
import { financialSamples, identitySamples, resumeSamples, storyPage, storyText } from "./samples.ts";
import { heldOutFinancialSamples, heldOutResumeSamples } from "./samples-held-out.ts";
import { type PdfPage, writePdf } from "./write-pdf.ts";

export type Look = "pdf" | "scan" | "photo";

const allLooks: readonly Look[] = ["pdf", "scan", "photo"];
const hand = { degrees: 1.6, blur: 1, noise: 14, shade: 0.35 };

export interface MeasureOptions {
  /** All of them unless told; `pdf` alone takes seconds rather than minutes. */
  readonly looks?: readonly Look[];
  readonly log?: (line: string) => void;
}

export async function measureDocumentQuality(options: MeasureOptions = {}): Promise<QualityLine[]> {
  const { looks = allLooks, log = () => {} } = options;
  const pdfs = await loadPdfReader();
  const measurements: QualityLine[] = [];
  const add: Add = (task, measure, result, cases = 1) => {
    measurements.push({ task, measure, result, cases });
    log(`${task}  ${measure}: ${result}`);
  };

  await measureRecognition(pdfs, looks, add);
  await measureFinancial(pdfs, looks, add, log);
  await measureIdentity(pdfs, looks, add, log);
  await measureResumes(pdfs, looks, add, log);
  add("ocr/*", "memory of the process", `${Math.round(process.memoryUsage().rss / 1e6)} MB`);
  return measurements;
}

type Add = (task: string, measure: string, result: string, cases?: number) => void;
type Log = (line: string) => void;

async function measureRecognition(pdfs: PdfReader, looks: readonly Look[], add: Add): Promise<void> {
  const truth = ["The Thursday ferry", ...storyText].join("\n");
  const started = performance.now();
  const ocr = await load("ocr/ocr");
  for (const look of looks) {
    const file = await makeFile(pdfs, storyPage, look);
    const before = performance.now();
    const { text } = (await run(ocr, file)) as { text: string };
    add("ocr/ocr", `a page of prose, ${look}: wrong characters`, percent(errorRate(text, truth)));
    add("ocr/ocr", `a page of prose, ${look}: first such call`, milliseconds(performance.now() - before));
    const again = performance.now();
    await run(ocr, file);
    add("ocr/ocr", `a page of prose, ${look}: next call`, milliseconds(performance.now() - again));
  }
  for (const sample of [...financialSamples, ...heldOutFinancialSamples]) {
    const written = sample.page.marks.flatMap((mark) => (mark.kind === "text" ? [mark.text] : []));
    for (const look of looks.filter((one) => one !== "pdf")) {
      const { text } = (await run(ocr, await makeFile(pdfs, sample.page, look))) as { text: string };
      add("ocr/ocr", `${sample.name}, ${look}: words lost`, percent(lostWords(text, written.join(" "))));
    }
  }
  add("ocr/ocr", "all of these", milliseconds(performance.now() - started));
}

async function measureFinancial(pdfs: PdfReader, looks: readonly Look[], add: Add, log: Log): Promise<void> {
  const parse = await load("ocr/financial_parser");
  for (const { look, heldOut, samples } of eachSet(looks, financialSamples, heldOutFinancialSamples)) {
    const fields = { right: 0, all: 0 };
    const items = { right: 0, all: 0, extra: 0 };
    for (const sample of samples) {
      const file = await makeFile(pdfs, sample.page, look);
      const output = (await run(parse, file, { document_type: "auto-detect" })) as {
        extracted_data: [Record<string, unknown>];
      };
      const [entry] = output.extracted_data;
      compareFields(
        sample,
        (path) => follow(entry, path),
        fields,
        (line) => log(`  ${look} ${line}`),
      );
      const found = entry["item_lines"] as Record<string, unknown>[];
      const right = sample.items.filter((item) =>
        found.some((other) => Object.entries(item).every(([name, value]) => other[name] === value)),
      );
      items.all += sample.items.length;
      items.right += right.length;
      items.extra += Math.max(0, found.length - sample.items.length);
      if (right.length < sample.items.length || found.length > sample.items.length) {
        log(
          `  ${look} ${sample.name} items: ${JSON.stringify(found.map((item) => [item["description"], item["quantity"], item["unit_price"], item["amount_line"]]))}`,
        );
      }
    }
    const set = heldOut ? "layouts that the rules were not made with" : "layouts that the rules were made with";
    add("ocr/financial_parser", `${look}, ${set}: fields right`, `${fields.right} of ${fields.all}`, fields.all);
    add(
      "ocr/financial_parser",
      `${look}, ${set}: lines of goods right`,
      `${items.right} of ${items.all}, ${items.extra} too many`,
      items.all,
    );
  }
}

async function measureIdentity(pdfs: PdfReader, looks: readonly Look[], add: Add, log: Log): Promise<void> {
  const parse = await load("ocr/identity_parser");
  for (const look of looks) {
    const fields = { right: 0, all: 0 };
    for (const sample of identitySamples) {
      const output = (await run(parse, await makeFile(pdfs, sample.page, look))) as {
        extracted_data: Record<string, unknown>[];
      };
      const [paper = {}] = output.extracted_data;
      const readField = (name: string) => {
        const value = paper[name] as { value: string }[] | { value: string } | undefined;
        return Array.isArray(value) ? value.map((part) => part.value).join(" ") : value?.value;
      };
      compareFields(sample, readField, fields, (line) => log(`  ${look} ${line}`));
    }
    add("ocr/identity_parser", `${look}: fields right`, `${fields.right} of ${fields.all}`, fields.all);
  }
}

async function measureResumes(pdfs: PdfReader, looks: readonly Look[], add: Add, log: Log): Promise<void> {
  const parse = await load("ocr/resume_parser");
  for (const { look, heldOut, samples } of eachSet(looks, resumeSamples, heldOutResumeSamples)) {
    const fields = { right: 0, all: 0 };
    for (const sample of samples) {
      const { extracted_data: found } = (await run(parse, await makeFile(pdfs, sample.page, look))) as {
        extracted_data: unknown;
      };
      compareFields(
        sample,
        (path) => follow(found, path),
        fields,
        (line) => log(`  ${look} ${line}`),
      );
    }
    const set = heldOut ? "layouts that the rules were not made with" : "the layout that the rules were made with";
    add("ocr/resume_parser", `${look}, ${set}: fields right`, `${fields.right} of ${fields.all}`, fields.all);
  }
}

/** In each look, the samples that the rules were made with, and those that were held out. */
function eachSet<Sample>(looks: readonly Look[], known: readonly Sample[], heldOut: readonly Sample[]) {
  return looks.flatMap((look) => [
    { look, heldOut: false, samples: known },
    { look, heldOut: true, samples: heldOut },
  ]);
}

/** Counts the fields that were read right, and logs the others. */
function compareFields(
  { name, expected }: { readonly name: string; readonly expected: Readonly<Record<string, unknown>> },
  readField: (path: string) => unknown,
  fields: { right: number; all: number },
  log: Log,
): void {
  for (const [path, wanted] of Object.entries(expected)) {
    const actual = readField(path);
    fields.all++;
    if (actual === wanted) fields.right++;
    else log(`${name} ${path}: ${JSON.stringify(actual)} instead of ${JSON.stringify(wanted)}`);
  }
}

async function load(task: string): Promise<LocalRun> {
  const engine = localEngines.find((candidate) => candidate.task === task);
  if (engine === undefined) throw new Error(`There is no engine for ${task}.`);
  return engine.load();
}

async function run(use: LocalRun, file: LocalFile, input: Record<string, string> = {}): Promise<unknown> {
  return (await use({ model: null, input, files: { file }, onProgress: () => {} })).output;
}

/** The sample as a PDF with text, as a scanner sees it, or as a telephone does. */
export async function makeFile(pdfs: PdfReader, page: PdfPage, look: Look): Promise<LocalFile> {
  const bytes = writePdf([page]);
  if (look === "pdf") return { name: "sample.pdf", mediaType: "application/pdf", bytes };
  const drawn = drawPage(pdfs, bytes);
  if (look === "scan") {
    return { name: "sample.png", mediaType: "image/png", bytes: await new Bun.Image(toBitmap(drawn)).png().bytes() };
  }
  const photo = await new Bun.Image(toBitmap(photograph(drawn, hand))).jpeg({ quality: 75 }).bytes();
  return { name: "sample.jpg", mediaType: "image/jpeg", bytes: photo };
}

export function drawPage(pdfs: PdfReader, bytes: Uint8Array): GreyPicture {
  using pdf = pdfs.open(bytes);
  return toGreyPicture(pdf.draw(0));
}

function follow(value: unknown, path: string): unknown {
  return path.split(".").reduce((at, name) => (at as Record<string, unknown> | null | undefined)?.[name], value);
}

/** Levenshtein distance over the true length, white space counted once. */
function errorRate(text: string, truth: string): number {
  const [actual, expected] = [text, truth].map((whole) => whole.replace(/\s+/g, " ").trim()) as [string, string];
  let previous = Array.from({ length: expected.length + 1 }, (_, index) => index);
  for (const [row, character] of [...actual].entries()) {
    const current = [row + 1];
    for (let column = 1; column <= expected.length; column++) {
      const change = (previous[column - 1] ?? 0) + (expected[column - 1] === character ? 0 : 1);
      current.push(Math.min(change, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return (previous.at(-1) ?? 0) / expected.length;
}

/** Forms have no one reading order, so their words are counted rather than lined up. */
function lostWords(text: string, truth: string): number {
  const read = new Map<string, number>();
  for (const word of text.split(/\s+/)) read.set(word, (read.get(word) ?? 0) + 1);
  const words = truth.split(/\s+/);
  const lost = words.filter((word) => {
    const left = read.get(word) ?? 0;
    read.set(word, left - 1);
    return left <= 0;
  });
  return lost.length / words.length;
}

function milliseconds(elapsed: number): string {
  return `${Math.round(elapsed)} ms`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

if (import.meta.main) await measureDocumentQuality({ log: (line) => console.log(line) });
