// The body of an HTTP/1.1 message, framed strictly: a body whose end two parsers could see differently is refused.

export class HttpSyntaxError extends Error {}

export type Framing =
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "until-close" };

type ChunkState = "size" | "data" | "data-end" | "trailer";

const newline = 0x0a;
const carriageReturn = 0x0d;
const longestLine = 4_096;
const longestTrailer = 16_384;
const chunkSize = /^([0-9A-Fa-f]{1,8})[\t ]*(?:;[^\r\n]*)?$/;
const nothing = Buffer.alloc(0);
// Smaller buffers are not worth the call, and may share their memory with others.
const leastFreedBytes = 16_384;

/**
 * Finds the pieces of a body and its end. Received bytes are parsed only when the next piece is requested: a thousand small chunks
 * that wait for a slow caller stay one buffer, not a thousand objects.
 */
export class BodyReader {
  readonly endsWithConnection: boolean;
  readonly #isChunked: boolean;
  #bytes: Buffer = nothing;
  #index = 0;
  /** Bytes that are missing of the whole body, or of the current chunk. */
  #left: number;
  #state: ChunkState;
  /** The beginning of a line that is not complete. */
  #line = "";
  #trailerLength = 0;
  isComplete: boolean;

  constructor(framing: Framing) {
    this.endsWithConnection = framing.kind === "until-close";
    this.#isChunked = framing.kind === "chunked";
    this.#left = framing.kind === "length" ? framing.length : Number.POSITIVE_INFINITY;
    this.#state = this.#isChunked ? "size" : "data";
    this.isComplete = this.#left === 0;
  }

  /** Bytes that were fed and do not belong to the body. */
  get hasSurplus(): boolean {
    return this.#index < this.#bytes.length;
  }

  /** The next bytes, once all pieces of the previous ones have been taken. */
  feed(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#index = 0;
  }

  /** Releases the memory of the bytes that were fed, and with it that of their pieces, which must not be used after this. */
  free(): void {
    if (this.#bytes.length < leastFreedBytes) return;
    // The buffer comes from a socket and is never shared between threads.
    (this.#bytes.buffer as ArrayBuffer).transfer(0);
    this.#bytes = nothing;
    this.#index = 0;
  }

  /** The next chunk of the body, or undefined if more bytes are needed. */
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

  /** Reads what is between two chunks, up to the next line break. */
  #readLine(bytes: Buffer): void {
    if (this.#state === "data-end") {
      const byte = bytes[this.#index++];
      if (byte === newline && this.#line === "\r") {
        this.#line = "";
        this.#state = "size";
      } else if (byte === carriageReturn && this.#line === "") this.#line = "\r";
      else throw new HttpSyntaxError("a chunk is longer than its size");
      return;
    }
    const end = bytes.indexOf(newline, this.#index);
    this.#line += bytes.toString("latin1", this.#index, end < 0 ? bytes.length : end);
    if (this.#line.length > longestLine) throw new HttpSyntaxError("a line between chunks is too long");
    this.#index = end < 0 ? bytes.length : end + 1;
    if (end >= 0) this.#endLine();
  }

  #endLine(): void {
    if (!this.#line.endsWith("\r")) throw new HttpSyntaxError("a line between chunks does not end with CR LF");
    const line = this.#line.slice(0, -1);
    this.#line = "";
    if (this.#state === "trailer") {
      this.#trailerLength += line.length;
      if (this.#trailerLength > longestTrailer) throw new HttpSyntaxError("its trailer is too long");
      this.isComplete = line === "";
      return;
    }
    const match = chunkSize.exec(line);
    if (match === null) throw new HttpSyntaxError("the size of a chunk is not a number");
    this.#left = Number.parseInt(match[1] ?? "", 16);
    this.#state = this.#left === 0 ? "trailer" : "data";
  }
}
