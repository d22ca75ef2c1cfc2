// The grammar of an HTTP/1.1 response, strictly: a head that two readers could understand differently is refused.

export class HttpSyntaxError extends Error {}

type Framing =
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }
  /** Everything until the connection ends. */
  | { readonly kind: "rest" };

export interface ResponseHead {
  readonly status: number;
  /** Names in lower case; repeated ones joined by a comma. */
  readonly headers: ReadonlyMap<string, string>;
  readonly framing: Framing;
  readonly mayKeepConnection: boolean;
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const wholeNumber = /^\d{1,15}$/;

/** `text` is the head without its last line break. */
export function readHead(text: string): ResponseHead {
  const [first = "", ...lines] = text.split("\r\n");
  const match = statusLine.exec(first);
  if (match === null) throw new HttpSyntaxError("it is not an HTTP response");
  const headers = new Map<string, string>();
  for (const line of lines) readHeader(line, headers);
  const status = Number(match[2]);
  if (status === 101) throw new HttpSyntaxError("it switches to another protocol");
  const connection = headers.get("connection")?.toLowerCase() ?? "";
  const isKept = match[1] === "1" ? !connection.includes("close") : connection.includes("keep-alive");
  const framing = readFraming(status, headers);
  return { status, headers, framing, mayKeepConnection: isKept && framing.kind !== "rest" };
}

function readHeader(line: string, headers: Map<string, string>): void {
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(0, colon));
  if (!headerName.test(name)) throw new HttpSyntaxError("a header has no proper name");
  const value = line.slice(colon + 1).trim();
  if (!headerValue.test(value)) throw new HttpSyntaxError("a header holds a control character");
  const key = name.toLowerCase();
  const before = headers.get(key);
  headers.set(key, before === undefined ? value : `${before}, ${value}`);
}

function readFraming(status: number, headers: ReadonlyMap<string, string>): Framing {
  if (status < 200 || status === 204 || status === 304) return { kind: "length", length: 0 };
  const encoding = headers.get("transfer-encoding");
  const declared = headers.get("content-length");
  if (encoding !== undefined) {
    if (declared !== undefined) throw new HttpSyntaxError("it has two lengths");
    if (encoding.toLowerCase() !== "chunked") throw new HttpSyntaxError("its transfer encoding is not known");
    return { kind: "chunked" };
  }
  if (declared === undefined) return { kind: "rest" };
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
