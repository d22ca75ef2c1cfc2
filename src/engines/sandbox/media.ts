// Small valid files: a picture, a tone, a video and a PDF.

import { crc32, deflateSync } from "node:zlib";

const side = 64;

/** A PNG of one colour, which depends on the seed. */
export function makePicture(seed: string): Uint8Array {
  const row = Buffer.alloc(1 + side * 3);
  for (let at = 0; at < side; at++) row.set(colourOf(seed), 1 + at * 3);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // 8 bits for each of red, green and blue.
  header.set([8, 2], 8);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: side }, () => row)));
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", header),
    pngChunk("IDAT", pixels),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
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
const mostSeconds = 3;

/** A WAV file with a tone that lasts about as long as speaking the text. */
export function makeTone(characters: number): Uint8Array {
  const seconds = Math.min(mostSeconds, Math.max(0.2, characters * secondsPerCharacter));
  const count = Math.round(seconds * samplesPerSecond);
  const samples = Buffer.alloc(count * 2);
  for (let at = 0; at < count; at++)
    samples.writeInt16LE(Math.round(8_000 * Math.sin((2 * Math.PI * toneHertz * at) / samplesPerSecond)), at * 2);
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(samplesPerSecond, 4);
  format.writeUInt32LE(samplesPerSecond * 2, 8);
  format.writeUInt16LE(2, 12);
  format.writeUInt16LE(16, 14);
  return riff("WAVE", [riffChunk("fmt ", format), riffChunk("data", samples)]);
}

const frames = 10;
const framesPerSecond = 10;
const clipSide = 16;
const frameBytes = clipSide * clipSide * 3;

/** An AVI of one second and one colour, uncompressed. */
export function makeVideo(seed: string): Uint8Array {
  const frame = Buffer.alloc(frameBytes);
  for (let at = 0; at < frameBytes; at += 3) frame.set(colourOf(seed), at);
  const pieces = Array.from({ length: frames }, () => riffChunk("00db", frame));
  const stream = riffList("strl", [riffChunk("strh", streamHeader()), riffChunk("strf", bitmapHeader())]);
  return riff("AVI ", [riffList("hdrl", [riffChunk("avih", clipHeader()), stream]), riffList("movi", pieces)]);
}

function clipHeader(): Buffer {
  const header = Buffer.alloc(56);
  header.writeUInt32LE(1_000_000 / framesPerSecond, 0);
  header.writeUInt32LE(frameBytes * framesPerSecond, 4);
  header.writeUInt32LE(frames, 16);
  // One stream.
  header.writeUInt32LE(1, 24);
  header.writeUInt32LE(frameBytes, 28);
  header.writeUInt32LE(clipSide, 32);
  header.writeUInt32LE(clipSide, 36);
  return header;
}

function streamHeader(): Buffer {
  const header = Buffer.alloc(56);
  header.write("vidsDIB ", 0, "latin1");
  header.writeUInt32LE(1, 20);
  header.writeUInt32LE(framesPerSecond, 24);
  header.writeUInt32LE(frames, 32);
  header.writeUInt32LE(frameBytes, 36);
  header.writeInt32LE(-1, 40);
  header.writeUInt16LE(clipSide, 52);
  header.writeUInt16LE(clipSide, 54);
  return header;
}

function bitmapHeader(): Buffer {
  const header = Buffer.alloc(40);
  header.writeUInt32LE(40, 0);
  header.writeInt32LE(clipSide, 4);
  header.writeInt32LE(clipSide, 8);
  header.writeUInt16LE(1, 12);
  header.writeUInt16LE(24, 14);
  header.writeUInt32LE(frameBytes, 20);
  return header;
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

const mostOnSheet = 80;

/** A PDF with one page and one line. */
export function makeSheet(line: string): Uint8Array {
  const shown = line.replace(/[^\x20-\x7e]|[()\\]/g, "_").slice(0, mostOnSheet);
  const content = `BT /F1 11 Tf 40 780 Td (${shown}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let body = "%PDF-1.4\n";
  const places = objects.map((object, at) => {
    const place = body.length;
    body += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join("")}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.from(`${body}${table}${trailer}`, "latin1");
}
