// Prepares pictures for recognition: they are checked, rotated upright and scaled to a useful size.

import { refuseInput } from "../../../providers/task.ts";
import { checkSize, readImage } from "../image-file.ts";
import type { Pixels } from "../vision/pixels.ts";

/** A file that the recogniser can decode: PNG, TIFF or a portable greymap. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

// A4 at 300 dots per inch. More pixels take longer and do not improve the recognition.
export const maxPixels = 9_000_000;
// Smaller pictures are screenshots and pages at 110 dots per inch or less. Doubling their size halves the number of lost words.
const smallSide = 1_300;
const maxTiffPages = 500;

/** One picture, or the pages of a TIFF. */
export async function preparePictures(bytes: Uint8Array): Promise<Picture[]> {
  if (isTiff(bytes)) return splitTiff(bytes);
  const { png, width, height } = await readImage(bytes, {
    member: "file",
    formats: "JPEG, PNG, WebP, GIF, BMP or TIFF",
    fit(width, height) {
      const scale = chooseScale(width, height);
      return [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
    },
    // The PNG is decoded again at once, so compression would take more time than it saves.
    compressionLevel: 0,
  });
  return [{ width, height, bytes: png }];
}

function chooseScale(width: number, height: number): number {
  if (width * height > maxPixels) return Math.sqrt(maxPixels / (width * height));
  return Math.max(width, height) < smallSide ? 2 : 1;
}

/** The format PGM. */
export function toGreyMap(width: number, height: number, pixels: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels]);
}

/** The pixels of a picture in the format PGM; null: it has another format. */
export function readGreyMap({ width, height, bytes }: Picture): Pixels | null {
  if (bytes[0] !== 0x50 || bytes[1] !== 0x35) return null;
  const shades = bytes.subarray(bytes.length - width * height);
  const data = new Uint8Array(width * height * 4);
  for (let pixel = 0; pixel < shades.length; pixel++) {
    const shade = shades[pixel] as number;
    data[pixel * 4] = shade;
    data[pixel * 4 + 1] = shade;
    data[pixel * 4 + 2] = shade;
    data[pixel * 4 + 3] = 255;
  }
  return { width, height, data, colourProfile: null, format: "pgm" };
}

export function isTiff(bytes: Uint8Array): boolean {
  const magic = Buffer.from(bytes.subarray(0, 4)).toString("latin1");
  return magic === "II*\0" || magic === "MM\0*";
}

/** The decoder reads the page that the header refers to, so each page becomes a copy of the file with its own header. */
function splitTiff(bytes: Uint8Array): Picture[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const little = bytes[0] === 0x49;
  const pictures: Picture[] = [];
  const seen = new Set<number>();
  try {
    for (let offset = view.getUint32(4, little); offset !== 0 && !seen.has(offset); ) {
      seen.add(offset);
      if (seen.size > maxTiffPages) refuseInput("file", `The TIFF has more than ${maxTiffPages} pages.`);
      const { width, height, next } = readTiffPage(view, offset, little);
      checkSize(width, height, "file");
      const copy = bytes.slice();
      new DataView(copy.buffer).setUint32(4, offset, little);
      pictures.push({ width, height, bytes: copy });
      offset = next;
    }
  } catch (error) {
    if (error instanceof RangeError) refuseInput("file", "The TIFF is damaged.");
    throw error;
  }
  if (pictures.length === 0) refuseInput("file", "The TIFF has no page.");
  return pictures;
}

function readTiffPage(view: DataView, offset: number, little: boolean) {
  const entries = view.getUint16(offset, little);
  let width = 0;
  let height = 0;
  for (let index = 0; index < entries; index++) {
    const entry = offset + 2 + index * 12;
    const tag = view.getUint16(entry, little);
    const isShort = view.getUint16(entry + 2, little) === 3;
    const value = isShort ? view.getUint16(entry + 8, little) : view.getUint32(entry + 8, little);
    if (tag === 256) width = value;
    if (tag === 257) height = value;
  }
  if (width === 0 || height === 0) refuseInput("file", "The TIFF is damaged.");
  return { width, height, next: view.getUint32(offset + 2 + entries * 12, little) };
}
