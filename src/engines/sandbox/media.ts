// Small valid files: a picture, a tone, a video and a PDF.

import { crc32, deflateSync } from "node:zlib";

export interface MediaFile {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

const side = 64;

/** A PNG of one colour, which depends on the seed. */
export function makePicture(seed: string): MediaFile {
  // Each row starts with its filter type.
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(side * 3, colourOf(seed))]);
  // Width, height, and 8 bits for each of red, green and blue.
  const header = Buffer.from([0, 0, 0, side, 0, 0, 0, side, 8, 2, 0, 0, 0]);
  const chunks = [
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(Buffer.concat(Array.from({ length: side }, () => row)))),
    pngChunk("IEND", Buffer.alloc(0)),
  ];
  const bytes = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...chunks]);
  return { bytes, mediaType: "image/png" };
}

function pngChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const chunk = Buffer.alloc(8 + body.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.set(body, 4);
  chunk.writeUInt32BE(crc32(body), 4 + body.length);
  return chunk;
}

function colourOf(seed: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(seed).digest().subarray(0, 3);
}

const samplesPerSecond = 16_000;
const toneHertz = 440;
const secondsPerCharacter = 0.06;
const maxSeconds = 3;

/** A WAV file with a tone that lasts about as long as speaking the text. */
export function makeTone(characters: number): MediaFile {
  const seconds = Math.min(maxSeconds, Math.max(0.2, characters * secondsPerCharacter));
  const samples = Int16Array.from({ length: Math.round(seconds * samplesPerSecond) }, (_, index) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * toneHertz * index) / samplesPerSecond)),
  );
  // PCM with one channel of 16 bits.
  const format = Buffer.concat([toShorts(1, 1), toWords(samplesPerSecond, samplesPerSecond * 2), toShorts(2, 16)]);
  const chunks = [riffChunk("fmt ", format), riffChunk("data", new Uint8Array(samples.buffer))];
  return { bytes: riff("WAVE", chunks), mediaType: "audio/wav" };
}

const frames = 10;
const framesPerSecond = 10;
const clipSide = 16;
const frameBytes = clipSide * clipSide * 3;

/** An AVI of one second and one colour, uncompressed. */
export function makeVideo(seed: string): MediaFile {
  const frame = Buffer.alloc(frameBytes, colourOf(seed));
  // The structures AVIMAINHEADER, AVISTREAMHEADER and BITMAPINFOHEADER.
  const clip = [
    toWords(1_000_000 / framesPerSecond, frameBytes * framesPerSecond, 0, 0, frames, 0, 1, frameBytes),
    toWords(clipSide, clipSide, 0, 0, 0, 0),
  ];
  const rates = toWords(0, 0, 0, 1, framesPerSecond, 0, frames, frameBytes, -1, 0);
  const stream = Buffer.concat([Buffer.from("vidsDIB ", "latin1"), rates, toShorts(0, 0, clipSide, clipSide)]);
  const bitmap = Buffer.concat([toWords(40, clipSide, clipSide), toShorts(1, 24), toWords(0, frameBytes, 0, 0, 0, 0)]);
  const streamList = riffList("strl", [riffChunk("strh", stream), riffChunk("strf", bitmap)]);
  const movie = riffList("movi", Array(frames).fill(riffChunk("00db", frame)));
  const chunks = [riffList("hdrl", [riffChunk("avih", Buffer.concat(clip)), streamList]), movie];
  return { bytes: riff("AVI ", chunks), mediaType: "video/x-msvideo" };
}

/** Little-endian, as RIFF files have them. */
function toWords(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Int32Array.from(values).buffer);
}

function toShorts(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Int16Array.from(values).buffer);
}

function riff(kind: string, chunks: readonly Buffer[]): Buffer {
  return riffChunk("RIFF", Buffer.concat([Buffer.from(kind, "latin1"), ...chunks]));
}

function riffList(kind: string, chunks: readonly Buffer[]): Buffer {
  return riffChunk("LIST", Buffer.concat([Buffer.from(kind, "latin1"), ...chunks]));
}

/** All sizes are even, so no padding is needed. */
function riffChunk(type: string, data: Uint8Array): Buffer {
  const chunk = Buffer.alloc(8 + data.length);
  chunk.write(type, 0, "latin1");
  chunk.writeUInt32LE(data.length, 4);
  chunk.set(data, 8);
  return chunk;
}

const maxLineLength = 80;

/** A PDF with one page and one line. */
export function makeSheet(line: string): MediaFile {
  const shown = line.replace(/[^\x20-\x7e]|[()\\]/g, "_").slice(0, maxLineLength);
  const content = `BT /F1 11 Tf 40 780 Td (${shown}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let body = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
  return { bytes: Buffer.from(`${body}${table}${trailer}`, "latin1"), mediaType: "application/pdf" };
}
