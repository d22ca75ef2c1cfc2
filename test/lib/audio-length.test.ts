// The length of audio from its bytes, for formats that vendors of speech send.

import { describe, expect, test } from "bun:test";
import { loadEncoders } from "../../src/engines/local/audio/encode.ts";
import { countAudioLength, readAudioLength } from "../../src/lib/audio-length.ts";

const rate = 24_000;
const samples = Float32Array.from({ length: rate * 5 }, (_, index) => Math.sin(index / 20) / 2);
const encoders = await loadEncoders();

function encode(format: string): Buffer {
  const encoder = encoders[format];
  if (encoder === undefined) throw new Error(`there is no encoder of ${format}`);
  return Buffer.from(encoder({ samples, rate }).bytes);
}

describe("the length of audio", () => {
  test("is that of the sound in WAV, MP3 and Ogg Vorbis", () => {
    expect(readAudioLength(encode("wav"))).toBe(5);
    // An encoder of MP3 adds a frame or two.
    expect(Math.abs((readAudioLength(encode("mp3")) ?? 0) - 5)).toBeLessThan(0.2);
    expect(readAudioLength(encode("ogg"))).toBeCloseTo(5, 2);
  });

  test("is counted in a WAV file that was streamed, and in an MP3 file with a tag and a damaged part", () => {
    const streamed = encode("wav");
    streamed.writeUInt32LE(0xffffffff, 40);
    expect(readAudioLength(streamed)).toBe(5);
    const tag = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 1, 2, ...new Uint8Array(130)]);
    const mp3 = encode("mp3");
    const half = Math.floor(mp3.length / 2);
    const damaged = Buffer.concat([tag, mp3.subarray(0, half), Buffer.alloc(9), mp3.subarray(half)]);
    expect(Math.abs((readAudioLength(damaged) ?? 0) - 5)).toBeLessThan(0.3);
  });

  test("is read from Ogg Opus, FLAC and AAC", () => {
    const page = (granule: number, content: Buffer) => {
      const head = Buffer.alloc(28);
      head.write("OggS", "latin1");
      head.writeBigInt64LE(BigInt(granule), 6);
      head.writeUInt8(1, 26);
      head.writeUInt8(content.length, 27);
      return Buffer.concat([head, content]);
    };
    const opusHead = Buffer.from("OpusHead\u0001\u0001\u0000\u0000........", "latin1");
    opusHead.writeUInt16LE(480, 10);
    expect(readAudioLength(Buffer.concat([page(0, opusHead), page(480 + 96_000, Buffer.alloc(20))]))).toBe(2);
    const flac = Buffer.alloc(42);
    flac.write("fLaC", "latin1");
    flac.writeUInt32BE(((24_000 << 12) | (15 << 4)) >>> 0, 18);
    flac.writeUInt32BE(72_000, 22);
    expect(readAudioLength(flac)).toBe(3);
    // 24 kHz, 107 bytes per frame.
    const frame = Buffer.concat([Buffer.from([0xff, 0xf1, 0x58, 0x40, 0x0d, 0x60, 0xfc]), Buffer.alloc(100)]);
    expect(readAudioLength(Buffer.concat(Array.from({ length: 75 }, () => frame)))).toBeCloseTo(3.2, 5);
  });

  test("is not taken from what the header of an untrusted file states", () => {
    expect(countAudioLength(encode("ogg"))).toBeNull();
    const wave = encode("wav");
    // The member that states the bytes per second.
    wave.writeUInt32LE(0xffffffff, 28);
    expect(countAudioLength(wave)).toBe(5);
  });

  test("is unknown for anything else, and for what ends too early", () => {
    for (const bytes of ["", "ID3", "RIFF", "RIFF....WAVEfmt ", "OggS", "fLaC", "sound", "\u00ff", "\u00ff\u00fb"])
      expect([bytes, readAudioLength(Buffer.from(bytes, "latin1"))]).toEqual([bytes, null]);
    expect(readAudioLength(encode("wav").subarray(0, 44))).toBeNull();
  });
});
