// Tells running text from the cells of a table: most lines of running text begin in the middle of a sentence, and cells do not; the rows of many
// tables are farther apart than lines.

import { median } from "./median.ts";

// The share of lines that begin with a small letter. In running text it is at least a half, and in German, with its capital nouns, a third.
const minFlowing = 0.2;

// Relative to the height of the text. The distance of lines is about as large as their height.
const minRowPitch = 1.5;

/** `middles`: the heights of the rows on the page, from top to bottom. */
export function haveWidePitch(middles: readonly number[], textHeight: number): boolean {
  const distances = middles.slice(1).map((middle, index) => middle - (middles[index] ?? 0));
  return distances.length > 0 && median(distances) >= minRowPitch * textHeight;
}

/** Null: the script has no capital letters, or the lines are in capitals. */
export function isRunningText(lines: readonly string[]): boolean | null {
  let [cased, flowing] = [0, 0];
  for (const line of lines) {
    const letters = line.match(/\p{L}/gu) ?? [];
    const hasSmall = letters.some((letter) => letter !== letter.toUpperCase());
    const [first = ""] = /[\p{L}\d]/u.exec(line) ?? [];
    if (letters.length > 0 && !hasSmall) continue;
    cased++;
    if (first !== first.toUpperCase()) flowing++;
  }
  return cased < lines.length / 2 ? null : flowing >= minFlowing * cased;
}

// The share of lines that end because the next word does not fit. Others end a paragraph; the cells of a table end anywhere.
const minFull = 0.5;
// Of the widths of the lines: a heading may be longer.
const usualWidth = 0.9;
const withoutSpaces = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

export interface MeasuredLine {
  readonly text: string;
  readonly width: number;
}

/** Whether most lines of a column, from top to bottom, end because the first word of the next one does not fit. */
export function areFull(lines: readonly MeasuredLine[]): boolean {
  if (lines.length < 2) return true;
  const widths = lines.map(({ width }) => width).toSorted((one, other) => one - other);
  const columnWidth = widths[Math.floor(usualWidth * (widths.length - 1))] ?? 0;
  const full = lines.slice(1).filter(({ text, width }, index) => {
    const letterWidth = width / Math.max(1, text.length);
    const firstWord = withoutSpaces.test(text) ? 1 : (text.split(" ", 1)[0]?.length ?? 0);
    return (lines[index]?.width ?? 0) + (firstWord + 1) * letterWidth > columnWidth;
  });
  return full.length >= minFull * (lines.length - 1);
}
