// The spool: files of a process with the lines of the ledger that are not in the store yet. Unless the disk is full or fails, a line is complete in
// a file before its request is answered, so it survives a crash of the process and an outage of the store. Another process reads the files of a
// process that has ended.
//
// A file ("segment") is created with its full size and mapped into memory. Appending a line then only copies a few hundred bytes, and a full
// disk is noticed before a line needs the space. Unused bytes are zero.

import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type FileLock, tryFileLock } from "../storage/file-lock.ts";

export interface SpoolOptions {
  readonly folder: string;
  /** The spool is full when the files of all processes in the folder together are larger than this. */
  readonly maxBytes: number;
  /** Default: 1 MiB. */
  readonly segmentBytes?: number;
  /** Called with the error when a segment cannot be created, and with null when that is possible again. */
  readonly onFault?: (error: unknown) => void;
}

export interface SpoolBatch {
  /** A JSON array. */
  readonly lines: string;
  readonly lastLineNumber: number;
  /** Removes the lines from the spool. */
  remove(): void;
}

export interface AbandonedSpool {
  readonly processId: string;
  /** The complete lines of each file. The files are in the order of their lines. */
  readonly files: readonly (readonly string[])[];
  /** Deletes the files. Call it when all lines are in the store. */
  delete(): void;
  /** Leaves the files to another process, or to a later attempt. */
  release(): void;
}

const defaultSegmentBytes = 1_048_576;
// Above this, the next segment is created in advance.
const usedShareForSpare = 0.5;
const segmentName = /^([\w-]+)\.\d+\.spool$/;
const lockEnding = ".lock";
// A process creates its lock file, locks it, and then creates a segment. So a lock file that is younger than this and has no segments may belong
// to a process that is about to lock it.
const newLockMs = 60_000;

const comma = 0x2c;
const lineFeed = 0x0a;
// Each line has a comma before it and a line feed after it.
const framingBytes = 2;
// A string consists of UTF-16 code units, and UTF-8 needs at most three bytes for each of them.
const maxBytesPerUnit = 3;

export class Spool {
  /** A random id. The operating system's process ids are reused. */
  readonly processId: string = crypto.randomUUID();
  readonly #options: Required<SpoolOptions>;
  readonly #lock: FileLock;
  /** In the order in which they were filled; the last one is being filled. */
  readonly #segments: Segment[] = [];
  #spare: Segment | null = null;
  #createdSegments = 0;
  /** Lines that are in memory only, because no segment could be created, or because the first of them is longer than a segment. */
  #unwritten: string[] = [];
  #isFull = false;
  #hasFault = false;

  constructor(options: SpoolOptions) {
    this.#options = { segmentBytes: defaultSegmentBytes, onFault: () => {}, ...options };
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    // Before the first segment is created: other processes take over segments whose lock is free.
    const lock = tryFileLock(lockPathOf(options.folder, this.processId));
    if (lock === null) throw new Error("Another process holds the lock of this spool.");
    this.#lock = lock;
    this.#segments.push(this.#create());
  }

  /** Whether new calls should be refused, because lines are in memory only, a segment cannot be created, or `maxBytes` is exceeded. Lines of running calls are still accepted. */
  get isFull(): boolean {
    return this.#isFull;
  }

  get isEmpty(): boolean {
    return this.#unwritten.length === 0 && this.#segments.every((segment) => segment.isEmpty);
  }

  /** `line`: a JSON object that begins with `{"n":<number of the line>`. */
  append(line: string): void {
    const current = this.#segments.at(-1);
    if (this.#unwritten.length > 0 || current?.append(line) !== true) this.#appendToNext(line);
  }

  /**
   * Reads the oldest lines; null when there are none. A batch has at most `maxBytes`, unless its first line is longer or its lines are in memory
   * only. Remove each batch before you read the next one.
   */
  readBatch(maxBytes: number): SpoolBatch | null {
    const segment = this.#segments.find((one) => !one.isEmpty);
    if (segment === undefined) return this.#readUnwritten();
    const { text, end } = segment.read(maxBytes);
    // The line feed at the end of the text belongs to the last line itself.
    const lastLineStart = text.lastIndexOf("\n", text.length - 2) + 1;
    return {
      lines: `[${text.slice(1)}]`,
      lastLineNumber: readLineNumber(text.slice(lastLineStart + 1)),
      remove: () => {
        segment.remove(end);
        if (segment.isEmpty) this.#recycle(segment);
      },
    };
  }

  /**
   * Writes the lines that are in memory only, and checks whether the spool is still full. Creates the next segment in advance, so that `append`
   * rarely has to. Must not be called between reading and removing a batch.
   */
  maintain(): void {
    if (this.#unwritten.length > 0) {
      const lines = this.#unwritten;
      this.#unwritten = [];
      for (const line of lines) this.append(line);
    }
    const needsSpare = (this.#segments.at(-1)?.usedShare ?? 0) > usedShareForSpare;
    if (this.#spare === null && (needsSpare || this.#hasFault)) this.#spare = this.#tryCreate();
    if (this.#isFull && !this.#hasFault && this.#unwritten.length === 0) this.#isFull = this.#isOverLimit();
  }

  /** Deletes the files if the spool is empty; otherwise another process finds them later. */
  close(): void {
    if (this.isEmpty) {
      for (const segment of [...this.#segments, this.#spare]) segment?.delete();
      rmSync(lockPathOf(this.#options.folder, this.processId), { force: true });
    }
    this.#lock.release();
  }

  #appendToNext(line: string): void {
    // The order of lines is kept: while some are in memory only, the next ones are as well.
    if (this.#unwritten.length === 0) {
      this.#spare ??= this.#tryCreate();
      if (this.#spare?.append(line) === true) {
        this.#segments.push(this.#spare);
        this.#spare = null;
        return;
      }
    }
    this.#unwritten.push(line);
    this.#isFull = true;
  }

  #readUnwritten(): SpoolBatch | null {
    const count = this.#unwritten.length;
    if (count === 0) return null;
    return {
      lines: joinLines(this.#unwritten),
      lastLineNumber: readLineNumber(this.#unwritten.at(-1)),
      remove: () => {
        this.#unwritten = this.#unwritten.slice(count);
      },
    };
  }

  /** Makes an emptied segment the spare one, or deletes it if there is a spare one already. The segment that is being filled stays. */
  #recycle(segment: Segment): void {
    if (segment === this.#segments.at(-1)) return;
    this.#segments.splice(this.#segments.indexOf(segment), 1);
    if (this.#spare === null) this.#spare = segment;
    else segment.delete();
  }

  #tryCreate(): Segment | null {
    try {
      const segment = this.#create();
      if (this.#isOverLimit()) this.#isFull = true;
      if (this.#hasFault) this.#options.onFault(null);
      this.#hasFault = false;
      return segment;
    } catch (error) {
      this.#isFull = true;
      if (!this.#hasFault) this.#options.onFault(error);
      this.#hasFault = true;
      return null;
    }
  }

  #create(): Segment {
    const { folder, segmentBytes } = this.#options;
    return new Segment(join(folder, `${this.processId}.${++this.#createdSegments}.spool`), segmentBytes);
  }

  #isOverLimit(): boolean {
    const { folder, maxBytes } = this.#options;
    try {
      let bytes = 0;
      for (const { path } of listSegments(folder)) bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      return bytes > maxBytes;
    } catch {
      return true; // the folder cannot be read, so its size is unknown
    }
  }
}

/** Takes over the files of processes that have ended, one process at a time. */
export function* takeAbandoned(folder: string, ownProcessId: string): Generator<AbandonedSpool> {
  if (!existsSync(folder)) return;
  for (const processId of listProcesses(folder)) {
    if (processId === ownProcessId) continue;
    const lockPath = lockPathOf(folder, processId);
    const lock = tryFileLock(lockPath);
    if (lock === null) continue;
    let paths: string[];
    let files: string[][];
    try {
      paths = listSegments(folder).flatMap((segment) => (segment.processId === processId ? segment.path : []));
      files = paths.map(readLines).sort(compareFirstLines);
    } catch (error) {
      lock.release();
      throw error;
    }
    yield {
      processId,
      files,
      delete() {
        for (const path of paths) rmSync(path, { force: true });
        rmSync(lockPath, { force: true });
        lock.release();
      },
      release: () => lock.release(),
    };
  }
}

/**
 * Copies the lines of all processes, while they write them, and every other file but locks. Copy the store after that: lines that a process
 * has removed from its files by then are in the store. Returns the number of lines; some of them may be in the store as well.
 */
export function copySpool(folder: string, target: string): number {
  let count = 0;
  if (!existsSync(folder)) return count;
  mkdirSync(target, { mode: 0o700 });
  for (const name of readdirSync(folder)) {
    if (name.endsWith(lockEnding)) continue;
    const isSegment = segmentName.test(name);
    const lines = isSegment ? readUndisturbed(join(folder, name)) : [];
    if (lines.length > 0)
      writeFileSync(join(target, name), lines.map((line) => `,${line}\n`).join(""), { mode: 0o600 });
    if (!isSegment) writeFileSync(join(target, name), readFileSync(join(folder, name)), { mode: 0o600 });
    count += lines.length;
  }
  return count;
}

/** A process that has stored its lines empties its file and fills it again. A read meanwhile could mix both. */
function readUndisturbed(path: string): readonly string[] {
  for (;;) {
    const lines = readExisting(path);
    const again = readExisting(path);
    if (lines.every((line, index) => line === again[index])) return lines;
  }
}

/** A process that ends deletes its files when all lines are in the store. */
function readExisting(path: string): readonly string[] {
  try {
    return readLines(path);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "ENOENT") return [];
    throw error;
  }
}

/** Formats a JSON array that has a line of text for each line of the ledger. */
export function joinLines(lines: readonly string[]): string {
  return `[${lines.join("\n,")}]`;
}

/** One file. Each line is written with a comma before it and a line feed after it, so that a range of lines is almost a JSON array. */
class Segment {
  readonly #path: string;
  readonly #bytes: Buffer;
  /** The range of the lines that were not removed. */
  #start = 0;
  #end = 0;

  constructor(path: string, size: number) {
    this.#path = path;
    try {
      const file = openSync(path, "wx", 0o600);
      try {
        // Written in full to allocate the space: a write to a mapped page without space on the disk would end the process.
        for (let written = 0; written < size; ) written += writeSync(file, new Uint8Array(size - written));
      } finally {
        closeSync(file);
      }
      const { buffer, byteOffset, byteLength } = Bun.mmap(path, { shared: true });
      this.#bytes = Buffer.from(buffer, byteOffset, byteLength);
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    }
  }

  get isEmpty(): boolean {
    return this.#start === this.#end;
  }

  /** From 0 to 1. */
  get usedShare(): number {
    return this.#end / this.#bytes.length;
  }

  /** Returns false when the line does not fit. */
  append(line: string): boolean {
    const space = this.#bytes.length - this.#end;
    // Counting the bytes takes longer than copying them, so it is done only near the end of the segment.
    if (space < line.length * maxBytesPerUnit + framingBytes && space < Buffer.byteLength(line) + framingBytes)
      return false;
    const start = this.#end;
    this.#bytes[start] = comma;
    const end = start + 1 + this.#bytes.write(line, start + 1, "utf8");
    // Written last: a line without a line feed was interrupted by a crash.
    this.#bytes[end] = lineFeed;
    this.#end = end + 1;
    return true;
  }

  /** Reads whole lines, at least one of them. `end` is for `remove`. */
  read(maxBytes: number): { readonly text: string; readonly end: number } {
    const lastFitting = this.#bytes.lastIndexOf(lineFeed, Math.min(this.#start + maxBytes, this.#end) - 1);
    const isFirstLineTooLong = lastFitting < this.#start;
    const end = (isFirstLineTooLong ? this.#bytes.indexOf(lineFeed, this.#start) : lastFitting) + 1;
    return { text: this.#bytes.toString("utf8", this.#start, end), end };
  }

  /** Removes the lines before `end`. */
  remove(end: number): void {
    this.#start = end;
    if (end < this.#end) return;
    // The first byte is cleared first: a file that begins with zero is empty, even if a crash interrupts the rest.
    this.#bytes[0] = 0;
    this.#bytes.fill(0, 1, end);
    this.#start = 0;
    this.#end = 0;
  }

  delete(): void {
    rmSync(this.#path, { force: true });
  }
}

/** The processes that have segments, or an old lock file without segments. */
function listProcesses(folder: string): ReadonlySet<string> {
  const processes = new Set(listSegments(folder).map(({ processId }) => processId));
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(lockEnding)) continue;
    const { mtimeMs = Date.now() } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {};
    if (mtimeMs < Date.now() - newLockMs) processes.add(name.slice(0, -lockEnding.length));
  }
  return processes;
}

function lockPathOf(folder: string, processId: string): string {
  return join(folder, `${processId}${lockEnding}`);
}

function listSegments(folder: string): { readonly path: string; readonly processId: string }[] {
  return readdirSync(folder).flatMap((name) => {
    const processId = segmentName.exec(name)?.[1];
    return processId === undefined ? [] : [{ path: join(folder, name), processId }];
  });
}

/** Reads the complete lines. The request of a line without a line feed was not answered: the process ended while it wrote the line. */
function readLines(path: string): string[] {
  const bytes = readFileSync(path);
  const zero = bytes.indexOf(0);
  const text = bytes.toString("utf8", 0, zero < 0 ? bytes.length : zero);
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.slice(1));
}

/** Compares by line numbers: a segment is used again when its lines are stored, so the number in its name does not tell the order. */
function compareFirstLines([one]: readonly string[], [other]: readonly string[]): number {
  return readLineNumber(one) - readLineNumber(other);
}

function readLineNumber(line = ""): number {
  return Number(/^\{"n":(\d+)/.exec(line)?.[1] ?? 0);
}
