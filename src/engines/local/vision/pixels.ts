// Pictures as pixels and back: the header is checked before anything is decoded, the orientation of cameras is applied.

import { crc32, deflateSync, inflateSync } from "node:zlib";
import { ValidationError } from "../../../errors.ts";
import type { LocalFile } from "../local-engine.ts";

/** Red, green, blue, alpha; a byte each. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
  /** What the numbers mean as colours, where the picture says it: goes back into a picture that is made of them. */
  readonly colourProfile: Uint8Array | null;
  readonly format: string;
}

// A 50-megapixel camera, with some room. Decoded, that is 256 MB for a moment.
const maxInputPixels = 64_000_000;
const maxSide = 20_000;
const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const bytesPerPixel = 4;
const trueColourWithAlpha = 6;

/** The picture of a file that the input names, made smaller where it has more pixels than wanted. An animation is its first frame. */
export async function readPixels(file: LocalFile | undefined, member: string, maxPixels: number): Promise<Pixels> {
  if (file === undefined) throw refuse(member, "The picture is missing.");
  const { width, height, format } = await readHeader(file.bytes, member);
  if (Math.max(width, height) > maxSide || width * height > maxInputPixels) throw tooLarge(member, width, height);
  const image = new Bun.Image(file.bytes, { maxPixels: maxInputPixels });
  const scale = Math.sqrt(maxPixels / (width * height));
  if (scale < 1) image.resize(Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale)));
  try {
    // There is no way to raw pixels; a PNG without compression is the next best.
    return { ...fromPlainPng(await image.png({ compressionLevel: 0 }).bytes()), format };
  } catch (error) {
    throw toRefusal(error, member);
  }
}

/** As the kind of picture it was where that can be written, else as PNG. */
export async function writePixels(
  pixels: Pixels,
  format = pixels.format,
): Promise<{ bytes: Uint8Array; mediaType: string }> {
  const image = new Bun.Image(toPlainPng(pixels), { maxPixels: maxInputPixels });
  if (format === "jpeg") return { bytes: await image.jpeg({ quality: 90 }).bytes(), mediaType: "image/jpeg" };
  if (format === "webp") return { bytes: await image.webp({ quality: 90 }).bytes(), mediaType: "image/webp" };
  return { bytes: await image.png({ compressionLevel: 3 }).bytes(), mediaType: "image/png" };
}

async function readHeader(bytes: Uint8Array, member: string): Promise<Bun.Image.Metadata> {
  try {
    return await new Bun.Image(bytes, { maxPixels: maxInputPixels }).metadata();
  } catch (error) {
    throw toRefusal(error, member);
  }
}

/** What the encoder writes at its lowest level: four channels, no filters, stored. */
function fromPlainPng(png: Uint8Array): Omit<Pixels, "format"> {
  const { IHDR, iCCP = null, IDAT } = readChunks(Buffer.from(png.buffer, png.byteOffset, png.byteLength));
  if (IHDR === undefined || IDAT === undefined || IHDR[9] !== trueColourWithAlpha) throw new Error("not a plain PNG");
  const width = IHDR.readUInt32BE(0);
  const height = IHDR.readUInt32BE(4);
  const stride = width * bytesPerPixel;
  const lines = inflateSync(IDAT);
  const data = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const start = y * (stride + 1);
    if (lines[start] !== 0) throw new Error("a plain PNG has no filters");
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

export function refuse(member: string, message: string): ValidationError {
  return new ValidationError([{ loc: ["body", "input", member], msg: message, type: "value_error" }]);
}

function toRefusal(error: unknown, member: string): Error {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ERR_IMAGE_FORMAT_UNSUPPORTED")
    return refuse(member, "Pictures of this format cannot be decoded here. Send JPEG, PNG, WebP, GIF or BMP.");
  if (code === "ERR_IMAGE_TOO_MANY_PIXELS")
    return refuse(member, `The picture has more than ${maxInputPixels / 1e6} megapixels.`);
  if (code.startsWith("ERR_IMAGE_")) return refuse(member, "The picture is damaged, or not a picture.");
  return error instanceof Error ? error : new Error(String(error));
}

function tooLarge(member: string, width: number, height: number): ValidationError {
  return refuse(
    member,
    `The picture measures ${width} × ${height}; at most ${maxInputPixels / 1e6} megapixels and ${maxSide} a side can be read.`,
  );
}
