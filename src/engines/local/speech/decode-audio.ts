// Decodes audio files to one channel of 16,000 samples per second. The first bytes determine the format; file name and media type are ignored.

import { messageOf } from "../../../errors.ts";
import { refuseInput } from "../../../providers/task.ts";
import { readModelFile } from "../checksums.ts";
import { importPackage } from "../resolve-package.ts";
import { createResampler, type Resampler } from "./resample.ts";

export const sampleRate = 16_000;
/** The parts of the packages that we call. All of them have this form. */
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

/** The files are those that contain WebAssembly. */
type Format = readonly [packageName: string, files: readonly string[], matches: (head: Buffer) => boolean];

const chunkBytes = 262_144;
const [minRate, maxRate] = [4_000, 384_000];

const formats: readonly Format[] = [
  ["@audio/decode-wav", ["decode-wav.js"], isWave],
  ["@audio/decode-flac", ["decode-flac.js"], (head) => latin(head, 0, 4) === "fLaC"],
  ["@audio/decode-opus", ["decode-opus.js", "src/opus.wasm.js"], (head) => isOgg(head) && head.includes("OpusHead")],
  ["@audio/decode-vorbis", ["decode-vorbis.js"], (head) => isOgg(head) && head.includes("\x01vorbis")],
  ["@audio/decode-webm", ["decode-webm.js", "src/opus.wasm.js"], (head) => head.readUInt32BE(0) === 0x1a45dfa3],
  ["@audio/decode-mp3", ["decode-mp3.js"], isMp3],
];

export const decoderPackages = formats.map(([packageName]) => packageName);

export async function decodeAudio(bytes: Uint8Array, maxSeconds: number): Promise<Float32Array> {
  if (bytes.length < 16) refuseInput("file", "The file is empty, or too short to be audio.");
  const decoder = await openDecoder(findFormat(bytes));
  // The system allocates memory when it is written, so a buffer for the maximum costs nothing.
  const sound = new Float32Array(maxSeconds * sampleRate);
  let length = 0;
  let rate = 0;
  let resampler: Resampler | null = null;
  const append = (samples: Float32Array) => {
    if (length + samples.length > sound.length)
      refuseInput("file", `The recording is longer than ${Math.round(maxSeconds / 60)} minutes. Split it.`);
    sound.set(samples, length);
    length += samples.length;
  };
  const finish = () => {
    if (resampler !== null) append(resampler.end());
  };
  const resample = ({ channelData, sampleRate: ownRate }: Decoded) => {
    if ((channelData[0]?.length ?? 0) === 0) return;
    if (resampler === null || ownRate !== rate) {
      rate = ownRate;
      if (!Number.isInteger(rate) || rate < minRate || rate > maxRate)
        refuseInput("file", `Sound of ${rate} samples a second cannot be read here.`);
      finish();
      resampler = createResampler(rate, sampleRate);
    }
    append(resampler.push(channelData));
  };
  try {
    for (let at = 0; at < bytes.length; at += chunkBytes)
      resample(await attempt(() => decoder.decode(bytes.subarray(at, at + chunkBytes))));
    resample(await attempt(() => decoder.flush?.() ?? { channelData: [], sampleRate: rate }));
  } finally {
    decoder.free();
  }
  finish();
  if (length === 0) refuseInput("file", "The file is damaged: no sound could be read from it.");
  return sound.subarray(0, length);
}

async function openDecoder([name, files]: Format): Promise<Decoder> {
  for (const file of files) await readModelFile(name, file);
  const { decoder } = await importPackage<DecoderPackage>(name);
  return decoder();
}

function findFormat(bytes: Uint8Array): Format {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 512));
  const format = formats.find(([, , matches]) => matches(head));
  if (format !== undefined) return format;
  const isAac = latin(head, 4, 8) === "ftyp" || (head.readUInt16BE(0) & 0xfff6) === 0xfff0;
  const problem = isAac ? "AAC (.m4a, .mp4, .aac) cannot be decoded" : "Files of this kind cannot be read as audio";
  return refuseInput("file", `${problem} here. Send wav, mp3, flac, ogg (Vorbis or Opus) or webm.`);
}

/** Errors of a decoder are caused by its input. */
async function attempt<Result>(decode: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await decode();
  } catch (error) {
    return refuseInput("file", `The audio could not be decoded: ${messageOf(error).slice(0, 200)}`);
  }
}

function isWave(head: Buffer): boolean {
  return /^(?:RIFF|RF64|RIFX)/.test(latin(head, 0, 4)) && latin(head, 8, 12) === "WAVE";
}

/** It starts with a tag, or with a frame of layer 1, 2 or 3. AAC starts with the same bits, but its layer is 0. */
function isMp3(head: Buffer): boolean {
  const isFrame = (head.readUInt16BE(0) & 0xffe0) === 0xffe0 && (head.readUInt8(1) & 0x06) !== 0;
  return isFrame || latin(head, 0, 3) === "ID3";
}

function isOgg(head: Buffer): boolean {
  return latin(head, 0, 4) === "OggS";
}

function latin(head: Buffer, from: number, to: number): string {
  return head.toString("latin1", from, to);
}
