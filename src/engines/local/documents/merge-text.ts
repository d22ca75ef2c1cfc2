// Merges the embedded text of a PDF page with the text that was recognised in a drawing of the page, by position.

import { createCoverage } from "./coverage.ts";
import { asSent, type Line, type Page, toLine, turnPage, type Word } from "./page.ts";

export interface MergeOptions {
  /** The page is mainly a picture. Otherwise it has much embedded text. */
  readonly isScan: boolean;
  /** 0 to 1. Recognised lines with less confidence are left out. */
  readonly minConfidence: number;
}

// A recognised word is an embedded one if embedded text covers half of its area.
const sameWord = 0.5;
// A thousandth of the page is less than the height of any readable letter.
const cellsPerSide = 1_000;

/**
 * Embedded text wins, because it is exact. The result is rotated like the page that has more text: the recognised one of a scan, otherwise the
 * embedded one.
 */
export function mergeText(embedded: Page, recognised: Page, { isScan, minConfidence }: MergeOptions): Page {
  const frame = isScan ? recognised.turned : embedded.turned;
  const fixed = turnPage(asSent(embedded), frame);
  const added = turnPage(asSent(recognised), frame);
  const words = fixed.lines.flatMap((line) => line.words.map((word) => word.box));
  const coverage = createCoverage(words, cellsPerSide, cellsPerSide);
  const fresh = added.lines.flatMap((line) => splitAt(line, (word) => coverage.shareOf(word.box) > sameWord));
  const kept = fresh.filter((line) => (line.confidence ?? 1) >= minConfidence);
  return { ...fixed, source: isScan ? "scan" : "text", lines: [...fixed.lines, ...kept] };
}

/** The parts of the line between the words that are left out. */
function splitAt(line: Line, isLeftOut: (word: Word) => boolean): Line[] {
  const parts: Word[][] = [[]];
  for (const word of line.words) {
    if (isLeftOut(word)) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts.filter((words) => words.length > 0).map(toLine);
}
