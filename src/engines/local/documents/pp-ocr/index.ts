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
      let found = await detector.detect(picture, 0);
      const direction = await findDirection(reader, picture, found.lines);
      if (direction !== 0) found = await detector.detect(picture, direction);
      const lines = await readLines(reader, picture, found.lines);
      return toPage(picture, lines, direction, found.slant);
    },
  };
}

/** The direction in which the longest lines are read with the highest confidence. */
async function findDirection(reader: LineReader, picture: Sampler, lines: readonly TextLine[]): Promise<Direction> {
  const across = lines.filter(({ width, height }) => width > height);
  const upright = lines.filter(({ width, height }) => height > width);
  const lengthOf = (group: readonly TextLine[]) =>
    group.reduce((sum, { width, height }) => sum + Math.max(width, height) ** 2 / Math.min(width, height), 0);
  const liesOnSide = lengthOf(upright) > lengthOf(across);
  const probes = (liesOnSide ? upright.map(layDown) : across)
    .toSorted((a, b) => weightOf(b) - weightOf(a))
    .slice(0, maxProbes)
    .map((line) => ({ ...line, width: Math.min(line.width, line.height * probeLength) }));
  if (probes.length === 0) return 0;
  const forward = await meanConfidence(reader, picture, probes);
  if (!liesOnSide && forward >= sureConfidence) return 0;
  const backward = await meanConfidence(reader, picture, probes.map(turnOver));
  if (!liesOnSide) return backward > forward + clearlyBetter ? 180 : 0;
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
  return texts.reduce((sum, { confidence }) => sum + confidence, 0) / texts.length;
}

interface ReadLine {
  readonly line: TextLine;
  readonly text: LineText;
}

/** Vertical lines, such as notes in the margin, are read in both directions. */
async function readLines(reader: LineReader, picture: Sampler, lines: readonly TextLine[]): Promise<ReadLine[]> {
  const isVertical = ({ width, height }: TextLine) => height > width * 1.5;
  const level = lines.filter((line) => !isVertical(line));
  const down = lines.filter(isVertical).map(layDown);
  const candidates = [...level, ...down, ...down.map(turnOver)];
  const texts = await reader.read(picture, candidates);
  const read = candidates.map((line, index) => ({ line, text: texts[index] as LineText }));
  const vertical = down.map((_, index) => {
    const [one, other] = [read[level.length + index], read[level.length + down.length + index]] as [ReadLine, ReadLine];
    return one.text.confidence >= other.text.confidence ? one : other;
  });
  return [...read.slice(0, level.length), ...vertical].filter(({ text }) => text.confidence >= minConfidence);
}

/** The boxes of the page refer to the picture after it was rotated so that the lines are horizontal. */
function toPage(picture: Sampler, lines: readonly ReadLine[], direction: Direction, slant: number): Page {
  const liesOnSide = direction === 90 || direction === 270;
  const { width, height } = liesOnSide ? { width: picture.height, height: picture.width } : picture;
  const degrees = ((360 - direction) % 360) as Direction;
  const radians = Math.abs(slant) < minSlantRadians ? 0 : -slant;
  const rotation = (degrees * Math.PI) / 180 + radians;
  const [cos, sin] = [Math.cos(rotation), Math.sin(rotation)];
  const placed = lines.map(({ line, text }) => {
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
      const isUpright = along > across;
      const length = (to - from) * line.width;
      const [halfWidth, halfHeight] = isUpright ? [line.height / 2, length / 2] : [length / 2, line.height / 2];
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
