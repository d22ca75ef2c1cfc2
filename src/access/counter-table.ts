// The memory that the processes of a gateway share: a hash table of fixed size in a memory-mapped file, which is changed with atomic operations
// only. An entry has three windows (requests per second, requests per minute, tokens per minute), what the store granted for the last two, and
// the running requests and streams of every process, each in a column of its own. The number of a process's column is its slot.

import { writeFileSync } from "node:fs";
import { cellsPerWindow, type WindowKind } from "./window-cells.ts";

/** One counter as a process sees it. Its entry in the table is remembered, and checked with every use. */
export class Counter {
  readonly id: string;
  readonly low: number;
  readonly high: number;
  readonly hash: bigint;
  table: Table | null = null;
  entry = 0;
  /** For a counter outside of the shared table: when the table is searched again. */
  searchAt = 0;

  constructor(id: string) {
    this.id = id;
    const digest = Buffer.from(Bun.SHA256.hash(id) as Uint8Array);
    const hash = digest.readBigUInt64LE(0);
    // Small values mark entries that are free or being replaced.
    this.hash = hash < firstHash ? hash + firstHash : hash;
    this.low = Number(this.hash & 0xffff_ffffn);
    this.high = Number(this.hash >> 32n);
  }
}

/** The entry of a table in which a running request was counted. */
export interface CounterEntry {
  readonly table: Table;
  readonly entry: number;
}

/** Streams are also counted as requests. */
export const running = { requests: 0, streams: 1 } as const;
export type Running = (typeof running)[keyof typeof running];

export interface TableSize {
  readonly entries: number;
  readonly slots: number;
}

const layoutVersion = 0x5357_0001;
const headerBytes = 64;
/** Positions in the header, in 32-bit words. */
const header = { version: 0, buckets: 1, bucketSize: 2, slots: 3, slotsInUse: 4 } as const;
/** Positions in an entry, in 64-bit words. */
const hashAt = 0;
const firstWindow = 2;
export const windowsAt: Readonly<Record<WindowKind, number>> = {
  perSecond: firstWindow,
  perMinute: firstWindow + cellsPerWindow,
  tokens: firstWindow + 2 * cellsPerWindow,
};
const firstShare = firstWindow + 3 * cellsPerWindow;
export const sharesAt: Readonly<Record<WindowKind, number>> = {
  perSecond: firstShare,
  perMinute: firstShare + 1,
  tokens: firstShare + 2,
};
const fixedWords = firstShare + 4;
/** Positions in an entry, in 32-bit words. */
const usedAt = 2;
export const versionAt = 3;
export const columnsAt = fixedWords * 2;

const entriesPerBucket = 8;
const firstHash = 65_536n;
// The windows of an entry that was not used for this long are empty.
const reusableAfterSeconds = 180;
// Below this age, the time of the last use is not written again.
const noteUseAfterSeconds = 60;

// A process that adds an entry takes a few microseconds, unless the kernel interrupts it meanwhile. If it is killed, the supervisor clears its
// lock.
const spinsBeforeSleep = 200;
const maxLockWaitMs = 100;

/** With 64 slots, the file has 12 MB. */
export const sharedEntries = 16_384;

/** Creates the file with all of its bytes: writing to a mapped file on a full disk would end the process. */
export function createCounterFile(path: string, { entries, slots }: TableSize): void {
  writeFileSync(path, emptyTable({ entries, slots }), { mode: 0o600 });
}

/** Throws when the file cannot be mapped. */
export function openCounterFile(path: string): Table {
  return new Table(Bun.mmap(path, { shared: true }));
}

export function emptyTable({ entries, slots }: TableSize): Uint8Array {
  const bucketSize = Math.min(entries, entriesPerBucket);
  const buckets = Math.ceil(entries / bucketSize);
  const bytes = new Uint8Array(headerBytes + buckets * 8 + buckets * bucketSize * wordsPerEntry(slots) * 8);
  new Int32Array(bytes.buffer).set([layoutVersion, buckets, bucketSize, slots, 1]);
  return bytes;
}

function wordsPerEntry(slots: number): number {
  return fixedWords + slots;
}

/** The memory and its layout. */
export class Table {
  readonly words: BigUint64Array;
  readonly numbers: Int32Array;
  readonly buckets: number;
  readonly bucketSize: number;
  /** In 64-bit words. */
  readonly stride: number;
  readonly firstEntry: number;
  /** In 32-bit words: one lock for each bucket, held while an entry is added. */
  readonly firstLock = headerBytes / 4;

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.words = new BigUint64Array(buffer, byteOffset, Math.floor(byteLength / 8));
    this.numbers = new Int32Array(buffer, byteOffset, Math.floor(byteLength / 4));
    if (this.numbers[header.version] !== layoutVersion) throw new Error("The file is not a table of counters.");
    this.buckets = this.numbers[header.buckets] ?? 0;
    this.bucketSize = this.numbers[header.bucketSize] ?? 0;
    this.stride = wordsPerEntry(this.numbers[header.slots] ?? 0);
    this.firstEntry = headerBytes / 8 + this.buckets;
  }

  /** Slots are assigned from the lowest, so only these need to be summed up. */
  useSlot(slot: number): void {
    const inUse = Atomics.load(this.numbers, header.slotsInUse);
    if (slot >= inUse) Atomics.store(this.numbers, header.slotsInUse, slot + 1);
  }

  /** For the supervisor, after the process with this slot has ended. */
  clearSlot(slot: number): void {
    for (let bucket = 0; bucket < this.buckets; bucket++) {
      const isLocked = Atomics.load(this.numbers, this.firstLock + bucket) === slot + 1;
      for (let index = 0; index < this.bucketSize; index++) {
        const entry = this.#entryAt(bucket, index);
        const column = entry * 2 + columnsAt + slot * 2;
        if (Atomics.load(this.numbers, column) !== 0) Atomics.store(this.numbers, column, 0);
        if (Atomics.load(this.numbers, column + 1) !== 0) Atomics.store(this.numbers, column + 1, 0);
        // The process was replacing this entry: it is free now.
        if (isLocked && Atomics.load(this.words, entry + hashAt) === BigInt(slot + 1))
          Atomics.store(this.words, entry + hashAt, 0n);
      }
      if (isLocked) Atomics.compareExchange(this.numbers, this.firstLock + bucket, slot + 1, 0);
    }
  }

  #entryAt(bucket: number, index: number): number {
    return this.firstEntry + (bucket * this.bucketSize + index) * this.stride;
  }

  /** Everything but the hash. */
  #erase(entry: number): void {
    for (let word = 1; word < this.stride; word++) Atomics.store(this.words, entry + word, 0n);
  }

  /** The running requests or streams of all processes. */
  sumRunning(entry: number, what: Running): number {
    const slotsInUse = Atomics.load(this.numbers, header.slotsInUse);
    const first = entry * 2 + columnsAt + what;
    let sum = 0;
    for (let slot = 0; slot < slotsInUse; slot++) sum += Atomics.load(this.numbers, first + slot * 2);
    return sum;
  }

  /** Finds or adds the entry; -1 when there is no free one in its bucket. `slot`: that of the process. */
  find(counter: Counter, slot: number, seconds: number): number {
    const bucket = counter.high % this.buckets;
    const found = this.#findIn(bucket, counter);
    if (found >= 0) {
      this.noteUse(found, seconds);
      if (this.holds(found, counter)) return found;
    }
    if (!this.#lock(bucket, slot)) return -1;
    try {
      return this.#add(counter, bucket, { slot, seconds });
    } finally {
      Atomics.store(this.numbers, this.firstLock + bucket, 0);
    }
  }

  #lock(bucket: number, slot: number): boolean {
    for (let spins = 0; ; spins++) {
      if (Atomics.compareExchange(this.numbers, this.firstLock + bucket, 0, slot + 1) === 0) return true;
      if (spins < spinsBeforeSleep) continue;
      if (spins === spinsBeforeSleep + maxLockWaitMs) return false;
      Bun.sleepSync(1);
    }
  }

  /** Only with the lock of the bucket. */
  #add(counter: Counter, bucket: number, { slot, seconds }: { slot: number; seconds: number }): number {
    const found = this.#findIn(bucket, counter);
    if (found >= 0) {
      this.noteUse(found, seconds);
      return found;
    }
    for (let index = 0; index < this.bucketSize; index++) {
      const entry = this.#entryAt(bucket, index);
      const before = Atomics.load(this.words, entry + hashAt);
      if (before !== 0n && !this.#isReusable(entry, seconds)) continue;
      // A process that uses the entry notes the use before it reads the hash. Here the hash changes before the use is read, so either that
      // process finds the changed hash, or this one the use.
      Atomics.store(this.words, entry + hashAt, BigInt(slot + 1));
      if (before !== 0n && !this.#isReusable(entry, seconds)) {
        Atomics.store(this.words, entry + hashAt, before);
        continue;
      }
      this.#erase(entry);
      Atomics.store(this.numbers, entry * 2 + usedAt, seconds);
      Atomics.store(this.words, entry + hashAt, counter.hash);
      return entry;
    }
    return -1;
  }

  #findIn(bucket: number, counter: Counter): number {
    for (let index = 0; index < this.bucketSize; index++) {
      const entry = this.#entryAt(bucket, index);
      if (this.holds(entry, counter)) return entry;
    }
    return -1;
  }

  holds(entry: number, { low, high }: Counter): boolean {
    const at = entry * 2;
    return Atomics.load(this.numbers, at) >>> 0 === low && Atomics.load(this.numbers, at + 1) >>> 0 === high;
  }

  noteUse(entry: number, seconds: number): void {
    const at = entry * 2 + usedAt;
    if (seconds - Atomics.load(this.numbers, at) > noteUseAfterSeconds) Atomics.store(this.numbers, at, seconds);
  }

  #isReusable(entry: number, seconds: number): boolean {
    return (
      seconds - Atomics.load(this.numbers, entry * 2 + usedAt) > reusableAfterSeconds &&
      this.sumRunning(entry, running.requests) === 0 &&
      this.sumRunning(entry, running.streams) === 0
    );
  }
}
