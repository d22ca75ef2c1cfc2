// Finds the lines of text in a picture with the detection network of PP-OCRv6.

import type { Onnx, Session } from "../../onnx.ts";
import type { Area, Sampler } from "../../vision/sampler.ts";
import {
  findRegions,
  meanProbability,
  type ProbabilityMap,
  type Rectangle,
  surroundAt,
  surroundTightly,
} from "./regions.ts";
import { findSlant } from "./slant.ts";

/** A line of text, in pixels of the picture. Its angle is the direction of reading. */
export interface TextLine extends Required<Area> {
  /** The mean probability of text in it. */
  readonly score: number;
}

/** Clockwise, in degrees. */
export type Direction = 0 | 90 | 180 | 270;

export interface Detector {
  /** The lines, if the text of the page is read in this direction, and the angle by which most lines deviate from it, in radians. */
  detect(picture: Sampler, direction: Direction): Promise<{ lines: TextLine[]; slant: number }>;
}

// The sides that the network accepts.
const sideStep = 32;
// The memory and the time of the network grow with the pixels: A4 at 110 dots per inch takes half of the time of A4 at 160.
const usualPixels = 1_200_000;
const maxPixels = 2_600_000;
// In pixels of the map. If a quarter of the lines is smaller, the picture is examined again with more pixels.
const smallPrint = 13;
// As in the configuration of the network, which was trained on pictures in the order blue, green, red.
const means = [0.485, 0.456, 0.406] as const;
const spreads = [0.229, 0.224, 0.225] as const;
const pixelThreshold = 0.2;
const lineThreshold = 0.45;
const growth = 1.4;
const maxLines = 2_000;
const minHeight = 3;
// The rectangles of short regions have random angles.
const elongated = 3;
const maxDeviation = Math.PI / 24;

export function createDetector(onnx: Onnx, session: Session): Detector {
  return {
    async detect(picture, direction) {
      const view = toView(picture, direction);
      const coarse = findLines(await run(onnx, session, picture, view, usualPixels));
      const isFine = view.width * view.height <= usualPixels || !hasSmallPrint(coarse.lines);
      const { map, lines, slant } = isFine ? coarse : findLines(await run(onnx, session, picture, view, maxPixels));
      return { lines: lines.map((line) => toTextLine(line, map, view)), slant };
    },
  };
}

interface FoundLine extends Rectangle {
  readonly score: number;
}

function findLines(map: ProbabilityMap): { map: ProbabilityMap; lines: FoundLine[]; slant: number } {
  const hulls = findRegions(map, pixelThreshold, maxLines);
  const tight = hulls.map((hull) => ({ hull, rectangle: surroundTightly(hull) }));
  const slant = findSlant(tight.map(({ rectangle }) => rectangle));
  const lines = tight.flatMap(({ hull, rectangle }) => {
    const line = isReliable(rectangle, slant) ? rectangle : surroundAt(hull, slant);
    if (Math.min(line.width, line.height) < minHeight) return [];
    const score = meanProbability(map, line);
    return score < lineThreshold ? [] : [{ ...grow(line), score }];
  });
  return { map, lines, slant };
}

function hasSmallPrint(lines: readonly Rectangle[]): boolean {
  const heights = lines.map(({ width, height }) => Math.min(width, height)).toSorted((a, b) => a - b);
  return (heights[Math.floor(heights.length / 4)] ?? 0) < smallPrint;
}

/** The whole picture as it looks if it is rotated so that the text is upright. */
function toView({ width, height }: Sampler, direction: Direction): Required<Area> {
  const liesOnSide = direction === 90 || direction === 270;
  const size = liesOnSide ? { width: height, height: width } : { width, height };
  return { x: width / 2, y: height / 2, ...size, angle: (direction * Math.PI) / 180 };
}

async function run(
  onnx: Onnx,
  session: Session,
  picture: Sampler,
  view: Area,
  pixelLimit: number,
): Promise<ProbabilityMap> {
  const { width, height } = chooseSize(view, pixelLimit);
  const pixels = picture.crop(view, width, height);
  const count = width * height;
  const planes = new Float32Array(3 * count);
  for (let channel = 0; channel < 3; channel++) {
    const [mean, spread] = [(means[channel] as number) * 255, (spreads[channel] as number) * 255];
    for (let pixel = 0; pixel < count; pixel++)
      planes[channel * count + pixel] = ((pixels[pixel * 3 + 2 - channel] as number) - mean) / spread;
  }
  const [input = "", output = ""] = [session.inputNames[0], session.outputNames[0]];
  const answer = await session.run({ [input]: onnx.floats(planes, [1, 3, height, width]) });
  const data = answer[output]?.data;
  if (!(data instanceof Float32Array) || data.length !== count) throw new Error("The network returned no map");
  return { width, height, data };
}

function chooseSize({ width, height }: Area, pixelLimit: number): { width: number; height: number } {
  const scale = Math.min(1, Math.sqrt(pixelLimit / (width * height)));
  const toSide = (length: number) => Math.max(sideStep, Math.round((length * scale) / sideStep) * sideStep);
  return { width: toSide(width), height: toSide(height) };
}

function isReliable({ width, height, angle }: Rectangle, slant: number): boolean {
  const isLong = width >= elongated * height || height >= elongated * width;
  return isLong && Math.abs(angle - slant) <= maxDeviation;
}

/** The network marks the middle of a line. The formula is the one of its authors. */
function grow(line: Rectangle): Rectangle {
  const distance = (line.width * line.height * growth) / (2 * (line.width + line.height));
  return { ...line, width: line.width + 2 * distance, height: line.height + 2 * distance };
}

/** From the map to the picture. */
function toTextLine(line: FoundLine, map: ProbabilityMap, view: Required<Area>): TextLine {
  const [scaleX, scaleY] = [view.width / map.width, view.height / map.height];
  const [right, down] = [line.x * scaleX - view.width / 2, line.y * scaleY - view.height / 2];
  const [cos, sin] = [Math.cos(view.angle), Math.sin(view.angle)];
  return {
    x: view.x + right * cos - down * sin,
    y: view.y + right * sin + down * cos,
    width: line.width * scaleX,
    height: line.height * scaleY,
    angle: view.angle + line.angle,
    score: line.score,
  };
}
