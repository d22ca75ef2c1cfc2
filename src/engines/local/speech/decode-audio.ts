// Audio files as sound: one channel, 16,000 samples a second. What a file is, its first bytes say; names and types are not believed.

import { messageOf, ValidationError } from "../../../errors.ts";
import { readModelFile } from "../checksums.ts";
import { importPackage } from "../resolve-package.ts";
import { createResampler, type Resampler } from "./resample.ts";

export const sampleRate = 16_000;
export const decoderPackages = [
  "@audio/decode-wav",
  "@audio/decode-mp3",
  "@audio/decode-flac",
  "@audio/decode-vorbis",
  "@audio/decode-opus",
  "@audio/decode-webm",
];

export type DecodeAudio = (bytes: Uint8Array, maxSeconds: number) => Promise<Float32Array>;

/** The parts of the packages that we call: they all have this form. */
interface DecoderPackage {
  decoder(): Promise<Decoder> | Decoder;
}

interface Decoder {
  decode(chunk: Uint8Array): Decoded | Promise<Decoded>;
  flush?(): Decoded | Promise<Decoded>;
  free(): void;
}

interface Decoded {
  readonly channelData: readonly Float32Array[];
  readonly sampleRate: number;
}

interface Format {
  readonly package: string;
  /** Where its WebAssembly is. */
  readonly files: readonly string[];
  readonly isOf: (head: Buffer) => boolean;
}

const chunkBytes = 262_144;
const lowestRate = 4_000;
const highestRate = 384_000;

const formats: readonly Format[] = [
  {
    package: "@audio/decode-wav",
    files: ["decode-wav.js"],
    isOf: (head) => /^(?:RIFF|RF64|RIFX)/.test(latin(head, 0, 4)) && latin(head, 8, 12) === "WAVE",
  },
  { package: "@audio/decode-flac", files: ["decode-flac.js"], isOf: (head) => latin(head, 0, 4) === "fLaC" },
  {
    package: "@audio/decode-opus",
    files: ["decode-opus.js", "src/opus.wasm.js"],
    isOf: (head) => isOgg(head) && head.includes("OpusHead"),
  },
  {
    package: "@audio/decode-vorbis",
    files: ["decode-vorbis.js"],
    isOf: (head) => isOgg(head) && head.includes("\x01vorbis"),
  },
  {
    package: "@audio/decode-webm",
    files: ["decode-webm.js", "src/opus.wasm.js"],
    isOf: (head) => head.readUInt32BE(0) === 0x1a45dfa3,
  },
  // A tag in front of it, or at once a frame of layer 1, 2 or 3: AAC begins with the same bits, and has no layer.
  {
    package: "@audio/decode-mp3",
    files: ["decode-mp3.js"],
    isOf: (head) =>
      latin(head, 0, 3) === "ID3" || ((head.readUInt16BE(0) & 0xffe0) === 0xffe0 && (head.readUInt8(1) & 0x06) !== 0),
  },
];

/** Decoders are loaded when the first file needs them. */
export function createAudioDecoder(): DecodeAudio {
  return async (bytes, maxSeconds) => {
    if (bytes.length < 16) throw refuseAudio("The file is empty, or too short to be audio.");
    const open = await openDecoder(findFormat(bytes));
    // Memory is taken as it is written to, so room for the longest costs nothing.
    const sound = new Float32Array(maxSeconds * sampleRate);
    let length = 0;
    let rate = 0;
    let resampler: Resampler | null = null;
    const take = (samples: Float32Array) => {
      if (length + samples.length > sound.length)
        throw refuseAudio(`The recording is longer than ${Math.round(maxSeconds / 60)} minutes. Split it.`);
      sound.set(samples, length);
      length += samples.length;
    };
    const hear = (decoded: Decoded) => {
      if ((decoded.channelData[0]?.length ?? 0) === 0) return;
      if (resampler === null || decoded.sampleRate !== rate) {
        rate = decoded.sampleRate;
        if (!Number.isInteger(rate) || rate < lowestRate || rate > highestRate)
          throw refuseAudio(`Sound of ${rate} samples a second cannot be read here.`);
        if (resampler !== null) take(resampler.end());
        resampler = createResampler(rate, sampleRate);
      }
      take(resampler.push(decoded.channelData));
    };
    try {
      for (let at = 0; at < bytes.length; at += chunkBytes)
        hear(await attempt(() => open.decode(bytes.subarray(at, at + chunkBytes))));
      if (open.flush !== undefined) hear(await attempt(() => open.flush?.() ?? { channelData: [], sampleRate: rate }));
    } finally {
      open.free();
    }
    const last: Resampler | null = resampler;
    if (last !== null) take((last as Resampler).end());
    if (length === 0) throw refuseAudio("The file is damaged: no sound could be read from it.");
    return sound.subarray(0, length);
  };
}

async function openDecoder({ package: name, files }: Format): Promise<Decoder> {
  for (const file of files) await readModelFile(name, file);
  const { decoder } = await importPackage<DecoderPackage>(name);
  return decoder();
}

function findFormat(bytes: Uint8Array): Format {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 512));
  const format = formats.find((one) => one.isOf(head));
  if (format !== undefined) return format;
  const isAac = latin(head, 4, 8) === "ftyp" || (head.readUInt16BE(0) & 0xfff6) === 0xfff0;
  throw refuseAudio(
    `${isAac ? "AAC (.m4a, .mp4, .aac) cannot be decoded" : "Files of this kind cannot be read as audio"} here. Send wav, mp3, flac, ogg (Vorbis or Opus) or webm.`,
  );
}

/** A decoder that throws does so over the bytes that it was given. */
async function attempt<Result>(decode: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await decode();
  } catch (error) {
    const reason = messageOf(error);
    throw refuseAudio(`The audio could not be decoded: ${reason.slice(0, 200)}`);
  }
}

export function refuseAudio(msg: string): ValidationError {
  return new ValidationError([{ loc: ["body", "input", "file"], msg, type: "value_error" }]);
}

function isOgg(head: Buffer): boolean {
  return latin(head, 0, 4) === "OggS";
}

function latin(head: Buffer, from: number, to: number): string {
  return head.toString("latin1", from, to);
}
