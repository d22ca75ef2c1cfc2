// A streaming parser for multipart/form-data (RFC 7578). It passes the bytes of a part to a sink in chunks and buffers only a few kilobytes.

import { GatewayError } from "../errors.ts";
import { decodePercent } from "../lib/percent-decoding.ts";

export interface PartHead {
  readonly name: string;
  /** As sent by the client; null if the part has no file name. */
  readonly fileName: string | null;
  readonly mediaType: string | null;
}

export interface PartSink {
  /** The buffer is reused after the call: copy the bytes that are needed later. */
  write(bytes: Buffer): Promise<void> | void;
  end(): Promise<void> | void;
}

type State = "preamble" | "delimiter" | "head" | "body" | "epilogue";

const mostParts = 64;
const maxHeadBytes = 16_384;
const maxPreambleBytes = 1_024;
const maxPaddingBytes = 256;
const nothing = Buffer.alloc(0);

/** The boundary in a Content-Type header. Throws 415 when the type is no form, 400 when the boundary is missing or invalid. */
export function readBoundary(contentType: string | null): string {
  const { value, parameters } = parseHeaderValue(contentType ?? "");
  if (value.toLowerCase() !== "multipart/form-data")
    throw new GatewayError("unsupported_media_type", "Send the body as Content-Type: multipart/form-data.", {
      headers: { accept: "multipart/form-data" },
    });
  const boundary = parameters.get("boundary") ?? "";
  // RFC 2046: at most 70 characters, the last of them no space.
  if (!/^[\x20-\x7e]{0,69}[\x21-\x7e]$/.test(boundary))
    throw malformed("The Content-Type header has no valid boundary.");
  return boundary;
}

export class MultipartParser {
  readonly #delimiter: Buffer;
  readonly #open: (head: PartHead) => PartSink | Promise<PartSink>;
  #state: State = "preamble";
  /** Bytes that may belong to an incomplete delimiter. A delimiter begins with a line end, which the first one lacks. */
  #rest: Buffer = Buffer.from("\r\n");
  #preambleBytes = 0;
  #parts = 0;
  #sink: PartSink | null = null;

  constructor(boundary: string, open: (head: PartHead) => PartSink | Promise<PartSink>) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
    this.#open = open;
  }

  async push(chunk: Uint8Array): Promise<void> {
    const fresh = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let bytes = this.#rest.length === 0 ? fresh : Buffer.concat([this.#rest, fresh]);
    this.#rest = nothing;
    for (;;) {
      const used = await this.#step(bytes);
      if (used === 0) break;
      bytes = bytes.subarray(used);
    }
    // A copy: the chunk is part of a larger buffer.
    if (bytes.length > 0) this.#rest = Buffer.from(bytes);
  }

  /** Call it at the end of the body. */
  finish(): void {
    if (this.#state !== "epilogue") throw malformed("The form ends before its last boundary.");
  }

  /** Returns how many bytes were used; 0 when more bytes are needed. */
  #step(bytes: Buffer): number | Promise<number> {
    if (bytes.length === 0) return 0;
    switch (this.#state) {
      case "preamble":
        return this.#skipPreamble(bytes);
      case "delimiter":
        return this.#endDelimiter(bytes);
      case "head":
        return this.#readHead(bytes);
      case "body":
        return this.#readBody(bytes);
      case "epilogue":
        return bytes.length;
    }
  }

  #skipPreamble(bytes: Buffer): number {
    const at = bytes.indexOf(this.#delimiter);
    const skipped = at === -1 ? this.#undelimited(bytes) : at;
    this.#preambleBytes += skipped;
    if (this.#preambleBytes > maxPreambleBytes) throw malformed("The body does not begin with the form's boundary.");
    if (at === -1) return skipped;
    this.#state = "delimiter";
    return at + this.#delimiter.length;
  }

  /** A boundary is followed by a line end, or by two hyphens when it is the last; spaces may come first (RFC 2046). */
  #endDelimiter(bytes: Buffer): number {
    let at = 0;
    while (bytes[at] === 0x20 || bytes[at] === 0x09) at += 1;
    if (at > maxPaddingBytes) throw malformed("A boundary of the form is not followed by a line end.");
    if (bytes.length < at + 2) return 0;
    const end = bytes.toString("latin1", at, at + 2);
    if (end === "--") this.#state = "epilogue";
    else if (end === "\r\n") this.#state = "head";
    else throw malformed("A boundary of the form is not followed by a line end.");
    return at + 2;
  }

  async #readHead(bytes: Buffer): Promise<number> {
    const end = bytes.indexOf("\r\n\r\n");
    if (end > maxHeadBytes || (end === -1 && bytes.length > maxHeadBytes))
      throw malformed(`The headers of a part may have at most ${maxHeadBytes} bytes.`);
    if (end === -1) return 0;
    this.#parts += 1;
    if (this.#parts > mostParts) throw malformed(`A form may have at most ${mostParts} parts.`);
    this.#sink = await this.#open(parseHead(bytes.toString("utf8", 0, end)));
    this.#state = "body";
    return end + 4;
  }

  async #readBody(bytes: Buffer): Promise<number> {
    const at = bytes.indexOf(this.#delimiter);
    const length = at === -1 ? this.#undelimited(bytes) : at;
    if (length > 0) await this.#sink?.write(bytes.subarray(0, length));
    if (at === -1) return length;
    await this.#sink?.end();
    this.#sink = null;
    this.#state = "delimiter";
    return at + this.#delimiter.length;
  }

  /** How many bytes cannot belong to an incomplete delimiter. A delimiter has one carriage return, at its beginning. */
  #undelimited(bytes: Buffer): number {
    const at = bytes.lastIndexOf(0x0d);
    if (at === -1 || bytes.length - at >= this.#delimiter.length) return bytes.length;
    const tail = bytes.subarray(at);
    return tail.equals(this.#delimiter.subarray(0, tail.length)) ? at : bytes.length;
  }
}

function parseHead(text: string): PartHead {
  const headers = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) throw malformed("A part of the form has a malformed header.");
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const { value, parameters } = parseHeaderValue(headers.get("content-disposition") ?? "");
  const name = parameters.get("name");
  if (value.toLowerCase() !== "form-data" || name === undefined)
    throw malformed("A part of the form has no Content-Disposition: form-data with a name.");
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase();
  if (encoding !== undefined && !["binary", "8bit", "7bit"].includes(encoding))
    throw malformed("A part of the form has a transfer encoding. Send the bytes as they are.");
  return {
    name: fromFormText(name),
    fileName: readFileName(parameters),
    mediaType: headers.get("content-type") ?? null,
  };
}

/** `filename*` states its own encoding and takes precedence (RFC 6266). */
function readFileName(parameters: ReadonlyMap<string, string>): string | null {
  const plain = parameters.get("filename");
  const [, encoded] = /^utf-8'[^']*'(.*)$/is.exec(parameters.get("filename*") ?? "") ?? [];
  const decoded = encoded === undefined ? null : decodePercent(encoded);
  return decoded ?? (plain === undefined ? null : fromFormText(plain));
}

/** Browsers encode a quote and line ends inside a quoted name like this (multipart encoding of the HTML standard). */
function fromFormText(text: string): string {
  return text.replace(/%22|%0[da]/gi, (code) => (code === "%22" ? '"' : " "));
}

interface HeaderValue {
  readonly value: string;
  /** Names in lower case; of a repeated name, the first value counts. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** `value; name=token; name="quoted \" string"`. A backslash escapes only a quote or a backslash. */
function parseHeaderValue(text: string): HeaderValue {
  const [value = ""] = text.split(";", 1);
  const parameters = new Map<string, string>();
  // Each character matches in one way only, so that no input causes backtracking.
  const pattern = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:\\["\\]|\\(?!["\\])|[^"\\])*)"|([^;]*))/g;
  for (const [, name = "", quoted, token = ""] of text.slice(value.length).matchAll(pattern)) {
    const key = name.toLowerCase();
    if (parameters.has(key)) continue;
    parameters.set(key, quoted === undefined ? token.trim() : quoted.replace(/\\(["\\])/g, "$1"));
  }
  return { value: value.trim(), parameters };
}

function malformed(message: string): GatewayError {
  return new GatewayError("malformed_request", message, { headers: { connection: "close" } });
}
