// The grammar of an HTTP/1.1 response's head, strictly: one that two readers could understand differently is refused.

import { type Framing, HttpSyntaxError } from "../lib/http-body.ts";
import { findHeader } from "../lib/http-headers.ts";

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
