// How much of the text of PDFs is read, beside pdftotext where it is installed.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LocalEngines } from "../../../../src/engines/local/index.ts";
import { runLocal } from "../../../engines/local-call.ts";
import type { Split } from "../../documents/labelled-document.ts";
import { documentSets } from "../../documents/sets.ts";
import type { QualityLine } from "../../quality.ts";
import { MissingFontError } from "../fonts.ts";
import { type PdfPage, writePdf } from "../write-pdf.ts";
import { scoreText } from "./score.ts";

/** Over all labelled documents. Forms have no one reading order, so only words are counted. */
export async function measurePdfText(
  local: LocalEngines,
  split: Split,
  log: (line: string) => void,
): Promise<QualityLine[]> {
  const program = Bun.which("pdftotext");
  if (program === null) log("pdftotext is not installed (Debian: apt install poppler-utils), so it is not compared.");
  const ours: number[] = [];
  const theirs: number[] = [];
  for (const { pages } of Object.values(documentSets).flatMap(({ splits }) => splits[split]())) {
    const bytes = tryToWrite(pages);
    if (bytes === null) continue;
    const truth = pages.flatMap(({ marks }) => marks.flatMap((mark) => (mark.kind === "text" ? [mark.text] : [])));
    const file = { name: "document.pdf", mediaType: "application/pdf", size: bytes.length, read: async () => bytes };
    const { output } = await runLocal(local, "ocr/ocr", { file: "https://files.example/x" }, { files: { file } });
    ours.push(scoreText(String((output as { text: unknown }).text), truth.join(" ")).recall);
    if (program !== null) theirs.push(scoreText(readWith(program, bytes), truth.join(" ")).recall);
  }
  const line = (measure: string, recalls: readonly number[]): QualityLine => {
    const mean = recalls.reduce((sum, recall) => sum + recall, 0) / Math.max(1, recalls.length);
    return { task: "ocr/ocr", measure, result: mean.toFixed(3), cases: recalls.length };
  };
  return [
    line("word recall of PDFs with text", ours),
    ...(program === null ? [] : [line("pdftotext: word recall of the same", theirs)]),
  ];
}

function tryToWrite(pages: readonly PdfPage[]): Uint8Array | null {
  try {
    return writePdf(pages);
  } catch (error) {
    if (error instanceof MissingFontError) return null;
    throw error;
  }
}

function readWith(program: string, bytes: Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), "quality-"));
  try {
    writeFileSync(join(folder, "document.pdf"), bytes);
    return Bun.spawnSync([program, "-layout", join(folder, "document.pdf"), "-"], {
      stderr: "ignore",
    }).stdout.toString();
  } finally {
    rmSync(folder, { recursive: true });
  }
}
