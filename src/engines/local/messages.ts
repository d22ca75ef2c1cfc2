// The messages between the pool and its workers, and the files beside them for many bytes.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../providers/dialect.ts";
import type { BinaryResult } from "../engine.ts";
import type { Confinement } from "./confinement.ts";
import type { Failure } from "./failure.ts";
import type { AnswerText, LocalFile } from "./local-engine.ts";

// More bytes are passed in a file, because sending 20 MB through the channel would block the gateway for 30 ms.
const maxInlineBytes = 262_144;

/** Ends a worker that exceeds its memory limit. The pool can distinguish it from a crash, and it writes no core dump. */
export const memorySignal = "SIGUSR2";

/** Bytes, or the path of a file with them. */
export type Carried = Uint8Array | string;

/** The first message of a worker. */
export interface Ready {
  /** Null: the worker was started without the launcher that confines it. */
  readonly confinement: Confinement | null;
}

export interface Assignment {
  readonly id: number;
  readonly task: string;
  readonly model: string | null;
  readonly input: JsonObject;
  readonly files: Readonly<Record<string, CarriedFile>>;
}

export type CarriedFile = Omit<LocalFile, "bytes"> & { readonly bytes: Carried };

/** Sent any number of times between an assignment and its report. */
export interface Progress {
  readonly id: number;
  /** 0..1 */
  readonly progress: number;
}

export interface Report {
  readonly id: number;
  readonly result: { readonly answer: CarriedAnswer } | { readonly failure: Failure };
  /** The memory of the worker after the job. */
  readonly memoryBytes: number;
}

/** The output is sent as JSON text, because parsing 16 MB takes 25 ms and deserialising the same objects 450 ms. */
export type CarriedAnswer = Omit<AnswerText, "binaries"> & {
  readonly binaries: readonly CarriedBinary[];
};
export type CarriedBinary = Omit<BinaryResult, "bytes"> & { readonly bytes: Carried };

/** The name of a file in the folder must be unique. The folder is created if necessary. */
export async function carry(bytes: Uint8Array, folder: string, name: string): Promise<Carried> {
  if (bytes.length <= maxInlineBytes) return bytes;
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

export async function receive(carried: Carried): Promise<Uint8Array> {
  return typeof carried === "string" ? readFile(carried) : carried;
}
