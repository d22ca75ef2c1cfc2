// Finds faces: BlazeFace searches the whole picture and parts of it, and a mesh of 468 points is fitted to each candidate. A candidate that the
// mesh does not fit is dropped.

import { loadOnce } from "../load-once.ts";
import { areaOf, type Box, keepBest } from "./boxes.ts";
import type { Area, Sampler } from "./sampler.ts";
import { loadTensorflow, type Network } from "./tensorflow.ts";

export type Point = readonly [x: number, y: number];

export interface Face {
  readonly score: number;
  /** From chin to forehead, in pixels. */
  readonly box: Box;
  /** The face with a margin, rotated like the face: the input of the networks that describe faces. */
  readonly area: Area;
  /** In pixels. A negative z is towards the viewer. */
  readonly mesh: readonly (readonly [x: number, y: number, z: number])[];
  /** The ears, left and right as the viewer sees them. */
  readonly ears: readonly [Point, Point];
}

export interface FaceFinder {
  /** The largest first. */
  find(picture: Sampler, options?: FindOptions): Face[];
}

export interface FindOptions {
  /** Applies to the detector and to the mesh. */
  readonly minScore: number;
  readonly maxFaces: number;
  /** In pixels. Smaller parts of the picture are not searched separately. */
  readonly minWindow: number;
}

interface Candidate {
  readonly score: number;
  readonly box: Box;
  /** Eyes, nose, mouth, ears; of each pair the left one first, as the viewer sees it. */
  readonly points: readonly Point[];
}

const origin: Point = [0, 0];
const detectorSize = 256;
/** Each cell of a grid has several anchors. */
const grids = [
  { stride: 16, anchors: 2 },
  { stride: 32, anchors: 6 },
];
// The box, then six points.
const numbersPerAnchor = 16;
const maxOverlap = 0.4;
const meshSize = 192;
// The detector's box ends at the eyebrows, but the mesh needs the whole head.
const headScale = 1.5;
// The margin around the mesh. Measured: with less or more, people are distinguished less well.
const portraitScale = 1.3;
// The sizes of windows relative to the longest side. Faces smaller than a twentieth of a window are not found in it.
const windowParts = [1, 1 / 2, 1 / 4];
const windowStep = 0.75;
/** Further faces are ignored, because a crowd would occupy a worker for minutes. */
const defaultOptions: FindOptions = { minScore: 0.5, maxFaces: 64, minWindow: 320 };
/** The outer corners of the eyes, left and right as the viewer sees them. */
const eyeCorners = [33, 263] as const;

/** All engines of a worker share its networks. */
export const loadFaceFinder = loadOnce(async (): Promise<FaceFinder> => {
  const { openGraph } = await loadTensorflow();
  // Scores and positions of the fine grid, then of the coarse one.
  const outputs = ["Identity", "Identity_2", "Identity_1", "Identity_3"];
  const detector = await openGraph({ name: "blazeface", size: detectorSize, outputs });
  const mesh = await openGraph({ name: "facemesh", size: meshSize, outputs: ["Identity_2", "Identity_1"] });
  return {
    find(picture, { minScore, maxFaces, minWindow } = defaultOptions) {
      const windows = windowsOf(picture, minWindow);
      const candidates = windows.flatMap((window) => detect(detector, picture, window, minScore));
      const faces = keepBest(candidates, maxOverlap)
        .slice(0, maxFaces)
        .map((candidate) => fitMesh(mesh, picture, candidate))
        .filter(({ score }) => score >= minScore);
      // The meshes of two candidates on one head overlap.
      return keepBest(faces, maxOverlap).toSorted((a, b) => areaOf(b.box) - areaOf(a.box));
    },
  };
});

/** Squares: the whole picture, then overlapping parts, so that every face is complete in one of them. */
function windowsOf({ width, height }: Sampler, minWindow: number): Area[] {
  const longest = Math.max(width, height);
  return windowParts.flatMap((part) => {
    const side = longest * part;
    if (part < 1 && side < minWindow) return [];
    return centresOf(width, side).flatMap((x) =>
      centresOf(height, side).map((y) => ({ x, y, width: side, height: side })),
    );
  });
}

function centresOf(length: number, side: number): number[] {
  if (length <= side) return [length / 2];
  const count = Math.ceil((length - side) / (side * windowStep)) + 1;
  return Array.from({ length: count }, (_, index) => side / 2 + (index * (length - side)) / (count - 1));
}

function detect(detector: Network, picture: Sampler, window: Area, minScore: number): Candidate[] {
  const input = picture.crop(window, detectorSize, detectorSize).map((value) => value / 127.5 - 1);
  const outputs = detector(input);
  const scale = window.width / detectorSize;
  const left = window.x - window.width / 2;
  const top = window.y - window.height / 2;
  const found: Candidate[] = [];
  for (const [index, { stride, anchors }] of grids.entries()) {
    const scores = outputs[index * 2] as Float32Array;
    const positions = outputs[index * 2 + 1] as Float32Array;
    const cells = detectorSize / stride;
    for (const [anchor, logit] of scores.entries()) {
      const score = 1 / (1 + Math.exp(-logit));
      if (score < minScore) continue;
      const cell = Math.floor(anchor / anchors);
      const cellX = ((cell % cells) + 0.5) * stride;
      const cellY = (Math.floor(cell / cells) + 0.5) * stride;
      const at = (offset: number) => positions[anchor * numbersPerAnchor + offset] as number;
      const point = (offset: number): Point => [
        left + (cellX + at(offset)) * scale,
        top + (cellY + at(offset + 1)) * scale,
      ];
      const [x, y] = point(0);
      const halfWidth = (at(2) * scale) / 2;
      const halfHeight = (at(3) * scale) / 2;
      const box = { left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight };
      found.push({ score, box, points: [4, 6, 8, 10, 12, 14].map(point) });
    }
  }
  return found;
}

function fitMesh(network: Network, picture: Sampler, { score, box, points }: Candidate): Face {
  const [leftEye = origin, rightEye = origin, , , leftEar = origin, rightEar = origin] = points;
  const head = squareAround(box, headScale, angleOf(leftEye, rightEye));
  const input = picture.crop(head, meshSize, meshSize).map((value) => value / 255);
  const [flat = new Float32Array(), [meshScore = 0] = []] = network(input);
  const mesh = toPicture(flat, head);
  const face = around(mesh);
  const [leftCorner, rightCorner] = eyeCorners.map((index) => mesh[index] ?? origin) as [Point, Point];
  const area = squareAround(face, portraitScale, angleOf(leftCorner, rightCorner));
  return { score: Math.min(score, meshScore), box: face, area, mesh, ears: [leftEar, rightEar] };
}

function squareAround(box: Box, scale: number, angle: number): Area {
  const side = Math.max(box.right - box.left, box.bottom - box.top) * scale;
  return { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2, width: side, height: side, angle };
}

function angleOf(left: readonly number[], right: readonly number[]): number {
  return Math.atan2((right[1] ?? 0) - (left[1] ?? 0), (right[0] ?? 0) - (left[0] ?? 0));
}

function toPicture(flat: Float32Array, area: Area): Face["mesh"] {
  const scale = area.width / meshSize;
  const cos = Math.cos(area.angle ?? 0);
  const sin = Math.sin(area.angle ?? 0);
  return Array.from({ length: flat.length / 3 }, (_, index) => {
    const x = ((flat[index * 3] as number) - meshSize / 2) * scale;
    const y = ((flat[index * 3 + 1] as number) - meshSize / 2) * scale;
    return [area.x + x * cos - y * sin, area.y + x * sin + y * cos, (flat[index * 3 + 2] as number) * scale] as const;
  });
}

function around(mesh: Face["mesh"]): Box {
  const xs = mesh.map(([x]) => x);
  const ys = mesh.map(([, y]) => y);
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
}
