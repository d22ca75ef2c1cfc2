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

  // The tables of MPEG-1, MPEG-2 and MPEG-2.5 layer III, and of ADTS: the headers follow the standards, the content is empty.
  test.each([
    // [version, index of the sampling rate, index of the bit rate, padding, bytes of a frame, seconds of a frame]
    [3, 0, 9, 0, 417, 1_152 / 44_100],
    [3, 0, 9, 1, 418, 1_152 / 44_100],
    [3, 1, 14, 0, 960, 1_152 / 48_000],
    [3, 2, 1, 0, 144, 1_152 / 32_000],
    [2, 0, 8, 0, 208, 576 / 22_050],
    [2, 1, 14, 1, 481, 576 / 24_000],
    [2, 2, 1, 0, 36, 576 / 16_000],
    [0, 0, 1, 0, 52, 576 / 11_025],
    [0, 1, 5, 0, 240, 576 / 12_000],
    [0, 2, 14, 0, 1_440, 576 / 8_000],
  ])("is counted in MP3 frames of version %p, rate %p, bit rate %p", (version, rateAt, bitRateAt, padding, bytes, seconds) => {
    const frame = Buffer.alloc(bytes);
    frame.writeUInt32BE(0xffe2_0000 + (version << 19) + (bitRateAt << 12) + (rateAt << 10) + (padding << 9), 0);
    // Bits beside those that are read: no checksum, and joint stereo.
    frame.writeUInt8(frame.readUInt8(1) | 1, 1);
    frame.writeUInt8(0x40, 3);
    expect(countAudioLength(Buffer.concat([frame, frame, frame]))).toBeCloseTo(seconds * 3, 9);
  });

  test.each([
    ["layer II", 0xfffd9000],
    ["a reserved version", 0xffeb9000],
    ["a reserved sampling rate", 0xfffb9c00],
    ["a free bit rate", 0xfffb0000],
    ["an invalid bit rate", 0xfffbf000],
    ["no synchronization", 0xff1b9000],
  ])("is unknown for an MPEG frame of %s", (_title, header) => {
    const frame = Buffer.alloc(500);
    frame.writeUInt32BE(header, 0);
    expect(countAudioLength(frame)).toBeNull();
  });

  const aacRates = [
    96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
  ];
  const aacFrame = (rateAt: number, bytes: number, blocks: number) => {
    const head = [
      0xff,
      0xf1,
      0x43 | (rateAt << 2),
      0x80 | (bytes >> 11),
      (bytes >> 3) & 0xff,
      ((bytes & 7) << 5) | 0x1f,
    ];
    return Buffer.concat([Buffer.from([...head, 0xfc | (blocks - 1)]), Buffer.alloc(bytes - 7)]);
  };

  test.each(aacRates.map((rate, index) => [rate, index]))("is counted in AAC frames of %p Hz", (rate, index) => {
    // A frame without content, a short one, and one whose size needs all of its bits.
    const frames = [aacFrame(index, 8, 1), aacFrame(index, 7, 4), aacFrame(index, 5_003, 2), aacFrame(index, 7, 1)];
    expect(countAudioLength(Buffer.concat(frames))).toBeCloseTo((1_024 * 8) / rate, 9);
  });

  test("is unknown for an AAC frame of a reserved rate, or one that is shorter than its head", () => {
    const short = aacFrame(6, 7, 1);
    short.writeUInt8((6 << 5) | 0x1f, 5);
    short.writeUInt8(0, 4);
    expect([aacFrame(13, 100, 1), short].map(countAudioLength)).toEqual([null, null]);
  });

  test("is counted after a tag of any size, and only in whole frames", () => {
    const frame = aacFrame(6, 200, 1);
    const tag = Buffer.alloc(10 + ((1 << 21) | (2 << 14) | (3 << 7) | 4));
    Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 1, 2, 3, 4]).copy(tag);
    expect(countAudioLength(Buffer.concat([tag, frame, frame]))).toBeCloseTo(2_048 / 24_000, 9);
    // The tag states a size beyond the end.
    expect(countAudioLength(Buffer.concat([tag.subarray(0, 10), frame]))).toBeNull();
    expect(countAudioLength(Buffer.concat([frame, Buffer.from([0]), frame, frame.subarray(0, 6)]))).toBeCloseTo(
      2_048 / 24_000,
      9,
    );
  });

  test.each([
    ["integers", 1, 8],
    ["floating-point numbers", 3, 8],
    ["an extended header", 0xfffe, 8],
    ["a compressed format", 0x55, null],
  ])("of a WAV file with %s is counted only from samples", (_title, format, seconds) => {
    const head = Buffer.from("RIFF....WAVEodd \u0003\0\0\0abc\0fmt \u0010\0\0\0................data....", "latin1");
    head.writeUInt16LE(format, 32);
    head.writeUInt16LE(2, 34);
    head.writeUInt32LE(50, 36);
    head.writeUInt16LE(16, 46);
    head.writeUInt32LE(1_600, 52);
    const wave = Buffer.concat([head, Buffer.alloc(1_600)]);
    expect(countAudioLength(wave)).toBe(seconds);
    // Bytes after the samples do not count, and neither does a part that is cut off.
    expect(countAudioLength(Buffer.concat([wave, Buffer.from("LIST\u0001\0\0\0")]))).toBe(seconds);
    expect(countAudioLength(wave.subarray(0, head.length + 800))).toBe(seconds === null ? null : seconds / 2);
    expect(countAudioLength(Buffer.concat([head.subarray(0, 12), head.subarray(48), Buffer.alloc(1_600)]))).toBeNull();
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
