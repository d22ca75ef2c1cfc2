// Pictures, made ready for recognition: checked by their header before a pixel is decoded, turned upright, brought to a useful size.

import { refuseFile } from "./refuse.ts";

/** What the recogniser decodes itself. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

// A 50-megapixel camera, with some room. Decoded, that is 256 MB for a moment.
const maxInputPixels = 64_000_000;
const maxSide = 20_000;
// A4 at 300 dots per inch: more costs time and reads no better.
export const maxPixels = 9_000_000;
// Smaller pictures are screenshots and pages at 110 dots per inch or less: doubled, they lose half as many words or fewer.
const smallSide = 1_300;
const maxTiffPages = 500;

/** One picture, or each page of a TIFF. An animation is its first frame. */
export async function preparePictures(bytes: Uint8Array): Promise<Picture[]> {
  if (isTiff(bytes)) return splitTiff(bytes);
  const { width, height } = await readSize(bytes);
  if (Math.max(width, height) > maxSide || width * height > maxInputPixels) throw tooLarge(width, height);
  const scale = chooseScale(width, height);
  const image = new Bun.Image(bytes, { maxPixels: maxInputPixels });
  if (scale !== 1) image.resize(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)));
  try {
    // Hardly compressed: it is read again at once.
    const upright = await image.png({ compressionLevel: 1 }).bytes();
    return [{ width: image.width, height: image.height, bytes: upright }];
  } catch (error) {
    throw toRefusal(error);
  }
}

async function readSize(bytes: Uint8Array): Promise<{ width: number; height: number }> {
  try {
    return await new Bun.Image(bytes, { maxPixels: maxInputPixels }).metadata();
  } catch (error) {
    throw toRefusal(error);
  }
}

function toRefusal(error: unknown) {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ERR_IMAGE_FORMAT_UNSUPPORTED") {
    return refuseFile(
      "Pictures of this format cannot be decoded on this machine. Send JPEG, PNG, WebP, GIF, BMP or TIFF.",
    );
  }
  if (code === "ERR_IMAGE_TOO_MANY_PIXELS")
    return refuseFile(`The picture has more than ${maxInputPixels / 1e6} megapixels.`);
  return refuseFile("The picture is damaged, or not a picture.");
}

function tooLarge(width: number, height: number) {
  return refuseFile(
    `The picture measures ${width} × ${height}; at most ${maxInputPixels / 1e6} megapixels and ${maxSide} a side can be read.`,
  );
}

function chooseScale(width: number, height: number): number {
  if (width * height > maxPixels) return Math.sqrt(maxPixels / (width * height));
  return Math.max(width, height) < smallSide ? 2 : 1;
}

export function toPortableGreymap(width: number, height: number, pixels: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels]);
}

function isTiff(bytes: Uint8Array): boolean {
  const magic = Buffer.from(bytes.subarray(0, 4)).toString("latin1");
  return magic === "II*\0" || magic === "MM\0*";
}

/** The decoder reads the page that the header points to; so each page is the same file with another header. */
function splitTiff(bytes: Uint8Array): Picture[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const little = bytes[0] === 0x49;
  const pictures: Picture[] = [];
  const seen = new Set<number>();
  try {
    for (let offset = view.getUint32(4, little); offset !== 0 && !seen.has(offset); ) {
      seen.add(offset);
      if (seen.size > maxTiffPages) throw refuseFile(`The TIFF has more than ${maxTiffPages} pages.`);
      const { width, height, next } = readTiffPage(view, offset, little);
      if (Math.max(width, height) > maxSide || width * height > maxInputPixels) throw tooLarge(width, height);
      const copy = bytes.slice();
      new DataView(copy.buffer).setUint32(4, offset, little);
      pictures.push({ width, height, bytes: copy });
      offset = next;
    }
  } catch (error) {
    if (error instanceof RangeError) throw refuseFile("The TIFF is damaged.");
    throw error;
  }
  if (pictures.length === 0) throw refuseFile("The TIFF has no page.");
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
  if (width === 0 || height === 0) throw refuseFile("The TIFF is damaged.");
  return { width, height, next: view.getUint32(offset + 2 + entries * 12, little) };
}
