// The files of a process with lines that are not in the store yet. A line is complete in a file before its request is answered, so it survives
// a crash of the process and an outage of the store. The files of a process that ended are read by another one.
//
// A file ("segment") is created in its full length and mapped into memory: appending a line is then a copy of some hundred bytes, and a disk
// that is full is noticed before a line needs the space. Unused bytes are zero.

import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type FileLock, tryFileLock } from "../storage/file-lock.ts";

export interface SpoolOptions {
  readonly folder: string;
  /** The size of all files in the folder above which the spool is full. */
  readonly maxBytes: number;
  /** Default: 1 MB. */
  readonly segmentBytes?: number;
  /** Called when a segment cannot be created, and with null when one can be created again. */
  readonly onFault?: (error: unknown) => void;
}

export interface SpoolBatch {
  /** A JSON array. */
  readonly lines: string;
  /** The number of its last line. */
  readonly last: number;
  /** Removes the lines from the spool. */
  done(): void;
}

const megabyte = 1_048_576;
const segmentName = /^([\w-]+)\.(\d+)\.spool$/;
const lineEnd = 10;
// UTF-8 needs at most this many bytes for a code unit of a text.
const maxBytesPerUnit = 3;

export class Spool {
  readonly processId: string = crypto.randomUUID();
  readonly #options: Required<SpoolOptions>;
  readonly #lock: FileLock;
  /** In the order in which they were filled; the last one is being filled. */
  readonly #segments: Segment[] = [];
  #spare: Segment | null = null;
  #created = 0;
  /** Lines that no segment could be created for. */
  #unwritten: string[] = [];
  #isFull = false;
  #hasFault = false;

  constructor(options: SpoolOptions) {
    this.#options = { segmentBytes: megabyte, onFault: () => {}, ...options };
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    // Before the first segment: files without a holder of their lock are taken over by other processes.
    const lock = tryFileLock(lockOf(options.folder, this.processId));
    if (lock === null) throw new Error("Another process holds the lock of this spool.");
    this.#lock = lock;
    this.#segments.push(this.#create());
  }

  /** New calls should be refused: the disk or the space for lines is used up. Lines of running calls are still accepted. */
  get isFull(): boolean {
    return this.#isFull;
  }

  get isEmpty(): boolean {
    return this.#unwritten.length === 0 && this.#segments.every((segment) => segment.isEmpty);
  }

  /** `line`: the JSON of one line. */
  append(line: string): void {
    const current = this.#segments.at(-1);
    if (this.#unwritten.length > 0 || current?.append(line) !== true) this.#appendToNext(line);
  }

  /** The oldest lines, about `maxBytes` of them; null when there are none. Remove one batch before taking the next. */
  take(maxBytes: number): SpoolBatch | null {
    const segment = this.#segments.find((one) => !one.isEmpty);
    if (segment === undefined) return this.#takeUnwritten();
    const { text, end } = segment.read(maxBytes);
    return {
      lines: `[${text.slice(1)}]`,
      last: numberOf(text.slice(text.lastIndexOf("\n", text.length - 2) + 2)),
      done: () => {
        segment.remove(end);
        if (segment.isEmpty) this.#recycle(segment);
      },
    };
  }

  /**
   * Prepares the next segment, so that `append` rarely has to, and finds out whether the spool is still full. Not while a batch is taken.
   */
  tend(): void {
    if (this.#unwritten.length > 0) {
      const lines = this.#unwritten;
      this.#unwritten = [];
      for (const line of lines) this.append(line);
    }
    const isHalfUsed = (this.#segments.at(-1)?.share ?? 0) > 0.5;
    if (this.#spare === null && (isHalfUsed || this.#hasFault)) this.#spare = this.#tryCreate();
    if (this.#isFull && !this.#hasFault && this.#unwritten.length === 0) this.#isFull = this.#isOverLimit();
  }

  /** Removes the files if all lines were taken; otherwise another process finds them later. */
  close(): void {
    const { folder } = this.#options;
    if (this.isEmpty) {
      for (const segment of [...this.#segments, this.#spare]) segment?.delete();
      rmSync(lockOf(folder, this.processId), { force: true });
    }
    this.#lock.release();
  }

  #appendToNext(line: string): void {
    const next = this.#unwritten.length > 0 ? null : (this.#spare ?? this.#tryCreate());
    this.#spare = null;
    if (next?.append(line) === true) this.#segments.push(next);
    else {
      this.#spare = next;
      this.#unwritten.push(line);
      this.#isFull = true;
    }
  }

  #takeUnwritten(): SpoolBatch | null {
    const count = this.#unwritten.length;
    if (count === 0) return null;
    return {
      lines: joinLines(this.#unwritten),
      last: numberOf(this.#unwritten.at(-1)),
      done: () => {
        this.#unwritten = this.#unwritten.slice(count);
      },
    };
  }

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
    return new Segment(join(folder, `${this.processId}.${++this.#created}.spool`), segmentBytes);
  }

  #isOverLimit(): boolean {
    const { folder, maxBytes } = this.#options;
    try {
      return (
        listSegments(folder).reduce(
          (sum, { path }) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
          0,
        ) > maxBytes
      );
    } catch {
      return true;
    }
  }
}

/** One file. Lines are separated by line breaks, and each begins with a comma, so that a range of them is almost a JSON array. */
class Segment {
  readonly #path: string;
  readonly #bytes: Buffer;
  #end = 0;
  #start = 0;

  constructor(path: string, size: number) {
    this.#path = path;
    try {
      const file = openSync(path, "wx", 0o600);
      try {
        // Written in full, so that the disk has the space: a write to a mapped page without space would end the process.
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

  /** How much of it is used. */
  get share(): number {
    return this.#end / this.#bytes.length;
  }

  /** False: it has too little space left. */
  append(line: string): boolean {
    const space = this.#bytes.length - this.#end;
    // Counting the bytes takes longer than copying them, so it is done only near the end.
    if (space < line.length * maxBytesPerUnit + 2 && space < Buffer.byteLength(line) + 2) return false;
    const start = this.#end;
    this.#bytes[start] = 44;
    const end = start + 1 + this.#bytes.write(line, start + 1, "utf8");
    // Last: a line without its end was interrupted by a crash.
    this.#bytes[end] = lineEnd;
    this.#end = end + 1;
    return true;
  }

  read(maxBytes: number): { readonly text: string; readonly end: number } {
    const cut = this.#bytes.lastIndexOf(lineEnd, Math.min(this.#start + maxBytes, this.#end) - 1);
    // A single line may be longer than the batch.
    const end = (cut >= this.#start ? cut : this.#bytes.indexOf(lineEnd, this.#start)) + 1;
    return { text: this.#bytes.toString("utf8", this.#start, end), end };
  }

  remove(end: number): void {
    this.#start = end;
    if (end < this.#end) return;
    // The first byte first: a file that begins with zero is empty.
    this.#bytes[0] = 0;
    this.#bytes.fill(0, 1, end);
    this.#start = 0;
    this.#end = 0;
  }

  delete(): void {
    rmSync(this.#path, { force: true });
  }
}

/** A JSON array, with one line of text for each line of the ledger. */
export function joinLines(lines: readonly string[]): string {
  return `[${lines.join("\n,")}]`;
}

function lockOf(folder: string, processId: string): string {
  return join(folder, `${processId}.lock`);
}

interface FoundSegment {
  readonly path: string;
  readonly processId: string;
  readonly number: number;
}

function listSegments(folder: string): FoundSegment[] {
  return readdirSync(folder).flatMap((name) => {
    const [, processId, number] = segmentName.exec(name) ?? [];
    return processId === undefined ? [] : [{ path: join(folder, name), processId, number: Number(number) }];
  });
}

interface SpoolFile {
  readonly path: string;
  /** The complete ones. */
  readonly lines: readonly string[];
}

export interface AbandonedSpool {
  readonly processId: string;
  /** In the order of their lines. */
  readonly files: readonly SpoolFile[];
  /** Its lines are in the store. */
  delete(): void;
  /** For another process, or for later. */
  release(): void;
}

// A process takes its lock before it creates a file, so a new lock without files may not be taken yet.
const newLockMs = 60_000;

/** Takes over the files of processes that have ended, one process at a time. */
export function* takeAbandoned(folder: string, ownProcessId: string): Generator<AbandonedSpool> {
  if (!existsSync(folder)) return;
  const owners = new Set(listSegments(folder).map(({ processId }) => processId));
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(".lock")) continue;
    const { mtimeMs = Date.now() } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {};
    if (mtimeMs < Date.now() - newLockMs) owners.add(name.slice(0, -".lock".length));
  }
  owners.delete(ownProcessId);
  for (const processId of owners) {
    const lock = tryFileLock(lockOf(folder, processId));
    if (lock === null) continue;
    const found = listSegments(folder).filter((segment) => segment.processId === processId);
    yield {
      processId,
      files: found.map(({ path }) => ({ path, lines: readLines(path) })).sort(compareFirstLines),
      delete() {
        for (const { path } of found) rmSync(path, { force: true });
        rmSync(lockOf(folder, processId), { force: true });
        lock.release();
      },
      release: () => lock.release(),
    };
  }
}

/** A file is used again when its lines are stored, so the number in its name does not tell the order. */
function compareFirstLines(one: SpoolFile, other: SpoolFile): number {
  return numberOf(one.lines[0]) - numberOf(other.lines[0]);
}

/** The number of a line, with which it begins. */
function numberOf(line = ""): number {
  return Number(/^\{"n":(\d+)/.exec(line)?.[1] ?? 0);
}

/** A line without its end was being written when the process ended; its request was not answered. */
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
