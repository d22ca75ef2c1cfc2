// How well text is recognised on labelled pages, beside reference programs where they are installed.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadPdfReader, type PdfReader } from "../../../../src/engines/local/documents/pdf.ts";
import type { LocalEngines } from "../../../../src/engines/local/index.ts";
import { runLocal } from "../../../engines/local-call.ts";
import type { Split } from "../../documents/labelled-document.ts";
import { drawPages, type MadeFile } from "../../documents/looks.ts";
import { MissingFontError } from "../fonts.ts";
import { toBitmap } from "../rasters.ts";
import { writePdf } from "../write-pdf.ts";
import { applyFaults } from "./faults.ts";
import type { LabelledPage } from "./page.ts";
import { countCells, type FoundCell, scoreText, type TextScore } from "./score.ts";
import { pagesToTest } from "./test/set.ts";
import { pagesToTune } from "./tune/set.ts";

const splits: Readonly<Record<Split, () => LabelledPage[]>> = { tune: pagesToTune, test: pagesToTest };

export interface PageOptions {
  readonly split: Split;
  /** Only pages whose name contains it. */
  readonly name?: string;
  readonly onPage?: (page: LabelledPage, score: TextScore, text: string, cells: CellCount | null) => void;
  readonly onFile?: (file: MadeFile) => Promise<void>;
  readonly log?: (line: string) => void;
}

interface CellCount {
  readonly found: number;
  readonly all: number;
}

export interface PageResult {
  readonly page: LabelledPage;
  readonly score: TextScore;
  readonly milliseconds: number;
  /** Of pages that are a table. */
  readonly cells: CellCount | null;
  /** By the tesseract program, where it is installed with the language of the page. */
  readonly reference: TextScore | null;
}

export async function measurePages(local: LocalEngines, options: PageOptions): Promise<PageResult[]> {
  const { split, name = "", onPage = () => {}, onFile = async () => {}, log = () => {} } = options;
  const pdfs = await loadPdfReader();
  const tesseract = findTesseract(log);
  const results: PageResult[] = [];
  for (const page of splits[split]().filter((one) => one.name.includes(name))) {
    const file = await makePage(pdfs, page, log);
    if (file === null) continue;
    await onFile(file);
    const startedAt = performance.now();
    const text = await recognise(local, file, log);
    const milliseconds = performance.now() - startedAt;
    const score = scoreText(text, page.truth);
    const cells = page.cells === undefined ? null : await readCells(local, file, page.cells, log);
    onPage(page, score, text, cells);
    results.push({ page, score, milliseconds, cells, reference: tesseract(file, page) });
  }
  return results;
}

export async function makePage(
  pdfs: PdfReader,
  page: LabelledPage,
  log: (line: string) => void = () => {},
): Promise<MadeFile | null> {
  try {
    const [picture] = drawPages(pdfs, writePdf([page.page]));
    if (picture === undefined) throw new Error(`${page.name} has no page.`);
    const image = new Bun.Image(toBitmap(applyFaults(picture, page.faults, page.name)));
    const isPhoto = page.faults.some(({ kind }) => kind === "photo");
    const bytes = await (isPhoto ? image.jpeg({ quality: 80 }) : image.png()).bytes();
    return isPhoto
      ? { name: `${page.name}.jpg`, mediaType: "image/jpeg", bytes }
      : { name: `${page.name}.png`, mediaType: "image/png", bytes };
  } catch (error) {
    if (!(error instanceof MissingFontError)) throw error;
    log(`${page.name} is skipped: ${error.message}`);
    return null;
  }
}

async function recognise(local: LocalEngines, file: MadeFile, log: (line: string) => void): Promise<string> {
  try {
    const { output } = await runLocal(local, "ocr/ocr", { file: "https://files.example/x" }, { files: filesOf(file) });
    return String((output as { text: unknown }).text);
  } catch (error) {
    log(`${file.name}: ${error instanceof Error ? error.message : error}`);
    return "";
  }
}

async function readCells(
  local: LocalEngines,
  file: MadeFile,
  cells: readonly (readonly string[])[],
  log: (line: string) => void,
): Promise<CellCount> {
  const all = cells.flat().length;
  try {
    const input = { file: "https://files.example/x" };
    const { output } = await runLocal(local, "ocr/ocr_tables_async", input, { files: filesOf(file) });
    const { pages } = output as unknown as { pages: { tables: { rows: { cells: FoundCell[] }[] }[] }[] };
    const tables = pages.flatMap((page) => page.tables).map((table) => table.rows.flatMap((row) => row.cells));
    return { found: countCells(tables, cells), all };
  } catch (error) {
    log(`${file.name}: ${error instanceof Error ? error.message : error}`);
    return { found: 0, all };
  }
}

function filesOf(file: MadeFile) {
  return { file: { ...file, size: file.bytes.length, read: async () => file.bytes } };
}

const tesseractLanguages: Readonly<Record<string, string>> = {
  de: "deu",
  en: "eng",
  es: "spa",
  fr: "fra",
  it: "ita",
  ja: "jpn",
  nl: "nld",
  pl: "pol",
  pt: "por",
  zh: "chi_sim",
};

/** A function that reads a page with the tesseract program, or always null. */
function findTesseract(log: (line: string) => void): (file: MadeFile, page: LabelledPage) => TextScore | null {
  const program = Bun.which("tesseract");
  if (program === null) {
    log("The tesseract program is not installed (Debian: apt install tesseract-ocr), so its column is empty.");
    return () => null;
  }
  const listed = Bun.spawnSync([program, "--list-langs"]).stdout.toString().split("\n");
  return ({ name, bytes }, page) => {
    const wanted = tesseractLanguages[page.language] ?? "eng";
    const language = listed.includes(wanted) ? wanted : "eng";
    const folder = mkdtempSync(join(tmpdir(), "quality-"));
    try {
      const path = join(folder, name);
      writeFileSync(path, bytes);
      const { stdout } = Bun.spawnSync([program, path, "-", "-l", language], { stderr: "ignore" });
      return scoreText(stdout.toString(), page.truth);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

/** One row for each kind of page and one for all. */
export function tableOfPages(results: readonly PageResult[]): string {
  const kinds = [...new Set(results.map(({ page }) => page.kind))];
  const hasReference = results.some(({ reference }) => reference !== null);
  const row = (title: string, some: readonly PageResult[]) => {
    const cells = some.flatMap((one) => (one.cells === null ? [] : [one.cells]));
    const [found, all] = [total(cells.map((one) => one.found)), total(cells.map((one) => one.all))];
    const references = some.flatMap(({ reference }) => (reference === null ? [] : [reference]));
    const columns = [
      title,
      String(some.length),
      mean(some.map(({ score }) => score.recall)).toFixed(3),
      percent(mean(some.map(({ score }) => score.errorRate))),
      all === 0 ? "" : `${found} of ${all}`,
      ...(hasReference
        ? [
            mean(references.map(({ recall }) => recall)).toFixed(3),
            percent(mean(references.map((one) => one.errorRate))),
          ]
        : []),
    ];
    return `| ${columns.join(" | ")} |`;
  };
  const head = [
    "pages",
    "number",
    "word recall",
    "wrong characters",
    "cells found",
    ...(hasReference ? ["tesseract: word recall", "wrong characters"] : []),
  ];
  return [
    `| ${head.join(" | ")} |`,
    `|${"---|".repeat(head.length)}`,
    ...kinds.map((kind) =>
      row(
        kind,
        results.filter(({ page }) => page.kind === kind),
      ),
    ),
    row("**all**", results),
  ].join("\n");
}

export function medianMilliseconds(results: readonly PageResult[]): number {
  const sorted = results.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : total(values) / values.length;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
