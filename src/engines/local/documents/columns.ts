// Splits a page into columns by the positions of its words, where the words on both sides of an empty strip are independent texts.

import { median } from "./median.ts";
import { type Extent, type Page, toLine, type Word } from "./page.ts";

export interface ColumnPart {
  /** Null: the full width of the page. */
  readonly side: "left" | "right" | null;
  readonly page: Page;
}

export interface ColumnOptions {
  /** Whether the two sides of a strip are independent, such as by their headings. */
  readonly areIndependent: (left: Page, right: Page) => boolean;
  /** The strip of the previous page, relative to the width. On this page no heading is needed there. */
  readonly expected: number | null;
}

export interface Columns {
  readonly parts: readonly ColumnPart[];
  /** The strip that divides most of the page; null: it has one column. */
  readonly strip: number | null;
}

/** Relative to the page. */
interface Strip extends Extent {
  /** Its middle. */
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
}

const binCount = 400;
const minStrip = {
  /** Relative to the width of the page. Spaces between words are narrower, but they rarely lie below one another in all lines. */
  width: 0.012,
  /** Relative to the height of the text. */
  height: 0.08,
};
const maxCandidates = 16;
const maxDepth = 3;

/** The parts in reading order: what precedes the columns, the left one, the right one, what follows. */
export function splitColumns(page: Page, options: ColumnOptions, depth = 0): Columns {
  const words = page.lines.flatMap((line) => line.words);
  const strip = depth < maxDepth ? findStrip(page, words, options) : null;
  if (strip === null) return { parts: words.length === 0 ? [] : [{ side: null, page }], strip: null };
  const { left, right, above, below } = divide(words, strip);
  const part = (some: readonly Word[]) => toPart(page, some);
  const rest = { ...options, expected: null };
  return {
    parts: [
      ...splitColumns(part(above), rest, depth + 1).parts,
      { side: "left", page: part(left) },
      { side: "right", page: part(right) },
      ...splitColumns(part(below), rest, depth + 1).parts,
    ],
    strip: strip.x,
  };
}

function toPart(page: Page, words: readonly Word[]): Page {
  return { ...page, lines: words.length === 0 ? [] : [toLine(words)] };
}

function divide(words: readonly Word[], { x, top, bottom }: Strip) {
  const left: Word[] = [];
  const right: Word[] = [];
  const above: Word[] = [];
  const below: Word[] = [];
  for (const word of words) {
    const middle = word.box.top + word.box.height / 2;
    if (middle <= top) above.push(word);
    else if (middle >= bottom) below.push(word);
    else if (word.box.left + word.box.width / 2 < x) left.push(word);
    else right.push(word);
  }
  return { left, right, above, below };
}

function findStrip(page: Page, words: readonly Word[], { areIndependent, expected }: ColumnOptions): Strip | null {
  if (words.length < 6) return null;
  for (const strip of listStrips(words)) {
    const { left, right } = divide(words, strip);
    if (left.length < 2 || right.length < 2) continue;
    const isExpected = expected !== null && strip.left <= expected && expected <= strip.right;
    if (isExpected || areIndependent(toPart(page, left), toPart(page, right))) return strip;
  }
  return null;
}

/** Empty strips, the tallest first. */
function listStrips(words: readonly Word[]): Strip[] {
  const sorted = words.toSorted((first, second) => first.box.top - second.box.top);
  let [textTop, textBottom] = [1, 0];
  for (const { box } of words) {
    textTop = Math.min(textTop, box.top);
    textBottom = Math.max(textBottom, box.top + box.height);
  }
  const bins = Array.from({ length: binCount }, () => ({ reached: textTop - 1e-6, top: textTop, bottom: textTop }));
  const close = (bin: (typeof bins)[number], until: number) => {
    if (until - bin.reached > bin.bottom - bin.top) [bin.top, bin.bottom] = [bin.reached, until];
  };
  for (const { box } of sorted) {
    const first = Math.max(0, Math.floor(box.left * binCount));
    const last = Math.min(binCount - 1, Math.floor((box.left + box.width) * binCount));
    const middle = box.top + box.height / 2;
    for (let index = first; index <= last; index++) {
      const bin = bins[index];
      if (bin === undefined) continue;
      close(bin, middle);
      bin.reached = Math.max(bin.reached, middle);
    }
  }
  for (const bin of bins) close(bin, textBottom + 1e-6);
  // Less than half of a line: a strip ends at another line.
  const tolerance = 0.3 * median(words.map(({ box }) => box.height));
  const strips: { first: number; last: number; top: number; bottom: number }[] = [];
  for (const [index, bin] of bins.entries()) {
    const strip = strips.at(-1);
    const isSame =
      strip !== undefined &&
      Math.abs(strip.top - bin.top) < tolerance &&
      Math.abs(strip.bottom - bin.bottom) < tolerance;
    if (isSame) {
      strip.last = index;
      // The part that is empty in all bins.
      strip.top = Math.max(strip.top, bin.top);
      strip.bottom = Math.min(strip.bottom, bin.bottom);
    } else strips.push({ first: index, last: index, top: bin.top, bottom: bin.bottom });
  }
  const textHeight = textBottom - textTop;
  return strips
    .filter(
      ({ first, last, top, bottom }) =>
        last - first + 1 >= minStrip.width * binCount && bottom - top >= minStrip.height * textHeight,
    )
    .toSorted(
      (one, other) =>
        other.bottom - other.top - (one.bottom - one.top) || other.last - other.first - (one.last - one.first),
    )
    .slice(0, maxCandidates)
    .map(({ first, last, top, bottom }) => {
      const [left, right] = [first / binCount, (last + 1) / binCount];
      return { x: (left + right) / 2, left, right, top, bottom };
    });
}
