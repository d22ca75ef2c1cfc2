// OCR with PP-OCRv6, whose two networks come with the group `ocr`: one finds lines of text, the other one reads them.

import { readModelFile } from "../../checksums.ts";
import { round } from "../../numbers.ts";
import { loadOnnx, onnxPackage } from "../../onnx.ts";
import { findPackage } from "../../resolve-package.ts";
import type { Pixels } from "../../vision/pixels.ts";
import { createSampler, type Sampler } from "../../vision/sampler.ts";
import { type Line, type Page, toBox, toLine } from "../page.ts";
import { readCharacters } from "./characters.ts";
import { createDetector, type Direction, type TextLine } from "./detector.ts";
import { isAcross, isTall, liesOnSide } from "./lies-on-side.ts";
import { createLineReader, type LineReader, type LineText } from "./reader.ts";

export interface PpOcr {
  /** All characters that it can read. */
  readonly characters: readonly string[];
  recognise(pixels: Pixels): Promise<Page>;
}

const modelPackage = "rapidocr";
const modelFiles = {
  detection: "rapidocr/models/PP-OCRv6_det_small.onnx",
  recognition: "rapidocr/models/PP-OCRv6_rec_small.onnx",
};
// The direction of a page is decided by a few lines, or parts of them.
const maxProbes = 6;
const probeLength = 10;
// A page that is read in the wrong direction has less.
const sureConfidence = 0.9;
const clearlyBetter = 0.08;
// Specks and parts of pictures are recognised as text with a low confidence. A real line rarely has less, however bad the print is.
const minConfidence = 0.3;
// A tenth of a degree is less than a pixel in a word.
const minSlantRadians = 0.002;
// Relative to the height of a line. Parts of a line are joined if the gap is smaller.
const joinedGap = 0.8;
// The height of a line relative to its width.
const vertical = 1.5;
const longVertical = 2.5;

/** Whether the packages of the group are there. */
export function isPpOcrInstalled(): boolean {
  return [onnxPackage, modelPackage].every((name) => findPackage(name) !== null);
}

export async function loadPpOcr(): Promise<PpOcr> {
  const onnx = await loadOnnx();
  const detection = await readModelFile(modelPackage, modelFiles.detection);
  const recognition = await readModelFile(modelPackage, modelFiles.recognition);
  const characters = readCharacters(recognition.bytes);
  const detector = createDetector(onnx, await onnx.openBytes(detection.bytes));
  const reader = createLineReader(onnx, await onnx.openBytes(recognition.bytes), characters);
  return {
    characters,
    async recognise(pixels) {
      const picture = createSampler(pixels);
      const found = await detector.detect(picture, 0);
      // Most pages are upright: one that is read with a high confidence needs no comparison of directions.
      const upright = liesOnSide(found.lines) ? [] : await readLines(reader, picture, found.lines);
      const direction = isSure(upright, found.lines) ? 0 : await findDirection(reader, picture, found.lines);
      if (direction === 0) return toPage(picture, upright, direction, found.slant);
      const turned = await detector.detect(picture, direction);
      return toPage(picture, await readLines(reader, picture, turned.lines), direction, turned.slant);
    },
  };
}

/** Whether the lines that say most about the direction were read with a high confidence. */
function isSure(read: readonly ReadLine[], lines: readonly TextLine[]): boolean {
  const probes = new Set(chooseProbes(lines.filter(isAcross)));
  const confidences = read.filter(({ line }) => probes.has(line)).map(({ text }) => text.confidence);
  return confidences.length > 0 && meanOf(confidences) >= sureConfidence;
}

function chooseProbes(lines: readonly TextLine[]): TextLine[] {
  return lines.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, maxProbes);
}

/** The direction in which the longest lines are read with the highest confidence. */
async function findDirection(reader: LineReader, picture: Sampler, lines: readonly TextLine[]): Promise<Direction> {
  const onSide = liesOnSide(lines);
  const candidates = onSide ? lines.filter(isTall).map(layDown) : lines.filter(isAcross);
  const probes = chooseProbes(candidates).map((line) => ({
    ...line,
    width: Math.min(line.width, line.height * probeLength),
  }));
  if (probes.length === 0) return 0;
  const forward = await meanConfidence(reader, picture, probes);
  if (!onSide && forward >= sureConfidence) return 0;
  const backward = await meanConfidence(reader, picture, probes.map(turnOver));
  if (!onSide) return backward > forward + clearlyBetter ? 180 : 0;
  return forward >= backward ? 90 : 270;
}

/** Lines of a medium length say most about the direction. */
function weightOf({ width, height, score }: TextLine): number {
  return Math.min(width / height, probeLength) * score;
}

/** The text of a vertical line is read from top to bottom. */
function layDown(line: TextLine): TextLine {
  return { ...line, width: line.height, height: line.width, angle: line.angle + Math.PI / 2 };
}

function turnOver(line: TextLine): TextLine {
  return { ...line, angle: line.angle + Math.PI };
}

async function meanConfidence(reader: LineReader, picture: Sampler, lines: readonly TextLine[]): Promise<number> {
  const texts = await reader.read(picture, lines);
  return meanOf(texts.map(({ confidence }) => confidence));
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

interface ReadLine {
  readonly line: TextLine;
  readonly text: LineText;
}

async function readLines(reader: LineReader, picture: Sampler, lines: readonly TextLine[]): Promise<ReadLine[]> {
  const candidates = lines.flatMap((line, index) => waysToRead(line).map((way) => ({ line: way, index })));
  const texts = await reader.read(
    picture,
    candidates.map(({ line }) => line),
  );
  const best: ReadLine[] = [];
  for (const [at, { line, index }] of candidates.entries()) {
    const text = texts[at] as LineText;
    const before = best[index];
    if (before === undefined || text.confidence > before.text.confidence) best[index] = { line, text };
  }
  return best;
}

/** Vertical lines, such as notes in the margin, are read in both directions. One that is not long may be a single figure that stands upright. */
function waysToRead(line: TextLine): TextLine[] {
  const ratio = line.height / line.width;
  if (ratio <= vertical) return [line];
  const down = layDown(line);
  return [...(ratio <= longVertical ? [line] : []), down, turnOver(down)];
}

/** The boxes of the page refer to the picture after it was rotated so that the lines are horizontal. */
function toPage(picture: Sampler, lines: readonly ReadLine[], direction: Direction, slant: number): Page {
  const isTurned = direction === 90 || direction === 270;
  const { width, height } = isTurned ? { width: picture.height, height: picture.width } : picture;
  const degrees = ((360 - direction) % 360) as Direction;
  const radians = Math.abs(slant) < minSlantRadians ? 0 : -slant;
  const rotation = (degrees * Math.PI) / 180 + radians;
  const [cos, sin] = [Math.cos(rotation), Math.sin(rotation)];
  const credible = lines.filter(({ text }) => text.confidence >= minConfidence);
  const placed = credible.map(({ line, text }) => {
    const [lineCos, lineSin] = [Math.cos(line.angle), Math.sin(line.angle)];
    const turned = line.angle + rotation;
    const [across, along] = [Math.abs(Math.cos(turned)), Math.abs(Math.sin(turned))];
    const words = text.words.map(({ text: content, from, to, confidence }) => {
      const offset = ((from + to) / 2 - 0.5) * line.width;
      const [right, down] = [
        line.x + offset * lineCos - picture.width / 2,
        line.y + offset * lineSin - picture.height / 2,
      ];
      const [x, y] = [right * cos - down * sin + width / 2, right * sin + down * cos + height / 2];
      const isTall = along > across;
      const length = (to - from) * line.width;
      const [halfWidth, halfHeight] = isTall ? [line.height / 2, length / 2] : [length / 2, line.height / 2];
      const box = toBox(
        (x - halfWidth) / width,
        (y - halfHeight) / height,
        (x + halfWidth) / width,
        (y + halfHeight) / height,
      );
      return { text: content, box, confidence: round(confidence) };
    });
    return toLine(words);
  });
  const turned = degrees === 0 && radians === 0 ? null : { degrees, radians };
  return { width, height, source: "scan", turned, lines: joinParts(placed, width, height) };
}

/** From top to bottom and, in a row, from left to right. Parts of a line that are close to each other are joined. */
function joinParts(lines: readonly Line[], width: number, height: number): Line[] {
  const rows: Line[][] = [];
  for (const line of lines.toSorted((a, b) => middleOf(a) - middleOf(b))) {
    const row = rows.at(-1);
    const first = row?.[0];
    const isSameRow =
      first !== undefined && middleOf(line) - middleOf(first) < Math.min(line.box.height, first.box.height) / 2;
    if (isSameRow) row?.push(line);
    else rows.push([line]);
  }
  return rows.flatMap((row) => {
    const joined: Line[] = [];
    for (const line of row.toSorted((a, b) => a.box.left - b.box.left)) {
      const last = joined.at(-1);
      const gap = last === undefined ? 0 : (line.box.left - last.box.left - last.box.width) * width;
      if (last === undefined || gap > joinedGap * line.box.height * height) joined.push(line);
      else joined[joined.length - 1] = toLine([...last.words, ...line.words]);
    }
    return joined;
  });
}

function middleOf({ box }: Line): number {
  return box.top + box.height / 2;
}
