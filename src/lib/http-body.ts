// The body of an HTTP/1.1 message, strictly: where it begins and ends is never a matter of opinion.

export class HttpSyntaxError extends Error {}

export type Framing =
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }
  /** Everything until the connection ends. */
  | { readonly kind: "rest" };

type ChunkState = "size" | "data" | "data-end" | "trailer";

const newline = 0x0a;
const carriageReturn = 0x0d;
const longestLine = 4_096;
const longestTrailer = 16_384;
const chunkSize = /^([0-9A-Fa-f]{1,8})[\t ]*(?:;[^\r\n]*)?$/;
const nothing = Buffer.alloc(0);
// Smaller ones do not matter, and may share their memory with others.
const leastFreedBytes = 16_384;

/**
 * Finds the pieces of a body and its end, whatever way it comes. What was received is looked at only when a piece is wanted: a
 * thousand small chunks that wait for a slow caller are one buffer, not a thousand objects.
 */
export class BodyReader {
  readonly endsWithConnection: boolean;
  readonly #isChunked: boolean;
  #bytes: Buffer = nothing;
  #index = 0;
  /** Of the whole body, or of the chunk. */
  #left: number;
  #state: ChunkState;
  /** The beginning of a line that has not come whole. */
  #line = "";
  #trailerLength = 0;
  isComplete: boolean;

  constructor(framing: Framing) {
    this.endsWithConnection = framing.kind === "rest";
    this.#isChunked = framing.kind === "chunked";
    this.#left = framing.kind === "length" ? framing.length : Number.POSITIVE_INFINITY;
    this.#state = this.#isChunked ? "size" : "data";
    this.isComplete = this.#left === 0;
  }

  /** Bytes that were fed and do not belong to the body. */
  get hasSurplus(): boolean {
    return this.#index < this.#bytes.length;
  }

  get surplus(): Buffer {
    return this.#bytes.subarray(this.#index);
  }

  /** The next bytes, when those before are used up. */
  feed(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#index = 0;
  }

  /** Gives the memory of what was fed back, and with it that of all pieces: for when they are used up. */
  free(): void {
    if (this.#bytes.length < leastFreedBytes) return;
    // What a socket gives is never shared between threads.
    (this.#bytes.buffer as ArrayBuffer).transfer(0);
    this.#bytes = nothing;
    this.#index = 0;
  }

  /** The next piece, or undefined when there is none in what was fed. Reads up to the beginning of the one after it. */
  next(): Uint8Array | undefined {
    const bytes = this.#bytes;
    let piece: Uint8Array | undefined;
    while (this.#index < bytes.length && !this.isComplete) {
      if (this.#state !== "data") this.#readLine(bytes);
      else if (piece !== undefined) return piece;
      else piece = this.#readData(bytes);
    }
    return piece;
  }

  #readData(bytes: Buffer): Uint8Array {
    const start = this.#index;
    const length = Math.min(bytes.length - start, this.#left);
    this.#index += length;
    this.#left -= length;
    if (this.#left === 0) {
      if (this.#isChunked) this.#state = "data-end";
      else this.isComplete = true;
    }
    return length === bytes.length ? bytes : bytes.subarray(start, start + length);
  }

  /** What stands between the chunks, up to the next line break. */
  #readLine(bytes: Buffer): void {
    if (this.#state === "data-end") {
      const byte = bytes[this.#index++];
      if (byte === newline && this.#line === "\r") {
        this.#line = "";
        this.#state = "size";
      } else if (byte === carriageReturn && this.#line === "") this.#line = "\r";
      else throw new HttpSyntaxError("a chunk is longer than it says");
      return;
    }
    const end = bytes.indexOf(newline, this.#index);
    this.#line += bytes.toString("latin1", this.#index, end < 0 ? bytes.length : end);
    if (this.#line.length > longestLine) throw new HttpSyntaxError("a line between chunks is too long");
    this.#index = end < 0 ? bytes.length : end + 1;
    if (end >= 0) this.#endLine();
  }

  #endLine(): void {
    if (!this.#line.endsWith("\r")) throw new HttpSyntaxError("a line between chunks has no proper end");
    const line = this.#line.slice(0, -1);
    this.#line = "";
    if (this.#state === "trailer") {
      this.#trailerLength += line.length;
      if (this.#trailerLength > longestTrailer) throw new HttpSyntaxError("its trailer is too long");
      this.isComplete = line === "";
      return;
    }
    const match = chunkSize.exec(line);
    if (match === null) throw new HttpSyntaxError("a chunk has no proper size");
    this.#left = Number.parseInt(match[1] ?? "", 16);
    this.#state = this.#left === 0 ? "trailer" : "data";
  }
}
