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

interface PieceTaker {
  takePiece(piece: Uint8Array): void;
}

type ChunkState = "size" | "data" | "data-end" | "trailer";

const newline = 0x0a;
const carriageReturn = 0x0d;
const longestLine = 4_096;
const longestTrailer = 16_384;
const chunkSize = /^([0-9A-Fa-f]{1,8})[\t ]*(?:;[^\r\n]*)?$/;

/** Finds the end of a body, whatever pieces it comes in. */
export class BodyReader {
  readonly mayKeepConnection: boolean;
  readonly endsWithConnection: boolean;
  readonly #isChunked: boolean;
  /** Of the whole body, or of the chunk. */
  #left: number;
  #state: ChunkState = "size";
  /** The beginning of a line that has not come whole. */
  #line = "";
  #trailerLength = 0;
  isComplete: boolean;

  constructor({ framing, mayKeepConnection }: ResponseHead) {
    this.mayKeepConnection = mayKeepConnection;
    this.endsWithConnection = framing.kind === "rest";
    this.#isChunked = framing.kind === "chunked";
    this.#left = framing.kind === "length" ? framing.length : Number.POSITIVE_INFINITY;
    this.isComplete = this.#left === 0;
  }

  /** Hands on what belongs to the body, and returns how many bytes it used. */
  read(bytes: Buffer, taker: PieceTaker): number {
    return this.#isChunked ? this.#readChunks(bytes, taker) : this.#readPlain(bytes, taker);
  }

  #readPlain(bytes: Buffer, taker: PieceTaker): number {
    const length = Math.min(bytes.length, this.#left);
    if (length === 0) return 0;
    taker.takePiece(length === bytes.length ? bytes : bytes.subarray(0, length));
    this.#left -= length;
    this.isComplete = this.#left === 0;
    return length;
  }

  #readChunks(bytes: Buffer, taker: PieceTaker): number {
    let index = 0;
    while (index < bytes.length && !this.isComplete) {
      switch (this.#state) {
        case "size":
        case "trailer": {
          const end = bytes.indexOf(newline, index);
          this.#line += bytes.toString("latin1", index, end < 0 ? bytes.length : end);
          if (this.#line.length > longestLine) throw new HttpSyntaxError("a line between chunks is too long");
          if (end < 0) return bytes.length;
          index = end + 1;
          this.#endLine();
          break;
        }
        case "data": {
          const length = Math.min(bytes.length - index, this.#left);
          taker.takePiece(bytes.subarray(index, index + length));
          index += length;
          this.#left -= length;
          if (this.#left === 0) this.#state = "data-end";
          break;
        }
        case "data-end": {
          const byte = bytes[index++];
          if (byte === newline && this.#line === "\r") {
            this.#line = "";
            this.#state = "size";
          } else if (byte === carriageReturn && this.#line === "") this.#line = "\r";
          else throw new HttpSyntaxError("a chunk is longer than it says");
          break;
        }
      }
    }
    return index;
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
