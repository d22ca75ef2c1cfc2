// Grey pictures for samples: how a page looks as a scan, and as a photograph by hand: slanted, unevenly lit, out of focus, noisy.

import type { Picture } from "../../../src/engines/local/documents/picture.ts";

export interface GreyPicture {
  readonly width: number;
  readonly height: number;
  /** One byte per pixel, row by row. */
  readonly pixels: Uint8Array;
}

/** The pixels are the end of a portable greymap. */
export function toGreyPicture({ width, height, bytes }: Picture): GreyPicture {
  return { width, height, pixels: bytes.subarray(bytes.length - width * height) };
}

/** Uncompressed and without any library: what Bun's own image pipeline takes in. */
export function toBitmap({ width, height, pixels }: GreyPicture): Uint8Array {
  const stride = (width * 3 + 3) & ~3;
  const bitmap = Buffer.alloc(54 + stride * height);
  bitmap.write("BM");
  bitmap.writeUInt32LE(bitmap.length, 2);
  bitmap.writeUInt32LE(54, 10);
  bitmap.writeUInt32LE(40, 14);
  bitmap.writeInt32LE(width, 18);
  bitmap.writeInt32LE(-height, 22);
  bitmap.writeUInt16LE(1, 26);
  bitmap.writeUInt16LE(24, 28);
  for (let y = 0; y < height; y++) {
    for (let x = 0, at = 54 + y * stride; x < width; x++) {
      const shade = pixels[y * width + x] ?? 255;
      bitmap[at++] = shade;
      bitmap[at++] = shade;
      bitmap[at++] = shade;
    }
  }
  return bitmap;
}

export interface PhotoFaults {
  readonly degrees: number;
  /** Pixels on either side that run into one another. */
  readonly blur: number;
  /** Largest change of a pixel, of 255. */
  readonly noise: number;
  /** How much darker the far corner is, 0..1. */
  readonly shade: number;
  /** Perspective: how much narrower the far edge is than the near one, 0..1. */
  readonly tilt?: number;
}

export function photograph(picture: GreyPicture, { degrees, blur, noise, shade, tilt = 0 }: PhotoFaults): GreyPicture {
  const rotated = rotate(tilt === 0 ? picture : lean(picture, tilt), degrees);
  const blurred = blur > 0 ? blurRows(blurRows(rotated, blur), blur) : rotated;
  const { width, height } = blurred;
  const pixels = new Uint8Array(width * height);
  let seed = 12345;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      const light = 1 - shade * ((x / width + y / height) / 2);
      const grain = ((seed / 2 ** 32) * 2 - 1) * noise;
      pixels[y * width + x] = Math.min(255, Math.max(0, (blurred.pixels[y * width + x] ?? 255) * light * 0.94 + grain));
    }
  }
  return { width, height, pixels };
}

function rotate(picture: GreyPicture, degrees: number): GreyPicture {
  const { width, height } = picture;
  const [cosine, sine] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const pixels = new Uint8Array(width * height).fill(235);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [dx, dy] = [x - width / 2, y - height / 2];
      const sourceX = dx * cosine + dy * sine + width / 2;
      const sourceY = -dx * sine + dy * cosine + height / 2;
      if (sourceX < 0 || sourceY < 0 || sourceX >= width - 1 || sourceY >= height - 1) continue;
      pixels[y * width + x] = blend(picture, sourceX, sourceY);
    }
  }
  return { width, height, pixels };
}

/** As if the camera was held at an angle: the top is further away than the bottom. */
function lean(picture: GreyPicture, tilt: number): GreyPicture {
  const { width, height } = picture;
  const pixels = new Uint8Array(width * height).fill(235);
  for (let y = 0; y < height; y++) {
    const scale = 1 - tilt * (1 - y / height);
    // Rows that are further away are nearer to one another.
    const sourceY = (y / height) * (1 + tilt * (1 - y / height)) * (height - 1);
    for (let x = 0; x < width; x++) {
      const sourceX = (x - width / 2) / scale + width / 2;
      if (sourceX < 0 || sourceX >= width - 1 || sourceY >= height - 1) continue;
      pixels[y * width + x] = blend(picture, sourceX, sourceY);
    }
  }
  return { width, height, pixels };
}

function blend({ width, pixels }: GreyPicture, x: number, y: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [right, down] = [x - left, y - top];
  const at = (dx: number, dy: number) => pixels[(top + dy) * width + left + dx] ?? 255;
  return (at(0, 0) * (1 - right) + at(1, 0) * right) * (1 - down) + (at(0, 1) * (1 - right) + at(1, 1) * right) * down;
}

/** The mean along rows, returned with rows and columns swapped: twice is a blur in both directions. */
function blurRows({ width, height, pixels }: GreyPicture, radius: number): GreyPicture {
  const swapped = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let total = 0;
      for (let dx = -radius; dx <= radius; dx++)
        total += pixels[y * width + Math.min(width - 1, Math.max(0, x + dx))] ?? 255;
      swapped[x * height + y] = total / (2 * radius + 1);
    }
  }
  return { width: height, height: width, pixels: swapped };
}
