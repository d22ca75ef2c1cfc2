// image/anonymization: pixelates faces, with a preference for false positives. Faces that are turned away, tiny or covered may still be missed.

import { defineEngine } from "../local-engine.ts";
import { round } from "../numbers.ts";
import { type Box, toEdges } from "./boxes.ts";
import { type FindOptions, loadFaceFinder } from "./face-finder.ts";
import { maxPixelsReturned, oneImage } from "./picture-engine.ts";
import { type Pixels, readPixels, writePixels } from "./pixels.ts";
import { createSampler } from "./sampler.ts";
import { humanPackages } from "./tensorflow.ts";

const findOptions: FindOptions = { minScore: 0.3, maxFaces: 200, minWindow: 192 };
// The mesh does not include hair and ears, which also identify people.
const margin = 0.2;
// With so few patches, a face cannot be recognised.
const patches = 6;

export const imageAnonymization = defineEngine({
  task: "image/anonymization",
  group: "vision",
  packages: humanPackages,
  async load() {
    const finder = await loadFaceFinder();
    return async ({ files }) => {
      const pixels = await readPixels(files["file"], "file", maxPixelsReturned);
      const faces = finder.find(createSampler(pixels), findOptions);
      const items = faces.map(({ score, box: face }) => {
        const box = widen(face);
        blur(pixels, box);
        return { kind: "face", confidence: round(score), bounding_boxes: toEdges(box, pixels) };
      });
      const image = await writePixels(pixels);
      return {
        output: { items },
        original: { engine: "blazeface, facemesh" },
        units: oneImage,
        binaries: [{ base64Path: ["image"], urlPath: ["image_resource_url"], ...image }],
      };
    };
  },
});

function widen({ left, top, right, bottom }: Box): Box {
  const across = (right - left) * margin;
  const down = (bottom - top) * margin;
  return { left: left - across, top: top - down, right: right + across, bottom: bottom + down };
}

/** Replaces an area by the interpolated mean colours of a few patches. */
export function blur({ width, height, data }: Pixels, box: Box): void {
  const left = Math.max(0, Math.floor(box.left));
  const top = Math.max(0, Math.floor(box.top));
  const right = Math.min(width, Math.ceil(box.right));
  const bottom = Math.min(height, Math.ceil(box.bottom));
  if (right <= left || bottom <= top) return;
  const means = new Float64Array(patches * patches * 3);
  const counts = new Float64Array(patches * patches);
  const patchOf = (value: number, start: number, end: number) => ((value + 0.5 - start) / (end - start)) * patches;
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const patch = Math.floor(patchOf(y, top, bottom)) * patches + Math.floor(patchOf(x, left, right));
      counts[patch] = (counts[patch] as number) + 1;
      for (let channel = 0; channel < 3; channel++)
        means[patch * 3 + channel] =
          (means[patch * 3 + channel] as number) + (data[(y * width + x) * 4 + channel] as number);
    }
  }
  const meanOf = (row: number, column: number, channel: number) => {
    const patch = clamp(row) * patches + clamp(column);
    return (means[patch * 3 + channel] as number) / Math.max(1, counts[patch] as number);
  };
  for (let y = top; y < bottom; y++) {
    const down = patchOf(y, top, bottom) - 0.5;
    const row = Math.floor(down);
    for (let x = left; x < right; x++) {
      const across = patchOf(x, left, right) - 0.5;
      const column = Math.floor(across);
      for (let channel = 0; channel < 3; channel++) {
        const above = blend(meanOf(row, column, channel), meanOf(row, column + 1, channel), across - column);
        const below = blend(meanOf(row + 1, column, channel), meanOf(row + 1, column + 1, channel), across - column);
        data[(y * width + x) * 4 + channel] = blend(above, below, down - row);
      }
    }
  }
}

function clamp(index: number): number {
  return Math.min(patches - 1, Math.max(0, index));
}

function blend(one: number, other: number, part: number): number {
  return one + (other - one) * part;
}
