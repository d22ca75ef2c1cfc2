// What the processes of two configurations share while one replaces the other: which configuration answers requests, in memory that all
// processes read, and the messages that the supervisor sends meanwhile.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where other serving processes reach this one. */
export interface HandoverAddress {
  /** The folder that all processes share. */
  readonly folder: string;
  /** The number of its configuration. */
  readonly generation: number;
  /** Its number among the serving processes of that configuration. */
  readonly index: number;
}

/**
 * From the supervisor to a serving process. `active`: the shared number has changed. `steer`: to which processes the kernel gives new
 * connections: only to those that listen now, only to the `count` that began to listen last, or to all.
 */
export type HandoverMessage =
  | { readonly handover: "active" }
  | { readonly handover: "steer"; readonly to: "present" | "all" | { readonly last: number } };

/** From a serving process to the supervisor. `steered`: the answer to `steer`. `closed`: the process has stopped accepting connections. */
export type HandoverReport = { readonly state: "steered" } | { readonly state: "closed" };

/** The number of processes is in the low bits, so that both numbers are read and written in one step. */
const processBits = 9;

/** The configuration that answers requests. The supervisor writes it, and every serving process reads it for each request. */
export class ActiveGeneration {
  readonly #word: Int32Array;

  private constructor(path: string) {
    const { buffer, byteOffset } = Bun.mmap(path, { shared: true });
    this.#word = new Int32Array(buffer, byteOffset, 1);
  }

  static create(folder: string): ActiveGeneration {
    writeFileSync(fileIn(folder), new Uint8Array(4), { mode: 0o600 });
    return ActiveGeneration.open(folder);
  }

  static open(folder: string): ActiveGeneration {
    return new ActiveGeneration(fileIn(folder));
  }

  get number(): number {
    return Atomics.load(this.#word, 0) >>> processBits;
  }

  /** The number of serving processes. */
  get processes(): number {
    return Atomics.load(this.#word, 0) & ((1 << processBits) - 1);
  }

  set(number: number, processes: number): void {
    Atomics.store(this.#word, 0, (number << processBits) | processes);
  }
}

function fileIn(folder: string): string {
  return join(folder, "active");
}

/** The folder of the sockets of one configuration. */
export function generationFolder(folder: string, generation: number): string {
  return join(folder, String(generation));
}

/** The socket on which a process takes requests that a process of another configuration received. */
export function handoverSocket({ folder, generation, index }: HandoverAddress, listener: string): string {
  return join(generationFolder(folder, generation), `${index}-${listener}.sock`);
}
