// What the pool and its workers say to each other.

import type { JsonObject } from "../../providers/dialect.ts";
import type { BinaryResult } from "../engine.ts";
import type { Confinement } from "./confinement.ts";
import type { Failure } from "./failure.ts";
import type { LocalAnswer } from "./local-engine.ts";

/** Bytes above this travel as a file: sending twenty megabytes through a channel holds up the gateway for 30 ms. */
export const longestInlineBytes = 262_144;

/** How a worker ends that grew above its limit, so that the pool can tell it from a crash. It leaves no image of the memory behind. */
export const memorySignal = "SIGUSR2";

/** Bytes, or the file that holds them. Whoever reads the file removes it. */
export type Carried = Uint8Array | string;

/** The first message of a worker. */
export interface Ready {
  /** Null: it was started without the launcher that confines it. */
  readonly confinement: Confinement | null;
}

export interface Assignment {
  readonly id: number;
  readonly task: string;
  readonly model: string | null;
  readonly input: JsonObject;
  readonly files: Readonly<
    Record<string, { readonly name: string; readonly mediaType: string; readonly bytes: Carried }>
  >;
}

/** Between an assignment and its report, as often as the engine has something to say. */
export interface Progress {
  readonly id: number;
  /** 0..1 */
  readonly progress: number;
}

export interface Report {
  readonly id: number;
  readonly result: { readonly answer: CarriedAnswer } | { readonly failure: Failure };
  /** Of the whole worker, after the job. */
  readonly memoryBytes: number;
}

/** The output travels as JSON: to read 16 MB of it takes the gateway 25 ms, to read the same as objects of the channel 450 ms. */
export type CarriedAnswer = Omit<LocalAnswer, "binaries" | "output"> & {
  readonly outputJson: string;
  readonly binaries: readonly CarriedBinary[];
};
export type CarriedBinary = Omit<BinaryResult, "bytes"> & { readonly bytes: Carried };
