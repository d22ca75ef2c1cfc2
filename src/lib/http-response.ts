// The head of an HTTP/1.1 response, parsed strictly: a head that two parsers could read differently is refused.

import { type Framing, HttpSyntaxError } from "./http-body.ts";

export interface ResponseHead {
  readonly status: number;
  readonly framing: Framing;
  readonly mayKeepConnection: boolean;
  /** The value of a header, its name in lower case; the values of a repeated header are joined by a comma. */
  header(name: string): string | null;
}

export interface HeadReaderOptions {
  readonly maxHeadBytes?: number;
  /** How many interim responses (status 1xx) may precede the final one. */
  readonly maxInterimResponses?: number;
}

export interface ReadHead {
  readonly head: ResponseHead;
  /** The bytes after the head: the beginning of the body. */
  readonly rest: Buffer;
}

/** Finds the heads of the responses on a connection, one after the other. */
export class HeadReader {
  readonly #maxHeadBytes: number;
  readonly #maxInterimResponses: number;
  #incomplete: Buffer | null = null;
  #interimResponses = 0;

  constructor({ maxHeadBytes = 65_536, maxInterimResponses = Number.POSITIVE_INFINITY }: HeadReaderOptions = {}) {
    this.#maxHeadBytes = maxHeadBytes;
    this.#maxInterimResponses = maxInterimResponses;
  }

  /** Null until the head of a final response is complete. */
  read(bytes: Buffer): ReadHead | null {
    let rest = this.#incomplete === null ? bytes : Buffer.concat([this.#incomplete, bytes]);
    for (;;) {
      const end = rest.indexOf("\r\n\r\n");
      if (end > this.#maxHeadBytes || (end < 0 && rest.length > this.#maxHeadBytes))
        throw new HttpSyntaxError("its head is too long");
      if (end < 0) {
        this.#incomplete = rest;
        return null;
      }
      const head = parseHead(rest.toString("latin1", 0, end));
      rest = rest.subarray(end + 4);
      if (head.status >= 200) {
        this.#incomplete = null;
        this.#interimResponses = 0;
        return { head, rest };
      }
      if (++this.#interimResponses > this.#maxInterimResponses)
        throw new HttpSyntaxError("it has too many interim responses");
    }
  }
}

const form =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;
const wholeNumber = /^\d{1,15}$/;

/** `text` is the head without its last line break. A header is searched when its value is needed: most never are. */
function parseHead(text: string): ResponseHead {
  if (!form.test(text)) throw new HttpSyntaxError("it is not an HTTP response");
  const lowerCase = text.toLowerCase();
  // The offsets of "HTTP/1.x nnn".
  const isHttp11 = text[7] === "1";
  const status = Number(text.slice(9, 12));
  if (status === 101) throw new HttpSyntaxError("it switches to another protocol");
  const connection = findHeader(text, lowerCase, "\r\nconnection:")?.toLowerCase() ?? "";
  const isKept = isHttp11 ? !connection.includes("close") : connection.includes("keep-alive");
  const encoding = findHeader(text, lowerCase, "\r\ntransfer-encoding:");
  const framing = readFraming(status, encoding, findHeader(text, lowerCase, "\r\ncontent-length:"));
  const header = (name: string) => findHeader(text, lowerCase, `\r\n${name}:`);
  return { status, framing, mayKeepConnection: isKept && framing.kind !== "until-close", header };
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
    if (encoding.toLowerCase() !== "chunked") throw new HttpSyntaxError("its transfer encoding is not supported");
    return { kind: "chunked" };
  }
  if (declared === null) return { kind: "until-close" };
  if (wholeNumber.test(declared)) return { kind: "length", length: Number(declared) };
  const [length = "", ...others] = declared.split(",").map((part) => part.trim());
  if (!wholeNumber.test(length) || others.some((other) => other !== length))
    throw new HttpSyntaxError("its length is not a number");
  return { kind: "length", length: Number(length) };
}
