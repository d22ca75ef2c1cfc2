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
