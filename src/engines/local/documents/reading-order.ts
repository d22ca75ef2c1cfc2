// Arranges the text of a page in reading order, by geometry alone: columns are read one after the other, everything else row by row. A page is divided
// into bands of rows that share a gutter, and a band into its columns, which are divided in the same way.

import { median } from "./median.ts";
import { type Extent, type Line, type Page, toLine, type Word } from "./page.ts";
import { gatherRows, type Placed } from "./rows.ts";
import { areFull, haveWidePitch, isRunningText, type MeasuredLine } from "./running-text.ts";

/** Words of one line without a wide gap between them. The edges are in the units of the page. */
interface Segment extends Extent, Placed {
  readonly words: readonly Word[];
}

interface Row extends Placed {
  readonly segments: readonly Segment[];
}

interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Rows that have at least one gutter in common, or none of which has one. */
interface Band {
  readonly rows: Row[];
  readonly gutters: readonly Interval[];
}

// Relative to the mean width of a letter. A space is half as wide, in a fixed-width font one and a half; gaps between columns are wider.
const segmentGap = 1.9;
// Relative to the height of the text.
const sameRow = 0.5;
const minGutter = 0.6;
const bandGap = 4;
const blankLine = 0.9;
const footerGap = 1.5;
const proseWidth = 8;
const alignedWithin = 0.25;
const alignedEdge = 0.8;
const maxSlope = 0.45;
const speckWidth = 2;
// The share of lines beside which the other column has text at the same height. In tables it is nearly all; by chance it is a third.
const alignedShare = 0.55;
// The share of the width of a column that its lines fill.
const proseFill = 0.7;
const partShare = 0.8;
const minColumnRows = 3;
const maxHeadLines = 12;
const maxDepth = 8;
const maxGuttersTried = 6;
const maxGaps = 100;

export function toReadingOrder(page: Page): Page {
  return { ...page, lines: toRegions(page).flatMap((region) => region.lines) };
}

/** Splits a line at wide gaps, and where its words are not on the same height. */
function splitLine({ words }: Line, page: Page): Segment[] {
  const placed = words.map((word) => {
    const { left, top, width, height } = word.box;
    return {
      words: [word],
      left: left * page.width,
      right: (left + width) * page.width,
      middle: (top + height / 2) * page.height,
      height: height * page.height,
    };
  });
  const letters = words.reduce((total, word) => total + word.text.length, 0);
  const letterWidth = placed.reduce((total, { left, right }) => total + right - left, 0) / Math.max(1, letters);
  const groups: Segment[][] = [];
  let edges = { left: 0, right: 0 };
  for (const item of placed) {
    const group = groups.at(-1);
    const previous = group?.at(-1);
    const gap = Math.max(item.left - edges.right, edges.left - item.right);
    const isNext =
      previous !== undefined &&
      gap <= segmentGap * letterWidth &&
      Math.abs(item.middle - previous.middle) < sameRow * Math.max(item.height, previous.height);
    if (isNext && group !== undefined) {
      group.push(item);
      edges = { left: Math.min(edges.left, item.left), right: Math.max(edges.right, item.right) };
    } else {
      groups.push([item]);
      edges = { left: item.left, right: item.right };
    }
  }
  return groups.map(joinSegments);
}

function joinSegments(parts: readonly Segment[]): Segment {
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let middle = 0;
  for (const part of parts) {
    left = Math.min(left, part.left);
    right = Math.max(right, part.right);
    middle += part.middle / parts.length;
  }
  const height = median(parts.map((part) => part.height));
  return { words: parts.flatMap((part) => part.words), left, right, middle, height };
}

/** The parts of the page that are read row by row, in reading order: each column, and each part that is not divided into columns. */
export function toRegions(page: Page): Page[] {
  const segments = page.lines.flatMap((line) => splitLine(line, page));
  return orderSegments(segments, 0).map((rows) => ({ ...page, lines: rows.map(toRowLine) }));
}

/** The rows of each region. */
function orderSegments(segments: readonly Segment[], depth: number): Row[][] {
  const regions: Row[][] = [];
  let isOpen = false;
  const read = (band: Band, columns: Row[][] | null) => {
    if (columns !== null) regions.push(...columns);
    else if (isOpen) regions.at(-1)?.push(...band.rows);
    else regions.push([...band.rows]);
    isOpen = columns === null;
  };
  for (const band of toBands(toRows(segments), bandGap)) {
    const columns = splitColumns(band, depth);
    if (columns !== null) read(band, columns);
    // A table below two blocks of text is not a part of them.
    else for (const part of toBands(band.rows, blankLine)) read(part, splitColumns(part, depth));
  }
  return regions;
}

/** Null: the band has no columns. */
function splitColumns({ rows, gutters }: Band, depth: number): Row[][] | null {
  if (depth >= maxDepth) return null;
  const widest = gutters.toSorted((one, other) => other.to - other.from - (one.to - one.from));
  for (const gutter of widest.slice(0, maxGuttersTried)) {
    const [head, body, tail] = cutLooseEnds(rows, gutter);
    const [left, right] = splitAt(body, gutter);
    if (!areColumns(left, right)) continue;
    const columns = [...orderSegments(left, depth + 1), ...orderSegments(right, depth + 1)];
    return [head, ...columns, tail].filter((region) => region.length > 0);
  }
  return null;
}

function toRows(segments: readonly Segment[]): Row[] {
  const rows = gatherRows(segments, (segment, row) => sameRow * Math.min(segment.height, row.height));
  return rows.map(({ items, middle, height }) => ({
    segments: items.toSorted((one, other) => one.left - other.left),
    middle,
    height,
  }));
}

/** A row that closes the gutters of the band above, such as a heading across all columns, begins a new band. */
function toBands(rows: readonly Row[], maxGap: number): Band[] {
  const bands: Band[] = [];
  let band: Row[] = [];
  let free: Interval[] = [];
  let gutters: Interval[] = [];
  let edges = { leftmostEnd: Number.POSITIVE_INFINITY, rightmostStart: Number.NEGATIVE_INFINITY };

  const hasTextOnBothSides = ({ from, to }: Interval) => from >= edges.leftmostEnd && to <= edges.rightmostStart;
  const start = (row: Row) => {
    if (band.length > 0) bands.push({ rows: band, gutters });
    band = [];
    edges = { leftmostEnd: Number.POSITIVE_INFINITY, rightmostStart: Number.NEGATIVE_INFINITY };
    add(row, gapsOf(row));
  };
  const add = (row: Row, nextFree: Interval[]) => {
    band.push(row);
    free = nextFree;
    edges = widen(edges, row);
    gutters = free.filter(hasTextOnBothSides);
  };
  for (const row of rows) {
    const previous = band.at(-1);
    const height = Math.max(row.height, previous?.height ?? 0);
    if (previous === undefined || row.middle - previous.middle > (maxGap + 1) * height) {
      start(row);
      continue;
    }
    if (isSpeck(row)) {
      band.push(row);
      continue;
    }
    const common = intersect(free, gapsOf(row), minGutter * Math.min(row.height, previous.height));
    const widened = widen(edges, row);
    const remains = common.some(({ from, to }) => from >= widened.leftmostEnd && to <= widened.rightmostStart);
    // Rows without any gutter stay together, and so do rows that share one.
    const isPlain = gutters.length === 0 && row.segments.length === 1;
    if (remains || isPlain) add(row, common);
    else start(row);
  }
  if (band.length > 0) bands.push({ rows: band, gutters });
  return bands;
}

function widen(edges: { leftmostEnd: number; rightmostStart: number }, { segments }: Row) {
  let { leftmostEnd, rightmostStart } = edges;
  for (const { left, right } of segments) {
    leftmostEnd = Math.min(leftmostEnd, right);
    rightmostStart = Math.max(rightmostStart, left);
  }
  return { leftmostEnd, rightmostStart };
}

/** Dirt between two columns is recognised as a letter. It must not end the columns. */
function isSpeck({ segments }: Row): boolean {
  const [only] = segments;
  return segments.length === 1 && only !== undefined && only.right - only.left < speckWidth * only.height;
}

/** The widest intervals of the row without text, from the left edge to the right. Their number is limited, because each row is compared with them. */
function gapsOf({ segments }: Row): Interval[] {
  const gaps: Interval[] = [];
  let from = Number.NEGATIVE_INFINITY;
  for (const { left, right } of segments) {
    if (left > from) gaps.push({ from, to: left });
    from = Math.max(from, right);
  }
  gaps.push({ from, to: Number.POSITIVE_INFINITY });
  if (gaps.length <= maxGaps) return gaps;
  const widest = new Set(gaps.toSorted((one, other) => other.to - other.from - (one.to - one.from)).slice(0, maxGaps));
  return gaps.filter((gap) => widest.has(gap));
}

function intersect(first: readonly Interval[], second: readonly Interval[], minWidth: number): Interval[] {
  const common: Interval[] = [];
  let [one, other] = [0, 0];
  while (one < first.length && other < second.length) {
    const [a, b] = [first[one] as Interval, second[other] as Interval];
    const [from, to] = [Math.max(a.from, b.from), Math.min(a.to, b.to)];
    if (to - from >= minWidth) common.push({ from, to });
    if (a.to < b.to) one++;
    else other++;
  }
  return common;
}

/** Rows at the top and bottom that have text on one side only and stand apart, such as a page number, belong to no column. */
function cutLooseEnds(rows: readonly Row[], gutter: Interval): [head: Row[], body: Row[], tail: Row[]] {
  const isLoose = (row: Row | undefined, neighbour: Row | undefined) => {
    if (row === undefined || neighbour === undefined) return false;
    const distance = Math.abs(row.middle - neighbour.middle) - (row.height + neighbour.height) / 2;
    const isOnOneSide =
      row.segments.every(({ left }) => left >= gutter.to) || row.segments.every(({ left }) => left < gutter.to);
    return isOnOneSide && distance > footerGap * Math.max(row.height, neighbour.height);
  };
  let [first, end] = [0, rows.length];
  while (first < end - 1 && isLoose(rows[first], rows[first + 1])) first++;
  while (end > first + 1 && isLoose(rows[end - 1], rows[end - 2])) end--;
  return [rows.slice(0, first), rows.slice(first, end), rows.slice(end)];
}

function splitAt(rows: readonly Row[], { to }: Interval): [left: Segment[], right: Segment[]] {
  const segments = rows.flatMap((row) => row.segments);
  return [segments.filter(({ left }) => left < to), segments.filter(({ left }) => left >= to)];
}

/** Whether two groups of segments are read one after the other. In tables and forms, they are read row by row. */
function areColumns(left: readonly Segment[], right: readonly Segment[]): boolean {
  const [leftRows, rightRows] = [toRows(left), toRows(right)];
  if (Math.min(leftRows.length, rightRows.length) < minColumnRows) return false;
  if (isProse(left) && isProse(right)) return !haveCommonParts(leftRows, rightRows);
  if (areAddressBlocks(left, right)) return true;
  const [few, many] = leftRows.length < rightRows.length ? [leftRows, rightRows] : [rightRows, leftRows];
  return shareOfAligned(few, many) < alignedShare;
}

/**
 * The head of a letter: the sender on the left, and lines on the right that are complete in themselves, such as "Invoice date: 12 March 2026". They stand at
 * the same heights, but the lines of the right block end at the same edge and begin at different ones, unlike the words of a table.
 */
function areAddressBlocks(left: readonly Segment[], right: readonly Segment[]): boolean {
  if (Math.max(left.length, right.length) > maxHeadLines) return false;
  const height = median([...left, ...right].map((segment) => segment.height));
  const isEdge = (edges: readonly number[]) => Math.max(...edges) - Math.min(...edges) <= alignedEdge * height;
  const starts = right.map((segment) => segment.left);
  if (!isEdge(left.map((segment) => segment.left)) || !isEdge(right.map((segment) => segment.right))) return false;
  return !isEdge(starts) && isMostlyWords(left) && isMostlyWords(right) && !left.some(endsWithColon);
}

/** Several words in most lines, and more letters than digits: no amounts. */
function isMostlyWords(segments: readonly Segment[]): boolean {
  const texts = segments.map(({ words }) => words.map(({ text }) => text).join(" "));
  const digits = texts.join("").match(/\d/g)?.length ?? 0;
  const letters = texts.join("").match(/\p{L}/gu)?.length ?? 0;
  return letters > 1.5 * digits && texts.filter((text) => text.includes(" ")).length > texts.length / 2;
}

function endsWithColon({ words }: Segment): boolean {
  return words.at(-1)?.text.endsWith(":") ?? false;
}

/** Whether most lines are long, fill their columns and continue each other. */
function isProse(segments: readonly Segment[]): boolean {
  if (isRunningText(segments.map(({ words }) => words.map(({ text }) => text).join(" "))) === false) return false;
  const columns = toColumns(segments);
  const widths = segments.map(({ left, right }) => right - left);
  const fills = columns.flatMap(({ from, to, members }) =>
    members.map(({ left, right }) => (right - left) / (to - from)),
  );
  const heights = segments.map(({ height }) => height);
  const middles = toRows(segments).map(({ middle }) => middle);
  if (haveWidePitch(middles, median(heights))) return false;
  if (!columns.some(({ members }) => areFull(toMeasuredLines(members)))) return false;
  return median(widths) >= proseWidth * median(heights) && median(fills) >= proseFill;
}

function toMeasuredLines(segments: readonly Segment[]): MeasuredLine[] {
  return segments
    .toSorted((one, other) => one.middle - other.middle)
    .map(({ words, left, right }) => ({ text: words.map(({ text }) => text).join(" "), width: right - left }));
}

/** The intervals that the segments cover together. */
function toColumns(segments: readonly Segment[]): (Interval & { members: Segment[] })[] {
  const columns: { from: number; to: number; members: Segment[] }[] = [];
  for (const segment of segments.toSorted((one, other) => one.left - other.left)) {
    const column = columns.at(-1);
    if (column === undefined || segment.left > column.to)
      columns.push({ from: segment.left, to: segment.right, members: [segment] });
    else {
      column.members.push(segment);
      column.to = Math.max(column.to, segment.right);
    }
  }
  return columns;
}

/** Cells of several lines begin at the same heights on both sides; paragraphs do not. */
function haveCommonParts(left: readonly Row[], right: readonly Row[]): boolean {
  const [leftParts, rightParts] = [findParts(left), findParts(right)];
  const [few, many] = leftParts.length < rightParts.length ? [leftParts, rightParts] : [rightParts, leftParts];
  return few.length >= minColumnRows && shareOfAligned(few, many) >= partShare;
}

/** The first rows of the parts that are separated by more than the usual distance between rows. */
function findParts(rows: readonly Row[]): Row[] {
  const distances = rows.slice(1).map((row, index) => row.middle - (rows[index]?.middle ?? 0));
  const usual = median(distances);
  return rows.filter((_, index) => index === 0 || (distances[index - 1] ?? 0) > usual * 1.3);
}

/** The share of rows that have one of the others at the same height. On a page that is not quite straight, all are higher or lower by the same distance. */
function shareOfAligned(rows: readonly Row[], others: readonly Row[]): number {
  const distances = rows.map((row) => distanceToNearest(row, others) / Math.max(row.height, 1e-9));
  const usual = median(distances);
  const offset = Math.abs(usual) <= maxSlope ? usual : 0;
  return distances.filter((distance) => Math.abs(distance - offset) <= alignedWithin).length / rows.length;
}

/** The others are sorted. */
function distanceToNearest({ middle }: Row, others: readonly Row[]): number {
  let [low, high] = [0, others.length];
  while (low < high) {
    const between = (low + high) >> 1;
    if ((others[between]?.middle ?? 0) < middle) low = between + 1;
    else high = between;
  }
  const near = [others[low - 1], others[low]].flatMap((row) => (row === undefined ? [] : [row.middle - middle]));
  return near.reduce(
    (least, distance) => (Math.abs(distance) < Math.abs(least) ? distance : least),
    Number.POSITIVE_INFINITY,
  );
}

function toRowLine({ segments }: Row): Line {
  const words = segments.flatMap((segment) => segment.words);
  const fromRight = words.filter((word) => rightToLeft.test(word.text)).length > words.length / 2;
  return toLine(fromRight ? segments.toReversed().flatMap((segment) => segment.words) : words);
}

const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;
