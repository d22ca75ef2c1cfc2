// The grammar of an HTTP/1.1 response, strictly: a head that two readers could understand differently is refused.

export class HttpSyntaxError extends Error {}

type Framing =
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }
  /** Everything until the connection ends. */
  | { readonly kind: "rest" };

export interface ResponseHead {
  readonly status: number;
  readonly framing: Framing;
  readonly mayKeepConnection: boolean;
  /** The value of a header, its name in lower case; repeated ones joined by a comma. */
  header(name: string): string | null;
}

const form =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;
const wholeNumber = /^\d{1,15}$/;

/** `text` is the head without its last line break. Headers are looked up when they are asked for: few of them ever are. */
export function readHead(text: string): ResponseHead {
  if (!form.test(text)) throw new HttpSyntaxError("it is not an HTTP response");
  const lowerCase = text.toLowerCase();
  // Where the form has them: HTTP/1.x nnn
  const isNew = text[7] === "1";
  const status = Number(text.slice(9, 12));
  if (status === 101) throw new HttpSyntaxError("it switches to another protocol");
  const connection = findHeader(text, lowerCase, "\r\nconnection:")?.toLowerCase() ?? "";
  const isKept = isNew ? !connection.includes("close") : connection.includes("keep-alive");
  const encoding = findHeader(text, lowerCase, "\r\ntransfer-encoding:");
  const framing = readFraming(status, encoding, findHeader(text, lowerCase, "\r\ncontent-length:"));
  const header = (name: string) => findHeader(text, lowerCase, `\r\n${name}:`);
  return { status, framing, mayKeepConnection: isKept && framing.kind !== "rest", header };
}

/** `start` is the line break before the header, its name in lower case, and the colon. */
function findHeader(text: string, lowerCase: string, start: string): string | null {
  let found: string | null = null;
  for (let at = lowerCase.indexOf(start); at >= 0; at = lowerCase.indexOf(start, at + 1)) {
    const from = at + start.length;
    const end = text.indexOf("\r\n", from);
    const value = (end < 0 ? text.slice(from) : text.slice(from, end)).trim();
    found = found === null ? value : `${found}, ${value}`;
  }
  return found;
}

function readFraming(status: number, encoding: string | null, declared: string | null): Framing {
  if (status < 200 || status === 204 || status === 304) return { kind: "length", length: 0 };
  if (encoding !== null) {
    if (declared !== null) throw new HttpSyntaxError("it has two lengths");
    if (encoding.toLowerCase() !== "chunked") throw new HttpSyntaxError("its transfer encoding is not known");
    return { kind: "chunked" };
  }
  if (declared === null) return { kind: "rest" };
  if (wholeNumber.test(declared)) return { kind: "length", length: Number(declared) };
  const [length = "", ...others] = declared.split(",").map((part) => part.trim());
  if (!wholeNumber.test(length) || others.some((other) => other !== length))
    throw new HttpSyntaxError("its length is not a number");
  return { kind: "length", length: Number(length) };
}

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
  readonly mayKeepConnection: boolean;
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

  constructor({ framing, mayKeepConnection }: ResponseHead) {
    this.mayKeepConnection = mayKeepConnection;
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
