// Pages for tests of the layout: words at given places, as any recogniser would return them.

import { type Line, type Page, toBox, toLine } from "../../src/engines/local/documents/page.ts";

export interface PlacedText {
  /** Points from the left and from the top. */
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly size?: number;
}

const [width, height] = [600, 800];

/** Each text is one line of the recogniser. Letters are half as wide as high. */
export function layOut(texts: readonly PlacedText[]): Page {
  return { width, height, source: "scan", turned: null, lines: texts.map(toPlacedLine) };
}

function toPlacedLine({ x, y, text, size = 10 }: PlacedText): Line {
  const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => {
    const left = x + index * size * 0.5;
    const right = left + word.length * size * 0.5;
    return { text: word, box: toBox(left / width, y / height, right / width, (y + size) / height), confidence: 0.9 };
  });
  return toLine(words);
}

/** Lines of prose, about as long as the column is wide. */
export function prose(name: string, { x, y, lines, columnWidth, pitch = 13 }: ProsePlace): PlacedText[] {
  return Array.from({ length: lines }, (_, index) => {
    const start = `${name}${index} the`;
    const text = start.padEnd(Math.floor(columnWidth / 5) - 6 + ((index * 7) % 6), " of some words").trimEnd();
    return { x, y: y + index * pitch, text };
  });
}

export interface ProsePlace {
  readonly x: number;
  readonly y: number;
  readonly lines: number;
  readonly columnWidth: number;
  readonly pitch?: number;
}

/** The rows of a table that is written as text: one line for each row, `|` between the cells, and nothing in a cell that is null. */
export function readTable(text: string): (string | null)[][] {
  const lines = text.trim().split("\n");
  return lines.map((line) => line.split("|").map((cell) => cell.trim() || null));
}

/** Cells at the columns' left edges. A cell of several lines is an array. */
export function grid(
  rows: readonly (readonly (string | readonly string[] | null)[])[],
  { xs, y = 100, pitch = 18, leading = 12 }: GridPlace,
) {
  const texts: PlacedText[] = [];
  let top = y;
  for (const row of rows) {
    const lines = row.map((cell) => (cell === null ? [] : typeof cell === "string" ? [cell] : cell));
    for (const [column, cell] of lines.entries())
      for (const [line, text] of cell.entries()) texts.push({ x: xs[column] ?? 0, y: top + line * leading, text });
    top += pitch + (Math.max(...lines.map((cell) => cell.length)) - 1) * leading;
  }
  return texts;
}

interface GridPlace {
  readonly xs: readonly number[];
  readonly y?: number;
  readonly pitch?: number;
  readonly leading?: number;
}
