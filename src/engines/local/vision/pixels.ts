// Converts picture files to pixels and back.

import { crc32, deflateSync, inflateSync } from "node:zlib";
import { refuseInput } from "../../../providers/task.ts";
import { maxInputPixels, readImage } from "../image-file.ts";
import type { LocalFile } from "../local-engine.ts";

/** Red, green, blue and alpha, one byte each. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
  /** The ICC profile of the file, which is written into the resulting picture, too. */
  readonly colourProfile: Uint8Array | null;
  readonly format: string;
}

const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const bytesPerPixel = 4;
const trueColourWithAlpha = 6;

/** The picture in a member of the input, scaled down if it has more pixels than the maximum. */
export async function readPixels(file: LocalFile | undefined, member: string, maxPixels: number): Promise<Pixels> {
  if (file === undefined) return refuseInput(member, "The picture is missing.");
  const { png, format } = await readImage(file.bytes, {
    member,
    formats: "JPEG, PNG, WebP, GIF or BMP",
    fit(width, height) {
      const scale = Math.min(1, Math.sqrt(maxPixels / (width * height)));
      return [Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale))];
    },
    // Bun does not return raw pixels. A PNG without compression is quick to read.
    compressionLevel: 0,
  });
  return { ...fromPlainPng(png), format };
}

/** In the format of the original if it is JPEG or WebP, otherwise as PNG. */
export async function writePixels(
  pixels: Pixels,
  format = pixels.format,
): Promise<{ bytes: Uint8Array; mediaType: string }> {
  const image = new Bun.Image(toPlainPng(pixels), { maxPixels: maxInputPixels });
  if (format === "jpeg") return { bytes: await image.jpeg({ quality: 90 }).bytes(), mediaType: "image/jpeg" };
  if (format === "webp") return { bytes: await image.webp({ quality: 90 }).bytes(), mediaType: "image/webp" };
  return { bytes: await image.png({ compressionLevel: 3 }).bytes(), mediaType: "image/png" };
}

/** Reads the form that the encoder writes at its lowest level: four channels, no filters, not compressed. */
function fromPlainPng(png: Uint8Array): Omit<Pixels, "format"> {
  const { IHDR, iCCP = null, IDAT } = readChunks(Buffer.from(png.buffer, png.byteOffset, png.byteLength));
  if (IHDR === undefined || IDAT === undefined || IHDR[9] !== trueColourWithAlpha)
    throw new Error("The PNG does not have the expected form");
  const width = IHDR.readUInt32BE(0);
  const height = IHDR.readUInt32BE(4);
  const stride = width * bytesPerPixel;
  const lines = inflateSync(IDAT);
  const data = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const start = y * (stride + 1);
    if (lines[start] !== 0) throw new Error("The PNG has filters");
    data.set(lines.subarray(start + 1, start + 1 + stride), y * stride);
  }
  return { width, height, data, colourProfile: iCCP };
}

function readChunks(png: Buffer): Readonly<Partial<Record<string, Buffer>>> {
  const found: Record<string, Buffer[]> = {};
  for (let at = signature.length; at + 12 <= png.length; ) {
    const length = png.readUInt32BE(at);
    const name = png.toString("latin1", at + 4, at + 8);
    found[name] ??= [];
    found[name].push(png.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  return Object.fromEntries(Object.entries(found).map(([name, parts]) => [name, Buffer.concat(parts)]));
}

function toPlainPng({ width, height, data, colourProfile }: Pixels): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, trueColourWithAlpha, 0, 0, 0], 8);
  const stride = width * bytesPerPixel;
  const lines = new Uint8Array((stride + 1) * height);
  for (let y = 0; y < height; y++) lines.set(data.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1);
  const profile = colourProfile === null ? [] : [toChunk("iCCP", colourProfile)];
  return Buffer.concat([
    signature,
    toChunk("IHDR", header),
    ...profile,
    toChunk("IDAT", deflateSync(lines, { level: 0 })),
    toChunk("IEND", new Uint8Array()),
  ]);
}

function toChunk(name: string, content: Uint8Array): Buffer {
  const chunk = Buffer.alloc(12 + content.length);
  chunk.writeUInt32BE(content.length, 0);
  chunk.write(name, 4, "latin1");
  chunk.set(content, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + content.length)), 8 + content.length);
  return chunk;
}
