// Extracts areas of a picture, rotated and scaled to the input size of a network.

import type { Pixels } from "./pixels.ts";

/** A rectangle in pixels, given by its centre. It may be rotated and extend beyond the edges of the picture. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Clockwise, in radians. Absent: upright. */
  readonly angle?: number;
}

export interface Sampler {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue, 0 to 255, line by line. Pixels beyond the edges are black. */
  cut(area: Area, width: number, height: number): Float32Array;
}

interface Level {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

const channels = 3;

export function createSampler(pixels: Pixels): Sampler {
  const levels: Level[] = [onWhite(pixels)];

  /** The smallest level (each has half the size of the one before) with enough pixels, because skipping pixels causes moiré patterns. */
  function levelFor(scale: number): { level: Level; shrink: number } {
    let index = 0;
    while (scale / 2 ** (index + 1) >= 1) {
      const current = levels[index] as Level;
      if (Math.min(current.width, current.height) < 2) break;
      index++;
      levels[index] ??= halve(current);
    }
    return { level: levels[index] as Level, shrink: 2 ** index };
  }

  return {
    width: pixels.width,
    height: pixels.height,
    cut(area, width, height) {
      const { level, shrink } = levelFor(Math.min(area.width / width, area.height / height));
      const cos = Math.cos(area.angle ?? 0);
      const sin = Math.sin(area.angle ?? 0);
      const result = new Float32Array(width * height * channels);
      for (let row = 0; row < height; row++) {
        const down = ((row + 0.5) / height - 0.5) * area.height;
        for (let column = 0; column < width; column++) {
          const right = ((column + 0.5) / width - 0.5) * area.width;
          const x = (area.x + right * cos - down * sin) / shrink - 0.5;
          const y = (area.y + right * sin + down * cos) / shrink - 0.5;
          interpolate(level, x, y, result, (row * width + column) * channels);
        }
      }
      return result;
    },
  };
}

export function wholeOf({ width, height }: { width: number; height: number }): Area {
  return { x: width / 2, y: height / 2, width, height };
}

/** Bilinear interpolation between four pixels. */
function interpolate({ width, height, data }: Level, x: number, y: number, into: Float32Array, at: number): void {
  if (x <= -1 || y <= -1 || x >= width || y >= height) return;
  const left = Math.floor(x);
  const top = Math.floor(y);
  const partX = x - left;
  const partY = y - top;
  for (let corner = 0; corner < 4; corner++) {
    const column = left + (corner & 1);
    const row = top + (corner >> 1);
    if (column < 0 || row < 0 || column >= width || row >= height) continue;
    const weight = (corner & 1 ? partX : 1 - partX) * (corner >> 1 ? partY : 1 - partY);
    const from = (row * width + column) * channels;
    for (let channel = 0; channel < channels; channel++)
      into[at + channel] = (into[at + channel] as number) + weight * (data[from + channel] as number);
  }
}

function onWhite({ width, height, data }: Pixels): Level {
  const flat = new Uint8Array(width * height * channels);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const alpha = data[pixel * 4 + 3] as number;
    for (let channel = 0; channel < channels; channel++)
      flat[pixel * channels + channel] = 255 - (alpha * (255 - (data[pixel * 4 + channel] as number))) / 255;
  }
  return { width, height, data: flat };
}

function halve({ width, height, data }: Level): Level {
  const half = { width: width >> 1, height: height >> 1 };
  const result = new Uint8Array(half.width * half.height * channels);
  let to = 0;
  for (let row = 0; row < half.height; row++) {
    for (let column = 0; column < half.width; column++) {
      const from = (row * 2 * width + column * 2) * channels;
      const below = from + width * channels;
      for (let channel = 0; channel < channels; channel++) {
        const sum =
          (data[from + channel] as number) +
          (data[from + channels + channel] as number) +
          (data[below + channel] as number) +
          (data[below + channels + channel] as number);
        result[to++] = (sum + 2) >> 2;
      }
    }
  }
  return { ...half, data: result };
}
