// Arranges the words of a page into rows from top to bottom, and each row into cells that are separated by wide gaps. The reading order is ignored.

import { median } from "./median.ts";
import type { Extent, Page, Word } from "./page.ts";

export interface Row {
  readonly cells: readonly Cell[];
  readonly text: string;
  /** In the units of the page. */
  readonly top: number;
  readonly bottom: number;
  /** The median height of its words. */
  readonly height: number;
}

export interface Cell extends Extent {
  readonly text: string;
  readonly words: readonly Word[];
}

/** The vertical middle and the height of something on a page. */
export interface Placed {
  readonly middle: number;
  readonly height: number;
}

interface PlacedWord extends Extent, Placed {
  readonly word: Word;
}

// Relative to the mean width of a letter. A space is half as wide, in a fixed-width font one and a half; gaps between columns are wider.
const cellGap = 1.9;
// Relative to the height of a word.
const sameRow = 0.5;

export function toRows(page: Page): Row[] {
  const placed = page.lines.flatMap((line) => line.words.map((word) => place(page, word)));
  const rows = gatherRows(placed, (item, row) => sameRow * Math.max(item.height, row.height));
  return rows.map(({ items, middle }) => toRow(items, middle));
}

/** Rows from top to bottom. An item whose middle is nearer than `reach` to the mean of the row above belongs to that row. */
export function gatherRows<Item extends Placed>(items: readonly Item[], reach: (item: Item, row: Placed) => number) {
  const rows: { items: Item[]; middle: number; height: number }[] = [];
  for (const item of items.toSorted((first, second) => first.middle - second.middle)) {
    const row = rows.at(-1);
    if (row === undefined || Math.abs(item.middle - row.middle) >= reach(item, row)) {
      rows.push({ items: [item], middle: item.middle, height: item.height });
      continue;
    }
    row.items.push(item);
    row.middle += (item.middle - row.middle) / row.items.length;
    row.height += (item.height - row.height) / row.items.length;
  }
  return rows;
}

function place(page: Page, word: Word): PlacedWord {
  const { left, top, width, height } = word.box;
  return {
    word,
    left: left * page.width,
    right: (left + width) * page.width,
    middle: (top + height / 2) * page.height,
    height: height * page.height,
  };
}

function toRow(items: readonly PlacedWord[], middle: number): Row {
  const sorted = items.toSorted((first, second) => first.left - second.left);
  const height = median(sorted.map((item) => item.height));
  const letters = sorted.reduce((total, { word }) => total + word.text.length, 0);
  const gap = (cellGap * sorted.reduce((total, { left, right }) => total + right - left, 0)) / letters;
  const groups: PlacedWord[][] = [];
  for (const item of sorted) {
    const group = groups.at(-1);
    const previous = group?.at(-1);
    if (group === undefined || previous === undefined || item.left - previous.right > gap) groups.push([item]);
    else group.push(item);
  }
  const cells = groups.map((group) => ({
    text: group.map(({ word }) => word.text).join(" "),
    words: group.map(({ word }) => word),
    left: group[0]?.left ?? 0,
    right: group.reduce((rightmost, { right }) => Math.max(rightmost, right), 0),
  }));
  return {
    cells,
    text: cells.map((cell) => cell.text).join("  "),
    top: middle - height / 2,
    bottom: middle + height / 2,
    height,
  };
}
