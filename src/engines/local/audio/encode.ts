// Encodes speech as mp3, wav or ogg.

import { importPackage } from "../resolve-package.ts";
import type { Speech } from "./flite.ts";

export const encoderPackage = "wasm-media-encoders";

export interface EncodedAudio {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/** The parts of the package that we call. */
interface EncoderPackage {
  createMp3Encoder(): Promise<Encoder>;
  createOggEncoder(): Promise<Encoder>;
}

interface Encoder {
  configure(settings: { sampleRate: number; channels: 1; bitrate?: 64; vbrQuality?: number }): void;
  /** A view of the encoder's memory, valid until the next call. */
  encode(samples: readonly Float32Array[]): Uint8Array;
  finalize(): Uint8Array;
}

const blockSamples = 65_536;

/** The encoders by the name of their format. */
export async function loadEncoders(): Promise<Readonly<Record<string, (speech: Speech) => EncodedAudio>>> {
  const { createMp3Encoder, createOggEncoder } = await importPackage<EncoderPackage>(encoderPackage);
  const mp3 = await createMp3Encoder();
  const ogg = await createOggEncoder();
  return {
    mp3: (speech) => {
      mp3.configure({ sampleRate: speech.rate, channels: 1, bitrate: 64 });
      return { bytes: run(mp3, speech), mediaType: "audio/mpeg" };
    },
    wav: (speech) => ({ bytes: toWave(speech), mediaType: "audio/wav" }),
    ogg: (speech) => {
      ogg.configure({ sampleRate: speech.rate, channels: 1, vbrQuality: 3 });
      return { bytes: run(ogg, speech), mediaType: "audio/ogg" };
    },
  };
}

function run(encoder: Encoder, { samples }: Speech): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < samples.length; at += blockSamples) {
    parts.push(encoder.encode([samples.subarray(at, at + blockSamples)]).slice());
  }
  parts.push(encoder.finalize().slice());
  return Buffer.concat(parts);
}

function toWave({ samples, rate }: Speech): Uint8Array {
  const headBytes = 44;
  const bytes = Buffer.alloc(headBytes + samples.length * 2);
  bytes.write("RIFF    WAVEfmt ", 0, "latin1");
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(rate * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36, "latin1");
  bytes.writeUInt32LE(samples.length * 2, 40);
  for (const [index, sample] of samples.entries())
    bytes.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), headBytes + index * 2);
  return bytes;
}
