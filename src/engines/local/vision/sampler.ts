// Crops areas of a picture, rotated and scaled to the input size of a network.

import type { Pixels } from "./pixels.ts";

/** A rectangle in pixels, which may be rotated and extend beyond the edges of the picture. */
export interface Area {
  /** The coordinates of the centre. */
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
  /**
   * Scales the area to a width and height. Returns red, green and blue, 0 to 255, row by row. Transparent pixels are white, and pixels beyond the
   * edges are black.
   */
  crop(area: Area, width: number, height: number): Float32Array;
}

/** The picture without transparency, at its full size or scaled down. */
interface Level {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

const channels = 3;

export function createSampler(pixels: Pixels): Sampler {
  // A mipmap: each level has half the width and height of the one before.
  const levels: Level[] = [flattenOnWhite(pixels)];

  /** The smallest level with a pixel for every pixel of the result. In a larger one, skipped pixels would cause moiré patterns. */
  function chooseLevel(pixelsPerResultPixel: number): { level: Level; shrink: number } {
    let index = 0;
    while (pixelsPerResultPixel >= 2 ** (index + 1)) {
      const current = levels[index] as Level;
      if (current.width === 1 && current.height === 1) break;
      index++;
      levels[index] ??= halve(current);
    }
    return { level: levels[index] as Level, shrink: 2 ** index };
  }

  return {
    width: pixels.width,
    height: pixels.height,
    crop(area, width, height) {
      const { level, shrink } = chooseLevel(Math.min(area.width / width, area.height / height));
      const cos = Math.cos(area.angle ?? 0);
      const sin = Math.sin(area.angle ?? 0);
      const result = new Float32Array(width * height * channels);
      const interpolate = createInterpolation(level, result);
      for (let row = 0; row < height; row++) {
        const down = ((row + 0.5) / height - 0.5) * area.height;
        for (let column = 0; column < width; column++) {
          const right = ((column + 0.5) / width - 0.5) * area.width;
          // The colour of a pixel is the colour at its centre.
          const x = (area.x + right * cos - down * sin) / shrink - 0.5;
          const y = (area.y + right * sin + down * cos) / shrink - 0.5;
          interpolate(x, y, (row * width + column) * channels);
        }
      }
      return result;
    },
  };
}

export function wholeArea({ width, height }: { width: number; height: number }): Area {
  return { x: width / 2, y: height / 2, width, height };
}

/** Returns a function that writes the colour at a position between four pixels (bilinear interpolation) to the result, which must be zero there. */
function createInterpolation({ width, height, data }: Level, result: Float32Array) {
  return (x: number, y: number, to: number): void => {
    if (x <= -1 || y <= -1 || x >= width || y >= height) return;
    const left = Math.floor(x);
    const top = Math.floor(y);
    const fractionX = x - left;
    const fractionY = y - top;
    for (let corner = 0; corner < 4; corner++) {
      const column = left + (corner & 1);
      const row = top + (corner >> 1);
      if (column < 0 || row < 0 || column >= width || row >= height) continue;
      const weight = (corner & 1 ? fractionX : 1 - fractionX) * (corner >> 1 ? fractionY : 1 - fractionY);
      const from = (row * width + column) * channels;
      for (let channel = 0; channel < channels; channel++)
        result[to + channel] = (result[to + channel] as number) + weight * (data[from + channel] as number);
    }
  };
}

function flattenOnWhite({ width, height, data: rgba }: Pixels): Level {
  const data = new Uint8Array(width * height * channels);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const alpha = rgba[pixel * 4 + 3] as number;
    for (let channel = 0; channel < channels; channel++)
      data[pixel * channels + channel] = 255 - (alpha * (255 - (rgba[pixel * 4 + channel] as number))) / 255;
  }
  return { width, height, data };
}

/** Each pixel is the mean of four, or of fewer in the last column of an odd width and in the last row of an odd height. */
function halve({ width, height, data }: Level): Level {
  const half = { width: (width + 1) >> 1, height: (height + 1) >> 1 };
  const result = new Uint8Array(half.width * half.height * channels);
  let to = 0;
  for (let row = 0; row < half.height; row++) {
    const belowOffset = row * 2 + 1 < height ? width * channels : 0;
    for (let column = 0; column < half.width; column++) {
      const rightOffset = column * 2 + 1 < width ? channels : 0;
      const from = (row * 2 * width + column * 2) * channels;
      for (let channel = 0; channel < channels; channel++) {
        const at = from + channel;
        const sum =
          (data[at] as number) +
          (data[at + rightOffset] as number) +
          (data[at + belowOffset] as number) +
          (data[at + belowOffset + rightOffset] as number);
        result[to++] = (sum + 2) >> 2;
      }
    }
  }
  return { ...half, data: result };
}
